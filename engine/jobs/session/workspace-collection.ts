/** What the workspace's index knows of the repository's collection of garbage. */
import { hash as hashOf } from 'node:crypto';
import type { LocationFilter } from '../../index/blob-table.ts';
import type { KnownRepository } from '../../index/repository-table.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import {
  type CollectionView,
  createCollectionView,
  type KnownCollection,
} from '../../repository/collection/collection-view.ts';
import { objectKey, packKey } from '../../repository/keys.ts';
import type { KeysToAvoid } from '../../repository/manifest/segment.ts';
import type { Session } from './open-workspace.ts';

/**
 * Begins with the round that the index has. Each new round removes from the index what was a candidate, so a
 * push sends it again under another key.
 */
export function openWorkspaceCollection(
  session: Pick<Session, 'context' | 'index'>,
  store: ObjectStore,
  { known, uuid }: { readonly known: KnownRepository; readonly uuid: string },
): CollectionView {
  const { index } = session;
  const blobs = index.blobsOf(known.id);
  let { round } = known;
  const onRound = (next: KnownCollection, keys: KeysToAvoid) => {
    // A repository that was restored from a copy has lost objects that no list names.
    const isOlder = next.round < round;
    index.transaction(() => {
      if (isOlder) index.repositories.forgetObjects(known.id);
      else blobs.removeAvoided(filterOf(keys));
      index.repositories.saveRound(known.id, next.round, next.lists);
    });
    round = next.round;
    if (isOlder) session.context.emit({ type: 'warning', warning: 'epochChanged', message: OLDER });
  };
  const view = createCollectionView(store, {
    repository: uuid,
    ...knownCollection(index, known),
    onRound,
    signal: session.context.signal,
  });
  blobs.addOnly(filterOf(view));
  return view;
}

/** None if a list is damaged in the index: the view then reads the state and all lists again. */
function knownCollection(
  { repositories }: Session['index'],
  { id, round }: KnownRepository,
): { readonly known?: KnownCollection } {
  if (round === 0) return {};
  const lists = repositories.avoidLists(id);
  return [...lists].every(([name, raw]) => hashOf('sha256', raw) === name) ? { known: { round, lists } } : {};
}

const OLDER =
  'The repository is older than what this workspace knew of it. Dray asks again for what the index knew.';

function filterOf(keys: KeysToAvoid): LocationFilter {
  return {
    avoidsObject: (hash, generation) => keys.avoids(objectKey(hash, generation)),
    avoidsPack: (hash) => keys.avoids(packKey(hash)),
  };
}
