import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { CommitLinks } from '../../repository/count-sole.ts';
import { readLinks } from '../../repository/history-end.ts';
import { fetchCommit } from './base/base-commit.ts';
import type { Session } from './open-workspace.ts';

/** Like `fetchCommit`, for a walk over history: a commit at which history ends has no parents. */
export async function fetchLinks(
  session: Session,
  store: ObjectStore,
  hash: CommitHash,
): Promise<CommitLinks> {
  const { signal } = session.context;
  return await readLinks(store, hash, () => fetchCommit(session, store, hash), { signal });
}
