/**
 * Makes the record of the refs again, where the list is lost or damaged: of the refs that are there now. One
 * that was lost before is not in it any more; a workspace that is on the branch still knows it.
 */
import { randomUUID } from 'node:crypto';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { readCollectionState, writeCollectionState } from '../../repository/collection/collection-state.ts';
import { writeRefRecord } from '../../repository/collection/ref-record.ts';
import { COLLECTION_PREFIX, collectionListKey } from '../../repository/keys.ts';
import { readAllRefs } from '../collect/fence-refs.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';

/** Two requests, and two for each 1,000 refs. Nothing if the record is whole. @param damaged Keys. */
export async function restoreRefRecord(tools: WalkTools, damaged: ReadonlySet<RemoteKey>): Promise<void> {
  const { context, store } = tools;
  const { signal } = context;
  if (![...damaged].some((key) => key.startsWith(COLLECTION_PREFIX))) return;
  const stored = await readCollectionState(store, { signal });
  if (stored?.state.refs === undefined || !damaged.has(collectionListKey(stored.state.refs))) return;
  // Another run, so that its list is not the one that is damaged.
  const head = { round: stored.state.round, run: randomUUID() };
  const refs = await writeRefRecord(store, head, await readAllRefs(tools), { signal });
  await writeCollectionState(store, { ...stored.state, refs }, stored, { signal });
}
