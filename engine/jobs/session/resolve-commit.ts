/** Resolves a user's name for a commit: a ref on the remote, or `@`, the workspace's base commit. */
import { DrayError } from '../../api/error.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { resolveRef } from '../../repository/resolve-ref.ts';
import { resolveKept } from '../retention/forgotten.ts';
import type { Session } from './open-workspace.ts';

/** The workspace's base commit. No branch or tag can have this name. */
const BASE_NAME = '@';

export async function resolveCommit(session: Session, store: ObjectStore, text: string): Promise<CommitHash> {
  if (text === BASE_NAME) return requireBase(session);
  return (await resolveRef(store, text, { signal: session.context.signal })).commit;
}

/**
 * Like `resolveCommit`, for a commit whose files are read. A request more for one that is named by its hash.
 * @throws `forgotten`
 */
export async function resolveContent(
  session: Session,
  store: ObjectStore,
  text: string,
): Promise<CommitHash> {
  if (text === BASE_NAME) return requireBase(session);
  return resolveKept(store, text, { signal: session.context.signal });
}

/** @throws `notFound` before the first push or pull. */
export function requireBase(session: Session): CommitHash {
  const base = session.state.bases[session.remoteName];
  if (base !== undefined) return base as CommitHash;
  throw new DrayError('notFound', 'This workspace has no commit yet. Push or pull first.', {
    data: { workspace: session.workspace.root },
  });
}
