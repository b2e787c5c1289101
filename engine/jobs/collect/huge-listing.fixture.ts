/** Made-up objects that are found by their number: names are spread evenly, in the order of the numbers. */
import type { BlobHash } from '../../model/entry.ts';
import { positionOf, SPACE } from '../../query/existence/hash-space.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { objectKey } from '../../repository/keys.ts';

export function hashOfObject(index: number, objects: number): BlobHash {
  const step = Math.floor(SPACE / objects);
  const random = Math.imul(index ^ (index >>> 15), 0x2c1b3c6d) >>> 0;
  const more = Math.imul(random ^ (random >>> 12), 0x297a2d39) >>> 0;
  const position = index * step + (random % Math.min(step, 2 ** 32));
  return `${hex(position, 12)}${hex(more, 8)}${hex(index, 44)}` as BlobHash;
}

export function keyOfObject(index: number, objects: number): RemoteKey {
  return objectKey(hashOfObject(index, objects));
}

/** The number of the first object after these digits. */
export function firstAfter(digits: string, objects: number): number {
  if (digits === '') return 0;
  const position = positionOf(digits.padEnd(12, '0') as BlobHash);
  const near = Math.floor(position / Math.floor(SPACE / objects));
  return near < objects && hashOfObject(near, objects) > digits ? near : near + 1;
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}
