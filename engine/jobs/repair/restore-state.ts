/**
 * Makes a safe state of the collection of garbage again, where `collection.json` is lost, damaged, or older
 * than the refs say.
 *
 * What must not get lost are the avoid lists: a key that was ever a candidate may have been removed, and a
 * DELETE of it may still be on its way. Without them a workspace would name content that is gone. The lists
 * are objects of their own, and the last state named some of those that are still stored. So the new state
 * names all of them: a key too many costs a second copy of one object, nothing else. If the last round that
 * the refs know has left no list, lists are lost as well, and no state would be safe.
 *
 * The new round is above each one that a ref or a list knows, so nobody takes it for an earlier one. It has
 * no candidates. What a collector still removes are candidates of its own round: they are on the lists, and
 * it cannot write its next state.
 */
import { randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { roundOfAvoidList } from '../../repository/collection/avoid-list.ts';
import {
  type CollectionState,
  readCollectionState,
  type StoredState,
  writeCollectionState,
} from '../../repository/collection/collection-state.ts';
import { roundOfKeyList } from '../../repository/collection/key-list.ts';
import { roundOfRefRecord, writeRefRecord } from '../../repository/collection/ref-record.ts';
import { readList } from '../../repository/collection/stored-list.ts';
import { COLLECTION_KEY, COLLECTION_PREFIX, isHash } from '../../repository/keys.ts';
import { AvoidLists } from '../collect/candidate-lists.ts';
import { fenceRefs, readAllRefs } from '../collect/fence-refs.ts';
import { findStored, type RetireTools } from './retire-keys.ts';

/** One request for each list, and two for each ref. @throws `damaged` if lists are lost */
export async function restoreState(tools: RetireTools): Promise<void> {
  const { clock, context, repository, store } = tools;
  const { signal } = context;
  const before = await readReplaced(tools);
  const refs = await readAllRefs(tools);
  const known = Math.max(0, ...refs.map(({ epoch }) => epoch));
  // Somebody else has made it again.
  if (before?.state && before.state.round >= known) return;
  const lists = await readStoredLists(store, signal);
  const ofKind = (wanted: StoredRound['kind']) =>
    lists.filter(({ kind }) => kind === wanted).sort((one, other) => one.round - other.round);
  const avoid = ofKind('avoid');
  if (known > 0 && (avoid.at(-1)?.round ?? 0) < known) throw lostLists(store, known);
  const last = Math.max(known, before?.state?.round ?? 0, ...lists.map(({ round }) => round));
  const head = { round: last + 1, run: randomUUID() };
  const own = new AvoidLists(store, head, { signal });
  // Each round has a list, which shows that no later one is lost.
  await own.add([COLLECTION_KEY]);
  const next: CollectionState = {
    repository,
    ...head,
    phase: 'done',
    started: new Date(clock.nowMs()).toISOString(),
    grace: 0,
    forgotten: before?.state?.forgotten ?? 0,
    candidates: [],
    rescued: [],
    avoid: [...(await own.finish(avoid.map(({ name }) => name)))],
    // The last record: a ref may be lost together with the state.
    refs: ofKind('refs').at(-1)?.name ?? (await writeRefRecord(store, head, refs, { signal })),
    removed: { objects: 0, bytes: 0 },
  };
  // The state that is compared only by its etag cannot be read, or is too old.
  const expected = before && { state: next, etag: before.etag };
  const after = await writeCollectionState(store, next, expected, { signal });
  if (after?.state.run === next.run) await fenceRefs(tools, next.round);
}

/** The state that is there, if any, and its etag. */
async function readReplaced({
  context: { signal },
  repository,
  store,
}: RetireTools): Promise<(Pick<StoredState, 'etag'> & Partial<StoredState>) | undefined> {
  try {
    return await readCollectionState(store, { repository, signal });
  } catch (error) {
    // The lists of another repository prove nothing.
    if (!isDamage(error) || error.data.reason === 'otherRepository') throw error;
    return await findStored(store, COLLECTION_KEY, signal);
  }
}

interface StoredRound {
  readonly name: string;
  readonly kind: 'avoid' | 'keys' | 'refs';
  readonly round: number;
}

/** @throws `damaged` for a list that cannot be read: it may be one that must be named */
async function readStoredLists(store: ObjectStore, signal: AbortSignal): Promise<readonly StoredRound[]> {
  const found: StoredRound[] = [];
  for (let continuation: string | undefined; ; ) {
    const from = continuation === undefined ? {} : { continuation };
    const page = await store.list({ prefix: COLLECTION_PREFIX, ...from }, { signal });
    for (const { key } of page.objects) {
      const name = key.slice(COLLECTION_PREFIX.length).replace('/', '');
      if (!isHash(name)) continue;
      const raw = await readList(store, name, { signal });
      found.push({ name, ...kindOf(raw) });
    }
    continuation = page.continuation;
    if (continuation === undefined) return found;
  }
}

function kindOf(raw: Uint8Array): Omit<StoredRound, 'name'> {
  const [avoid, refs] = [roundOfAvoidList(raw), roundOfRefRecord(raw)];
  if (avoid !== undefined) return { kind: 'avoid', round: avoid };
  if (refs !== undefined) return { kind: 'refs', round: refs };
  return { kind: 'keys', round: roundOfKeyList(raw) ?? 0 };
}

function lostLists(store: ObjectStore, round: number): DrayError {
  const message = `${store.address} has lost collection.json and the lists of round ${round} below ${COLLECTION_PREFIX}: nobody can say which keys must not be written again, so no state would be safe.`;
  return new DrayError('damaged', message, {
    data: { key: COLLECTION_KEY, reason: 'listsLost' },
    advice: 'Put them back from a copy of the store, or push a clone to a new repository.',
  });
}
