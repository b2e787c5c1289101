/** `dray tag` and `dray branch`: names for commits, created and moved only by compare-and-swap. */
import { DrayError } from '../../api/error.ts';
import type { BranchRequest, JobContext, RefSummary, TagRequest } from '../../api/jobs.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { checkRefName } from '../../repository/ref-name.ts';
import { deleteRef, listRefs, moveRef, type RefKind, readRef } from '../../repository/refs.ts';
import { fetchCommit } from '../session/base-commit.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { requireBase, resolveCommit } from '../session/resolve-commit.ts';
import { openSession, type Session } from '../session/session.ts';

export async function tag(context: JobContext, request: TagRequest): Promise<RefSummary> {
  return withRemote(context, 'tag', async (session, store) => {
    if (request.name === undefined) return list(session, store, 'tags');
    if (request.remove) return remove(session, store, 'tags', request.name);
    const commit =
      request.ref === undefined ? requireBase(session) : await resolveCommit(session, store, request.ref);
    return place(session, store, { kind: 'tags', name: request.name, commit, force: request.force === true });
  });
}

export async function branch(context: JobContext, request: BranchRequest): Promise<RefSummary> {
  return withRemote(context, 'branch', async (session, store) => {
    if (request.name === undefined) return list(session, store, 'heads');
    if (request.remove) return remove(session, store, 'heads', request.name);
    return createBranch(session, store, request.name);
  });
}

/** Makes a branch at the workspace's commit. @throws `conflict` when one of that name exists */
export async function createBranch(session: Session, store: ObjectStore, name: string): Promise<RefSummary> {
  return place(session, store, { kind: 'heads', name, commit: requireBase(session), force: false });
}

async function withRemote(
  context: JobContext,
  command: string,
  work: (session: Session, store: ObjectStore) => Promise<RefSummary>,
): Promise<RefSummary> {
  const session = await openSession(context, command, 'shared');
  try {
    const { store } = await openSessionRemote(session);
    try {
      return await work(session, store);
    } finally {
      await store.close();
    }
  } finally {
    session.close();
  }
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
  name: string,
): Promise<RefSummary> {
  checkRefName(name);
  if (kind === 'heads' && name === session.state.branch) {
    throw new DrayError(
      'usage',
      `${name} is the branch that this workspace is on. Switch to another one first.`,
    );
  }
  const found = await readRef(store, `${kind}/${name}`, { signal: session.context.signal });
  if (!found)
    throw new DrayError('notFound', `There is no ${wordFor(kind)} ${name} on ${store.address}.`, {
      data: { ref: name },
    });
  await deleteRef(store, found.name, { signal: session.context.signal });
  session.context.emit({ type: 'ref', name, commit: found.commit, current: false });
  return { result: 'removed', refs: 1 };
}

interface Placement {
  readonly kind: RefKind;
  readonly name: string;
  readonly commit: CommitHash;
  readonly force: boolean;
}

async function place(
  session: Session,
  store: ObjectStore,
  { kind, name, commit, force }: Placement,
): Promise<RefSummary> {
  checkRefName(name);
  const options = { signal: session.context.signal };
  // The commit is read before it gets a name: a name must never point at nothing.
  const { repository } = await fetchCommit(session, store, commit);
  const existing = await readRef(store, `${kind}/${name}`, options);
  const isMove = existing !== undefined;
  if (isMove && existing.commit === commit) return { result: 'listed', refs: 1 };
  if (isMove && !force) {
    const hint = kind === 'tags' ? ' Move it with --force.' : ' Choose another name.';
    throw new DrayError(
      'conflict',
      `The ${wordFor(kind)} ${name} already exists, at ${existing.commit.slice(0, 12)}.${hint}`,
      {
        data: { ref: name, commit: existing.commit },
      },
    );
  }
  const epoch = existing?.epoch ?? (await currentEpoch(session, store));
  const expected = existing ? { etag: existing.etag } : ({ absent: true } as const);
  const { moved } = await moveRef(store, `${kind}/${name}`, { commit, epoch, repository }, expected, options);
  if (!moved)
    throw new DrayError(
      'conflict',
      `Another machine changed the ${wordFor(kind)} ${name} at the same moment. Try again.`,
    );
  session.context.emit({ type: 'ref', name, commit, current: false });
  return { result: isMove ? 'moved' : 'created', refs: 1 };
}

async function currentEpoch(session: Session, store: ObjectStore): Promise<number> {
  const tip = await readRef(store, `heads/${session.state.branch}`, { signal: session.context.signal });
  return tip?.epoch ?? 0;
}

function wordFor(kind: RefKind): string {
  return kind === 'tags' ? 'tag' : 'branch';
}
