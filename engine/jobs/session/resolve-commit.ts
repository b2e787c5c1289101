/**
 * Resolves a user's name for a commit: a ref on the remote, or `@`, the workspace's base commit; each also
 * with `~N`, the N-th commit before it.
 */
import { DrayError } from '../../api/error.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { splitAncestor, walkBack } from '../../repository/ancestor.ts';
import type { StoredRef } from '../../repository/refs.ts';
import { resolveRef } from '../../repository/resolve-ref.ts';
import { requireKept, resolveKeptRef } from '../retention/forgotten.ts';
import { refuseOwnGone } from './branch/replaced-history.ts';
import { fetchLinks } from './fetch-links.ts';
import type { Session } from './open-workspace.ts';

/** The workspace's base commit. No branch or tag can have this name. */
const BASE_NAME = '@';

export async function resolveCommit(session: Session, store: ObjectStore, text: string): Promise<CommitHash> {
  const based = await resolveBase(session, store, text);
  if (based) return based.commit;
  const { commit } = await orLost(session, store, text, resolveRef(store, text, resolving(session, store)));
  return commit;
}

/** What a user's name names, for messages. */
export interface TypedCommit {
  readonly kind: 'branch' | 'tag' | 'commit';
  /** As it was typed. */
  readonly name: string;
}

/**
 * Like `resolveCommit`, for a commit whose files are read. A request more for one that no ref names.
 * @throws `forgotten`
 */
export async function resolveContent(
  session: Session,
  store: ObjectStore,
  text: string,
): Promise<CommitHash> {
  return (await resolveNamed(session, store, text)).commit;
}

/** Like `resolveContent`, and says what the name is. */
export async function resolveNamed(
  session: Session,
  store: ObjectStore,
  text: string,
): Promise<{ readonly commit: CommitHash; readonly named: TypedCommit }> {
  const based = await resolveBase(session, store, text);
  if (!based) {
    const found = resolveKeptRef(store, text, resolving(session, store));
    const { commit, ref } = await orLost(session, store, text, found);
    return { commit, named: { kind: kindOf(ref), name: text } };
  }
  if (!based.isBase) await requireKept(store, based.commit, { signal: session.context.signal });
  return { commit: based.commit, named: { kind: 'commit', name: text } };
}

/** A branch that this workspace is on and has seen is lost, and not misspelled. */
async function orLost<T>(session: Session, store: ObjectStore, text: string, found: Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (error) {
    const isAbsent = error instanceof DrayError && error.code === 'notFound';
    if (isAbsent && splitAncestor(text).name === session.state.branch) await refuseOwnGone(session, store);
    throw error;
  }
}

function kindOf(ref: StoredRef | undefined): TypedCommit['kind'] {
  if (!ref) return 'commit';
  return ref.name.startsWith('tags/') ? 'tag' : 'branch';
}

/** For `@` and `@~N`. */
async function resolveBase(session: Session, store: ObjectStore, text: string) {
  const ancestor = splitAncestor(text);
  if (ancestor.name !== BASE_NAME) return undefined;
  const { read } = resolving(session, store);
  const commit = await walkBack(requireBase(session), ancestor, read);
  return { commit, isBase: ancestor.steps === 0 };
}

function resolving(session: Session, store: ObjectStore) {
  const read = (hash: CommitHash) => fetchLinks(session, store, hash);
  return { signal: session.context.signal, read };
}

/** @throws `notFound` before the first push or pull. */
export function requireBase(session: Session): CommitHash {
  const base = session.state.bases[session.remoteName];
  if (base !== undefined) return base as CommitHash;
  throw new DrayError('notFound', 'This workspace has no commit yet. Push or pull first.', {
    data: { workspace: session.workspace.root },
  });
}
