/** What a user means by a ref: a name on the remote, or `base`, the commit that the workspace is based on. */
import { DrayError } from '../../api/error.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { resolveRef } from '../../repository/resolve-ref.ts';
import type { Session } from './session.ts';

/** The workspace's own commit, under a name that no branch or tag can take from it. */
const BASE_NAME = '@';

export async function resolveCommit(session: Session, store: ObjectStore, text: string): Promise<CommitHash> {
  if (text === BASE_NAME) return requireBase(session);
  return (await resolveRef(store, text, { signal: session.context.signal })).commit;
}

/** @throws `notFound` before the first push or pull. */
export function requireBase(session: Session): CommitHash {
  const base = session.state.bases[session.remoteName];
  if (base !== undefined) return base as CommitHash;
  throw new DrayError('notFound', 'This workspace has no commit yet. Push or pull first.', {
    data: { workspace: session.workspace.root },
  });
}
