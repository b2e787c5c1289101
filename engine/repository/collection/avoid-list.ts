/**
 * Avoid lists: the keys that were candidates of any collection. No writer gives one of them to new content,
 * so that a DELETE that a collector sent long ago cannot remove it.
 *
 *     "DRA1" | round (u32) | run (16 bytes) | number of values (u32) | gaps of the ascending values (LEB128)
 *
 * Round and run make each list's bytes, and so its name, unique: a late DELETE of a list that was joined with
 * others removes no later one.
 *
 * A value is the first five bytes of the SHA-256 of a key, as a big-endian number. Two keys may share a
 * value: then content is stored once more under another key, and nothing else happens. Among 10,000,000
 * keys a list of 10,000,000 meets some 90 by chance. A key takes three bytes, where the whole key would take
 * 32.
 */
import { hash as hashOf } from 'node:crypto';
import type { PackHash } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { damaged } from '../document.ts';
import { collectionListKey } from '../keys.ts';

const MAGIC = 'DRA1';
const ROUND_AT = 4;
const RUN_AT = 8;
const COUNT_AT = 24;
const HEAD_BYTES = 28;
/** A gap has 40 bits. */
const GAP_BYTES_MAX = 6;

/**
 * Stands in the lists for a pack that became a candidate because its blobs had moved. No object has such a
 * key. If the pack is named and has no relocation, that was lost.
 */
export function avoidKeyOfMoved(pack: PackHash): RemoteKey {
  return `moved/${pack}`;
}

export function avoidValueOf(key: RemoteKey): number {
  return hashOf('sha256', key, 'buffer').readUIntBE(0, 5);
}

/** @param values Ascending; equal ones are written once. @param head Of the round that writes it. */
export function encodeAvoidList(
  { round, run }: { readonly round: number; readonly run: string },
  values: Float64Array,
): Uint8Array {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + values.length * GAP_BYTES_MAX);
  let used = HEAD_BYTES;
  let count = 0;
  let previous = -1;
  for (const value of values) {
    if (value === previous) continue;
    let gap = value - Math.max(previous, 0);
    for (; gap >= 0x80; gap = Math.floor(gap / 0x80)) bytes[used++] = (gap % 0x80) | 0x80;
    bytes[used++] = gap;
    previous = value;
    count += 1;
  }
  bytes.write(MAGIC, 0, 'latin1');
  bytes.writeUInt32LE(round, ROUND_AT);
  bytes.write(run.replaceAll('-', ''), RUN_AT, 'hex');
  bytes.writeUInt32LE(count, COUNT_AT);
  return bytes.subarray(0, used);
}

/** Undefined for a list of another kind. */
export function roundOfAvoidList(raw: Uint8Array): number | undefined {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  return isAvoidList(bytes) ? bytes.readUInt32LE(ROUND_AT) : undefined;
}

function isAvoidList(bytes: Buffer): boolean {
  return bytes.length >= HEAD_BYTES && bytes.toString('latin1', 0, ROUND_AT) === MAGIC;
}

/** @param name Of the list, for errors. @returns The values, ascending. @throws `damaged` */
export function decodeAvoidList(name: string, raw: Uint8Array): Float64Array {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const count = isAvoidList(bytes) ? bytes.readUInt32LE(COUNT_AT) : Number.POSITIVE_INFINITY;
  if (count > bytes.length - HEAD_BYTES)
    throw damaged(collectionListKey(name), 'it is not a list of keys to avoid');
  const values = new Float64Array(count);
  let at = HEAD_BYTES;
  let value = 0;
  for (let index = 0; index < count; index += 1) {
    let gap = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes[at++];
      if (byte === undefined || scale > 2 ** 35) throw damaged(collectionListKey(name), 'it ends early');
      gap += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    value += gap;
    values[index] = value;
  }
  if (at !== bytes.length) throw damaged(collectionListKey(name), 'it is longer than it says');
  return values;
}

/** The union of lists, ascending. */
export function mergeAvoidLists(lists: readonly Float64Array[]): Float64Array {
  const merged = new Float64Array(lists.reduce((sum, list) => sum + list.length, 0));
  let used = 0;
  for (const list of lists) {
    merged.set(list, used);
    used += list.length;
  }
  return merged.sort();
}

export function hasValue(values: Float64Array, value: number): boolean {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return values[low] === value;
}
