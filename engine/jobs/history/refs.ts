/** `dray tag` and `dray branch`: names for commits, created and moved only by compare-and-swap. */
import { DrayError } from '../../api/error.ts';
import type { JobContext, RefRequest, RefSummary } from '../../api/jobs/jobs.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { checkWhole } from '../../repository/collection/check-whole.ts';
import { type CollectionView, createCollectionView } from '../../repository/collection/collection-view.ts';
import { publish } from '../../repository/collection/publish.ts';
import { collectsGarbage, readDescriptor } from '../../repository/descriptor.ts';
import { checkRefName } from '../../repository/ref-name.ts';
import {
  etagOfDamaged,
  listRefs,
  type RefKind,
  readRef,
  removeRef,
  type StoredRef,
} from '../../repository/refs.ts';
import { foreseeSettledBase, settleLastPush } from '../push/unconfirmed-push.ts';
import { fetchCommit } from '../session/base/base-commit.ts';
import { fetchLinks } from '../session/fetch-links.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { requireBase, resolveCommit } from '../session/resolve-commit.ts';
import { removeLostRef } from './remove-lost-ref.ts';

export async function tag(context: JobContext, request: RefRequest): Promise<RefSummary> {
  return withRemote(context, 'tag', request, 'tags');
}

export async function branch(context: JobContext, request: RefRequest): Promise<RefSummary> {
  return withRemote(context, 'branch', request, 'heads');
}

/** Makes a branch at the workspace's commit. @throws `conflict` when one of that name exists */
export async function createBranch(session: Session, store: ObjectStore, name: string): Promise<RefSummary> {
  return place(session, store, { kind: 'heads', name, commit: requireBase(session), force: false });
}

async function withRemote(
  context: JobContext,
  command: string,
  request: RefRequest,
  kind: RefKind,
): Promise<RefSummary> {
  // Renaming the workspace's own branch also changes its state.
  const isRename = request.rename !== undefined && kind === 'heads';
  using session = await openSession(context, command, isRename ? 'exclusive' : 'shared');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const { name, ref } = request;
  if (name === undefined) return await list(session, store, kind);
  checkRefName(name);
  if (isRename) await settleLastPush(session, store);
  else await foreseeSettledBase(session, store);
  if (request.remove) return await remove(session, store, kind, request);
  if (request.rename !== undefined) return await rename(session, store, kind, request);
  const commit = ref === undefined ? requireBase(session) : await resolveCommit(session, store, ref);
  return await place(session, store, {
    kind,
    name,
    commit,
    force: request.force === true,
    at: request.at,
  });
}

async function list(session: Session, store: ObjectStore, kind: RefKind): Promise<RefSummary> {
  const refs = await listRefs(store, kind, { signal: session.context.signal });
  for (const ref of refs) {
    const name = ref.name.slice(kind.length + 1);
    session.context.emit({
      type: 'ref',
      name,
      commit: ref.commit,
      current: kind === 'heads' && name === session.state.branch,
    });
  }
  return { result: 'listed', refs: refs.length };
}

async function remove(
  session: Session,
  store: ObjectStore,
  kind: RefKind,
  { name = '', at }: RefRequest,
): Promise<RefSummary> {
  if (kind === 'heads' && name === session.state.branch) {
    throw new DrayError(
      'usage',
      `${name} is the branch that this workspace is on. Switch to another one first.`,
    );
  }
  const { context } = session;
  const found = await requireRef(session, store, kind, name).catch(async (error: unknown) => {
    // A choice by name: a ref that is lost is to be gone.
    const lost = at === undefined && (await removeLostRef(session, store, `${kind}/${name}`));
    if (!lost) throw error;
    return lost;
  });
  if ('etag' in found) {
    checkStillAt(found, at);
    await removeSeen(session, store, kind, found);
  }
  context.emit({ type: 'ref', name, commit: found.commit, current: false });
  return { result: 'removed', refs: 1 };
}

/**
 * Creates the new name, then removes the old one. After a stop in between, both names exist and another run
 * completes the rename. The old name is removed only if it still has the commit of the new one.
 */
async function rename(
  session: Session,
  store: ObjectStore,
  kind: RefKind,
  { at, name = '', rename: to = '' }: RefRequest,
): Promise<RefSummary> {
  if (to === name) throw new DrayError('usage', `The new name is the same as the old one: ${name}.`);
  const found = await requireRef(session, store, kind, name);
  const { commit } = found;
  checkStillAt(found, at);
  await place(session, store, { kind, name: to, commit, force: false });
  const isCurrent = kind === 'heads' && name === session.state.branch;
  // Comes before the removal, because a workspace must not be on a branch that does not exist.
  if (isCurrent) session.saveState(followedAs(session, name, to));
  const still = await requireRef(session, store, kind, name);
  checkStillAt(still, commit);
  await removeSeen(session, store, kind, still);
  session.context.emit({ type: 'ref', name: to, commit, current: isCurrent });
  return { result: 'renamed', refs: 1 };
}

/** A base that is in the history of the branch stays in it under its new name. Other remotes keep theirs. */
function followedAs({ remoteName, state }: Session, from: string, to: string): Session['state'] {
  const isFollowed = state.follows?.[remoteName] === from;
  return { ...state, branch: to, ...(isFollowed && { follows: { ...state.follows, [remoteName]: to } }) };
}

/**
 * Removes the ref unless a push has moved it since it was read: the store compares and removes in one step.
 * An S3 store that ignores If-Match on DELETE may remove a ref that a push moves during the request. Its
 * commit remains, and `dray tag NAME COMMIT` names it again. @throws `conflict`
 */
export async function removeSeen(session: Session, store: ObjectStore, kind: RefKind, seen: StoredRef) {
  const { signal } = session.context;
  for (let current = seen; ; ) {
    try {
      return await removeRef(store, current, { signal });
    } catch (error) {
      if (!(error instanceof DrayError) || error.code !== 'conflict') throw error;
      const { etag } = current;
      current = await requireRef(session, store, kind, seen.name.slice(kind.length + 1));
      checkStillAt(current, seen.commit);
      // A collection raises the epoch of a ref, and leaves its commit.
      if (current.etag === etag) throw error;
    }
  }
}

/** @throws `notFound` */
async function requireRef(
  session: Session,
  store: ObjectStore,
  kind: RefKind,
  name: string,
): Promise<StoredRef> {
  const found = await readRef(store, `${kind}/${name}`, { signal: session.context.signal });
  if (found) return found;
  throw new DrayError('notFound', `There is no ${wordFor(kind)} ${name} on ${store.address}.`, {
    data: { ref: name },
  });
}

/** @throws `conflict` when the ref has moved since the caller read it */
function checkStillAt({ commit, name }: StoredRef, at: string | undefined): void {
  if (at === undefined || at === commit) return;
  const [kind, short] = name.startsWith('tags/') ? ['tag', name.slice(5)] : ['branch', name.slice(6)];
  throw new DrayError(
    'conflict',
    `The ${kind} ${short} has moved to ${commit.slice(0, 12)} in the meantime. Review it, then try again.`,
    { data: { ref: short, commit, reason: 'refMoved' } },
  );
}

interface Placement {
  readonly kind: RefKind;
  readonly name: string;
  readonly commit: CommitHash;
  readonly force: boolean;
  /** For `force`: the commit that an existing ref must have. */
  readonly at?: string | undefined;
}

async function place(
  session: Session,
  store: ObjectStore,
  { at, commit, force, kind, name }: Placement,
): Promise<RefSummary> {
  checkRefName(name);
  const options = { signal: session.context.signal };
  // The commit is read before it gets a name: a name must never point at nothing.
  const content = { commit: await fetchCommit(session, store, commit), hash: commit };
  const { existing, unreadable } = await readPlaced(store, `${kind}/${name}`, { force, ...options });
  const isMove = existing !== undefined;
  if (isMove && existing.commit === commit) return { result: 'listed', refs: 1 };
  if (isMove && !force) {
    throw new DrayError(
      'conflict',
      `The ${wordFor(kind)} ${name} already exists, at ${existing.commit.slice(0, 12)}.`,
      {
        data: { ref: name, commit: existing.commit, reason: 'refExists' },
        advice: 'Move it with --force.',
      },
    );
  }
  if (existing) checkStillAt(existing, at);
  const view = await viewOf(session, store, { existing, repository: content.commit.repository });
  await publish({
    store,
    name: `${kind}/${name}`,
    repository: content.commit.repository,
    tip: existing,
    unreadable,
    view,
    isChosen: true,
    clock: session.clock,
    ...options,
    prepare: async (tip) => {
      if (tip?.commit !== existing?.commit) throw changedElsewhere(kind, name);
      const branch = `heads/${session.state.branch}`;
      const read = (hash: CommitHash) => fetchLinks(session, store, hash);
      if (view) await checkWhole(store, content, { branch, view, read, ...options });
      return commit;
    },
  });
  session.context.emit({ type: 'ref', name, commit, current: false });
  return existing ? { result: 'moved', refs: 1, previous: existing.commit } : { result: 'created', refs: 1 };
}

/** With `force` a tag that cannot be read is overwritten. A branch is repaired: others follow it. */
async function readPlaced(
  store: ObjectStore,
  name: string,
  { force, signal }: { readonly force: boolean; readonly signal: AbortSignal },
): Promise<{ readonly existing?: StoredRef | undefined; readonly unreadable?: string | undefined }> {
  try {
    return { existing: await readRef(store, name, { signal }) };
  } catch (error) {
    if (!force || !isDamage(error) || !name.startsWith('tags/')) throw error;
    return { unreadable: await etagOfDamaged(store, name, { signal }) };
  }
}

function changedElsewhere(kind: RefKind, name: string): DrayError {
  return new DrayError(
    'conflict',
    `Another machine changed the ${wordFor(kind)} ${name} at the same moment. Try again.`,
    { data: { ref: name, reason: 'refMoved' } },
  );
}

/** Undefined if the repository does not collect garbage. No request if the ref shows that it does. */
async function viewOf(
  session: Session,
  store: ObjectStore,
  { existing, repository }: { readonly existing: StoredRef | undefined; readonly repository: string },
): Promise<CollectionView | undefined> {
  const { signal } = session.context;
  const known = existing ?? (await readRef(store, `heads/${session.state.branch}`, { signal }));
  const descriptor = known ? undefined : await readDescriptor(store, { signal });
  const collects = known?.collects === true || (descriptor !== undefined && collectsGarbage(descriptor));
  return collects ? createCollectionView(store, { repository, signal }) : undefined;
}

function wordFor(kind: RefKind): string {
  return kind === 'tags' ? 'tag' : 'branch';
}
