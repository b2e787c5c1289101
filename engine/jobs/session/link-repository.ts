/** Links the workspace's index to the repository behind a remote, in as few requests as the case allows. */
import { DrayError } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import type { BlobTable } from '../../index/blob-table.ts';
import type { KnownRepository } from '../../index/repository-table.ts';
import { DEFAULT_LAYOUT, type Layout } from '../../model/layout.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { CollectionView } from '../../repository/collection/collection-view.ts';
import {
  collectsGarbage,
  createDescriptor,
  type Descriptor,
  readDescriptor,
} from '../../repository/descriptor.ts';
import { readRef, type StoredRef } from '../../repository/refs.ts';
import type { Session } from './open-workspace.ts';
import { keptOf, layoutOfRepository } from './sealed-remote.ts';
import { openWorkspaceCollection } from './workspace-collection.ts';
import { scopeOf } from './workspace-scope.ts';

export interface LinkedRepository {
  readonly uuid: string;
  readonly layout: Layout;
  /** The index's row of the repository; `known.id` keys everything else. */
  readonly known: KnownRepository;
  readonly blobs: BlobTable;
  /** What new content must not be named after; undefined: the repository does not collect garbage. */
  readonly view: CollectionView | undefined;
  /** The branch on the remote; undefined before its first push. */
  readonly tip: StoredRef | undefined;
  /** The repository has no ref, so no commit names any of its objects. */
  readonly isEmpty: boolean;
  /** The repository does not exist yet: a dry run continues as if the push had made it. */
  readonly isForeseen?: true;
}

export interface LinkOptions {
  /**
   * The action for an empty remote at which the workspace has seen no repository yet. Default: an error.
   */
  readonly ifNone?: 'make' | 'foresee';
}

/**
 * One request when the workspace has a base, and so the branch probably exists: its ref names the repository.
 * Before the first push or pull three requests at once: the ref, the descriptor, and whether there is any
 * ref.
 * @throws `notARepository` when the URL has no repository, or another one than the workspace is bound to
 */
export async function linkRepository(
  session: Session,
  store: ObjectStore,
  branch: string,
  { ifNone }: LinkOptions = {},
): Promise<LinkedRepository> {
  const { signal } = session.context;
  const remote = session.config.remotes[session.remoteName]!;
  const isFirst = session.state.bases[session.remoteName] === undefined;
  const first = isFirst ? readDescriptorAndRefs(store, signal) : undefined;
  // Awaited below, unless the ref fails: then that error is the one to report.
  first?.catch(() => {});
  const tip = await readRef(store, `heads/${branch}`, { signal });
  if (tip && remote.repository === tip.repository && remote.layout) {
    const facts = { uuid: tip.repository, layout: remote.layout, tip, isEmpty: false };
    return await bind(session, store, facts, tip.collects === true);
  }
  const [found, refs] = await (first ?? readDescriptorAndRefs(store, signal));
  const isUnmet = remote.repository === undefined && tip === undefined && refs.objects.length === 0;
  if (!found && isUnmet && ifNone === 'foresee')
    return await bind(
      session,
      store,
      { ...foreseen(session), tip: undefined, isEmpty: true, isForeseen: true },
      true,
    );
  const descriptor =
    found ?? (isUnmet && ifNone === 'make' ? await makeRepository(session, store) : undefined);
  if (!descriptor) throw notARepository(store, { isUnmet });
  checkSameRepository(store, remote.repository, descriptor.id);
  checkBelongs(store, tip, descriptor.id);
  if (remote.repository === undefined || remote.layout === undefined) {
    session.saveConfig({
      ...session.config,
      remotes: {
        ...session.config.remotes,
        [session.remoteName]: { ...remote, ...keptOf(store, descriptor) },
      },
    });
  }
  const isEmpty = tip === undefined && refs.objects.length === 0;
  return await bind(
    session,
    store,
    { uuid: descriptor.id, layout: layoutOfRepository(store, descriptor), tip, isEmpty },
    tip?.collects === true || collectsGarbage(descriptor),
  );
}

/** The layout of the workspace's other repository, so that the same content has the same names in both. */
function layoutOfNew({ config }: Session): Layout {
  return config.remotes[config.defaultRemote]?.layout ?? DEFAULT_LAYOUT;
}

/** No repository has this id, so the index knows none of its objects. */
const FORESEEN_UUID = '00000000-0000-0000-0000-000000000000';

function foreseen(session: Session): Pick<LinkedRepository, 'layout' | 'uuid'> {
  return { uuid: FORESEEN_UUID, layout: layoutOfNew(session) };
}

/** @throws `usage` if another repository of the workspace is encrypted: this one would be plain */
async function makeRepository(session: Session, store: ObjectStore): Promise<Descriptor> {
  refuseBesideSealed(session, store);
  const layout = layoutOfNew(session);
  const { context } = session;
  const { signal } = context;
  const { created, descriptor } = await createDescriptor(store, { layout, clock: systemClock, signal });
  if (created) {
    const part = scopeOf(session) ? ' It gets only the part that this workspace holds.' : '';
    const message = `A new repository was made at ${store.address}.${part}`;
    context.emit({ type: 'warning', warning: 'repositoryMade', message });
  }
  return descriptor;
}

function refuseBesideSealed({ config }: Session, { address }: ObjectStore): void {
  const [sealed] = Object.entries(config.remotes).find(([, remote]) => remote.sealed) ?? [];
  if (sealed === undefined) return;
  throw new DrayError(
    'usage',
    `There is no repository at ${address} yet, and a push would make one that is not encrypted, as ${sealed} is.`,
    {
      data: { remote: address, encrypted: sealed },
      advice: 'Make one first, in an empty folder: "dray init --remote URL --encrypt", or without --encrypt.',
    },
  );
}

export function notARepository(store: ObjectStore, { isUnmet }: { readonly isUnmet: boolean }): DrayError {
  const { address } = store;
  const data = { remote: address, isUnmet };
  if (isUnmet)
    return new DrayError('notARepository', `There is no repository at ${address} yet.`, {
      data,
      advice: 'The first "dray push" makes one; check the URL if one should exist.',
      command: 'dray push',
    });
  const message = `The repository's dray.json is missing at ${address}. Check the URL.`;
  const advice = 'If it is right, run "dray repair" in a workspace that has pushed to it or pulled from it.';
  return new DrayError('notARepository', message, { data, advice, command: 'dray repair' });
}

/** @throws `notARepository` when the workspace is bound to another repository than the one found */
export function checkSameRepository(store: ObjectStore, bound: string | undefined, found: string): void {
  if (bound === undefined || bound === found) return;
  throw new DrayError(
    'notARepository',
    `The repository at ${store.address} (${found}) is not the one that this workspace belongs to (${bound}). ` +
      'If it was recreated on purpose, remove the remote and add it again.',
    { data: { remote: store.address, found, expected: bound } },
  );
}

/**
 * @throws `notARepository` when the ref belongs to another repository: its commits say nothing about this one
 */
export function checkBelongs(store: ObjectStore, tip: StoredRef | undefined, uuid: string): void {
  if (!tip || tip.repository === uuid) return;
  throw new DrayError(
    'notARepository',
    `${tip.name} at ${store.address} belongs to another repository (${tip.repository}) than dray.json there (${uuid}). ` +
      'Restore the earlier dray.json, or empty the place and push again.',
    { data: { remote: store.address, ref: tip.name, found: tip.repository, expected: uuid } },
  );
}

function readDescriptorAndRefs(store: ObjectStore, signal: AbortSignal) {
  return Promise.all([
    readDescriptor(store, { signal }),
    store.list({ prefix: 'refs/', limit: 1 }, { signal }),
  ]);
}

/** No request, or those of a look at the collection if the ref says that there was a round since. */
async function bind(
  session: Session,
  store: ObjectStore,
  facts: Omit<LinkedRepository, 'known' | 'blobs' | 'view'>,
  collects: boolean,
): Promise<LinkedRepository> {
  const known = session.index.repositories.bind(facts.uuid);
  const view = collects ? openWorkspaceCollection(session, store, { known, uuid: facts.uuid }) : undefined;
  if (facts.tip && view && facts.tip.epoch !== view.round) await view.refresh();
  return { ...facts, known, view, blobs: session.index.blobsOf(known.id) };
}
