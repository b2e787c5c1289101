/** Ties the workspace's index to the repository behind a remote, by as few requests as the case allows. */
import { DrayError } from '../api/error.ts';
import type { BlobTable } from '../index/blob-table.ts';
import type { KnownRepository } from '../index/repository-table.ts';
import type { Layout } from '../model/layout.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { readDescriptor } from '../repository/descriptor.ts';
import { readRef, type StoredRef } from '../repository/refs.ts';
import type { Session } from './session.ts';

export interface LinkedRepository {
  readonly uuid: string;
  readonly epoch: number;
  readonly layout: Layout;
  /** What the index remembers of it; `known.id` keys everything else. */
  readonly known: KnownRepository;
  readonly blobs: BlobTable;
  /** The branch as it stands on the remote; undefined before its first push. */
  readonly tip: StoredRef | undefined;
  /** There is no ref at all, so the repository can hold nothing that a commit names. */
  readonly isEmpty: boolean;
}

/**
 * One request when the workspace has a base, and so the branch is likely to exist: its ref names the repository. Before the
 * first push or pull three at once: ref, descriptor, and whether there is any ref.
 * @throws `notARepository` when the URL holds none, or another one than the workspace was bound to.
 */
export async function linkRepository(
  session: Session,
  store: ObjectStore,
  branch: string,
): Promise<LinkedRepository> {
  const { signal } = session.context;
  const remote = session.config.remotes[session.remoteName]!;
  const isFirst = session.state.bases[session.remoteName] === undefined;
  const first = isFirst ? readDescriptorAndRefs(store, signal) : undefined;
  // Awaited below, but for a ref that fails: then its own failure counts.
  first?.catch(() => {});
  const tip = await readRef(store, `heads/${branch}`, { signal });
  if (tip && remote.repository === tip.repository && remote.layout) {
    return bind(session, {
      uuid: tip.repository,
      layout: remote.layout,
      epoch: tip.epoch,
      tip,
      isEmpty: false,
    });
  }
  const [descriptor, refs] = await (first ?? readDescriptorAndRefs(store, signal));
  if (!descriptor) {
    throw new DrayError(
      'notARepository',
      `There is no repository at ${store.address}. Make one with "dray init --remote ${store.address}".`,
      {
        data: { remote: store.address },
      },
    );
  }
  if (remote.repository !== undefined && remote.repository !== descriptor.id) {
    throw new DrayError(
      'notARepository',
      `The repository at ${store.address} (${descriptor.id}) is not the one that this workspace belongs to (${remote.repository}). ` +
        'If it was made anew on purpose, remove the remote and add it again.',
      { data: { remote: store.address, found: descriptor.id, expected: remote.repository } },
    );
  }
  checkBelongs(store, tip, descriptor.id);
  if (remote.repository === undefined || remote.layout === undefined) {
    session.saveConfig({
      ...session.config,
      remotes: {
        ...session.config.remotes,
        [session.remoteName]: { ...remote, repository: descriptor.id, layout: descriptor.layout },
      },
    });
  }
  const isEmpty = tip === undefined && refs.objects.length === 0;
  return bind(session, {
    uuid: descriptor.id,
    layout: descriptor.layout,
    epoch: tip?.epoch ?? 0,
    tip,
    isEmpty,
  });
}

/** @throws `notARepository` when the ref is another repository's, whose commits say nothing of what is here. */
export function checkBelongs(store: ObjectStore, tip: StoredRef | undefined, uuid: string): void {
  if (!tip || tip.repository === uuid) return;
  throw new DrayError(
    'notARepository',
    `${tip.name} at ${store.address} belongs to another repository (${tip.repository}) than dray.json there (${uuid}). ` +
      'Bring back the dray.json that was there before, or empty the place and push anew.',
    { data: { remote: store.address, ref: tip.name, found: tip.repository, expected: uuid } },
  );
}

function readDescriptorAndRefs(store: ObjectStore, signal: AbortSignal) {
  return Promise.all([
    readDescriptor(store, { signal }),
    store.list({ prefix: 'refs/', limit: 1 }, { signal }),
  ]);
}

function bind(session: Session, facts: Omit<LinkedRepository, 'known' | 'blobs'>): LinkedRepository {
  const { repository, dropped } = session.index.repositories.bind(facts.uuid, facts.epoch);
  if (dropped) {
    session.index.settings.base = undefined;
    session.context.emit({
      type: 'warning',
      warning: 'epochChanged',
      message:
        'A collection has removed objects from the repository since the last time: what the index knew is asked again.',
    });
  }
  return { ...facts, known: repository, blobs: session.index.blobsOf(repository.id) };
}
