/** Reads the contents of commits, even while a job writes in the workspace. */
import type { JobContext } from '../api/jobs/jobs.ts';
import { fetchCommit } from '../jobs/session/base/base-commit.ts';
import { openSession, type Session } from '../jobs/session/open-workspace.ts';
import { openSessionRemote } from '../jobs/session/opened-remote.ts';
import type { CommitHash } from '../model/entry.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import type { Commit } from '../repository/commit.ts';
import { readRef } from '../repository/refs.ts';

export interface Commits {
  readonly session: Session;
  readonly store: ObjectStore;
  /** Undefined before the first push or pull. */
  readonly baseHash: CommitHash | undefined;
  fetch(hash: CommitHash): Promise<Commit>;
  /** The branch's current commit on the remote. */
  tip(): Promise<CommitHash | undefined>;
}

export async function withCommits<T>(
  context: JobContext,
  work: (commits: Commits) => Promise<T>,
): Promise<T> {
  using session = await openSession(context, 'window', 'shared');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  return await work({
    session,
    store,
    baseHash: session.state.bases[session.remoteName] as CommitHash | undefined,
    fetch: (hash) => fetchCommit(session, store, hash),
    tip: async () =>
      (await readRef(store, `heads/${session.state.branch}`, { signal: context.signal }))?.commit,
  });
}
