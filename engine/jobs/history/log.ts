/** `dray log`: the ancestors of a ref, newest first, merged commits included. */
import type { JobContext, LogRequest, LogSummary } from '../../api/jobs.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { listRefs } from '../../repository/refs.ts';
import { fetchCommit } from '../session/base-commit.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { resolveCommit } from '../session/resolve-commit.ts';
import { openSession, type Session } from '../session/session.ts';

export async function log(context: JobContext, request: LogRequest): Promise<LogSummary> {
  const session = await openSession(context, 'log', 'shared');
  try {
    const { store } = await openSessionRemote(session);
    try {
      const start = await resolveCommit(session, store, request.ref ?? session.state.branch);
      const names = await refNames(session, store);
      let commits = 0;
      for await (const [hash, commit] of walkHistory(session, store, [start])) {
        if (request.limit !== undefined && commits >= request.limit) break;
        commits += 1;
        context.emit({
          type: 'commit',
          commit: hash,
          parents: commit.parents,
          author: commit.author,
          message: commit.message,
          time: commit.time,
          files: commit.totals.files,
          bytes: commit.totals.bytes,
          refs: names.get(hash) ?? [],
        });
      }
      return { commits };
    } finally {
      await store.close();
    }
  } finally {
    session.close();
  }
}

/** All ancestors of the given commits and these commits, newest first, each once. One GET for each. */
export async function* walkHistory(
  session: Session,
  store: ObjectStore,
  starts: readonly CommitHash[],
): AsyncGenerator<readonly [CommitHash, Commit]> {
  const seen = new Set<CommitHash>(starts);
  const load = async (hash: CommitHash) => [hash, await fetchCommit(session, store, hash)] as const;
  const open = await Promise.all([...seen].map(load));
  while (open.length > 0) {
    open.sort(([, left], [, right]) => (left.time < right.time ? 1 : left.time > right.time ? -1 : 0));
    const next = open.shift()!;
    yield next;
    const parents = next[1].parents.filter((parent) => !seen.has(parent));
    for (const parent of parents) seen.add(parent);
    open.push(...(await Promise.all(parents.map(load))));
  }
}

async function refNames(
  session: Session,
  store: ObjectStore,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const options = { signal: session.context.signal };
  const [branches, tags] = await Promise.all([
    listRefs(store, 'heads', options),
    listRefs(store, 'tags', options),
  ]);
  const names = new Map<string, string[]>();
  for (const ref of [...branches, ...tags]) {
    const name = ref.name.startsWith('heads/')
      ? ref.name.slice('heads/'.length)
      : `tag: ${ref.name.slice('tags/'.length)}`;
    names.set(ref.commit, [...(names.get(ref.commit) ?? []), name]);
  }
  return names;
}
