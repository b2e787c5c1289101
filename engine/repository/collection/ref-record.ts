/**
 * The record of a round: the refs that were live when it marked. Refs are never deleted, so one that a record
 * names and that is absent later is lost, and a collection must not take what it led to for garbage.
 *
 *     {"format":1,"kind":"refs","round":k,"run":"<uuid>"}
 *     <commit> heads/main
 *     <commit> tags/v1
 *
 * One ref a line after the first, in byte order of the names. It is a list of the collection, since there may
 * be very many.
 */
import { isDamage } from '../../base/read-checked.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { damaged } from '../document.ts';
import { collectionListKey, isHash } from '../keys.ts';
import type { AnyRef } from '../refs.ts';
import { type CollectionState, readCollectionState, type StoredState } from './collection-state.ts';
import { goneRef, isPresentOrRemoved } from './gone-ref.ts';
import { readList, writeList } from './stored-list.ts';

/** A ref as it was seen. */
export type SeenRef = Pick<AnyRef, 'commit' | 'name'>;

const HEAD = /^\{"format":1,"kind":"refs","round":(\d{1,15}),"run":"[0-9a-f-]+"\}$/;
const HASH_LENGTH = 64;

/** One request. @returns The list's name. */
export async function writeRefRecord(
  store: ObjectStore,
  { round, run }: Pick<CollectionState, 'round' | 'run'>,
  refs: readonly AnyRef[],
  options: CallOptions = {},
): Promise<string> {
  const head = JSON.stringify({ format: 1, kind: 'refs', round, run });
  const lines = refs
    .filter(({ state }) => state === 'live')
    .map(({ commit, name }) => ({ name: Buffer.from(name), line: `${commit} ${name}` }))
    .sort((one, other) => Buffer.compare(one.name, other.name))
    .map(({ line }) => line);
  return await writeList(store, Buffer.from(`${[head, ...lines].join('\n')}\n`), options);
}

/** One request; none without a record. @throws `damaged`, also for a record that is missing */
export async function readRefRecord(
  store: ObjectStore,
  state: Pick<CollectionState, 'refs'> | undefined,
  options: CallOptions = {},
): Promise<readonly SeenRef[]> {
  if (state?.refs === undefined) return [];
  return decodeRefRecord(state.refs, await readList(store, state.refs, options));
}

export interface LastRecord {
  readonly stored: StoredState | undefined;
  readonly refs: readonly SeenRef[];
}

/** Two requests at most, and two more where a collection went on in between. @throws `damaged` */
export async function readLastRecord(store: ObjectStore, options: CallOptions = {}): Promise<LastRecord> {
  for (let etag: string | undefined; ; ) {
    const stored = await readCollectionState(store, options);
    try {
      return { stored, refs: await readRefRecord(store, stored?.state, options) };
    } catch (error) {
      if (!isDamage(error) || etag === stored?.etag) throw error;
      etag = stored?.etag;
    }
  }
}

/** @param name Of the list, for errors. */
export function decodeRefRecord(name: string, raw: Uint8Array): readonly SeenRef[] {
  const [head = '', ...lines] = Buffer.from(raw).toString('utf8').split('\n');
  const isWhole = HEAD.test(head) && lines.pop() === '';
  const refs = lines.map((line) => ({
    commit: line.slice(0, HASH_LENGTH) as CommitHash,
    name: line.slice(HASH_LENGTH + 1),
  }));
  if (isWhole && refs.every(({ commit, name }) => isHash(commit) && /^(?:heads|tags)\/./.test(name)))
    return refs;
  throw damaged(collectionListKey(name), 'it is not a list of refs');
}

/** Undefined for a list of another kind. */
export function roundOfRefRecord(raw: Uint8Array): number | undefined {
  const start = Buffer.from(raw.subarray(0, 200)).toString('latin1').split('\n')[0]!;
  const found = HEAD.exec(start);
  return found ? Number(found[1]) : undefined;
}

/** Those of the seen refs that are neither there nor removed. @param present All refs, as they are now. */
export function lostRefs(
  seen: readonly SeenRef[],
  present: Iterable<Pick<AnyRef, 'again' | 'name' | 'state'>>,
): readonly SeenRef[] {
  const here = new Set<string>();
  for (const ref of present) if (isPresentOrRemoved(ref)) here.add(ref.name);
  return seen.filter(({ name }) => !here.has(name));
}

/** @throws `damaged` for the first that is lost */
export function refuseLost(
  store: ObjectStore,
  seen: readonly SeenRef[],
  present: Iterable<Pick<AnyRef, 'again' | 'name' | 'state'>>,
): void {
  const [lost] = lostRefs(seen, present);
  if (lost) throw goneRef(store, lost.name, lost.commit);
}
