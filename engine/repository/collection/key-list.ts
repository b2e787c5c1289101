/**
 * Key lists: candidates of a collection, and those that were rescued.
 *
 *     {"format":1,"round":k,"run":"<uuid>","part":i,"kind":"candidates"|"rescued"}
 *     objects/ab/...
 *     packs/ab/...
 *
 * One key a line after the first, ascending. Round, run and part make each list's bytes, and so its name,
 * unique.
 */
import { DrayError } from '../../api/error.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { damaged } from '../document.ts';
import { collectionListKey, isContentKey } from '../keys.ts';

/** The most keys of one list: some 4 MB as stored. */
export const KEY_LIST_KEYS_MAX = 100_000;

export interface KeyListHead {
  readonly round: number;
  readonly run: string;
  readonly kind: 'candidates' | 'rescued';
  /** From 0. */
  readonly part: number;
}

/** @param keys At most `KEY_LIST_KEYS_MAX`, in byte order. */
export function encodeKeyList(head: KeyListHead, keys: readonly RemoteKey[]): Uint8Array {
  if (keys.length > KEY_LIST_KEYS_MAX || !keys.every(isContentKey))
    throw new DrayError('internal', 'A list of a collection has too many keys, or a key of nothing stored.');
  const { kind, part, round, run } = head;
  const first = JSON.stringify({ format: 1, round, run, part, kind });
  return Buffer.from(`${[first, ...keys].join('\n')}\n`, 'utf8');
}

/**
 * @param name Of the list, for errors.
 * @throws `damaged` for anything that is not a key of content: a list decides what is removed.
 */
export function decodeKeyList(name: string, raw: Uint8Array): readonly RemoteKey[] {
  const [first, ...keys] = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
    .toString('utf8')
    .split('\n');
  const isWhole = first?.startsWith('{"format":1,') === true && keys.pop() === '';
  if (!isWhole || keys.length > KEY_LIST_KEYS_MAX || !keys.every(isContentKey))
    throw damaged(collectionListKey(name), 'it is not a list of keys');
  return keys;
}

/** Undefined for a list of another kind. */
export function roundOfKeyList(raw: Uint8Array): number | undefined {
  const head = /^\{"format":1,"round":(\d{1,15}),/.exec(Buffer.from(raw.subarray(0, 40)).toString('latin1'));
  return head ? Number(head[1]) : undefined;
}
