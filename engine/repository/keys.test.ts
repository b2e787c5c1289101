import { describe, expect, it } from 'vitest';
import type { BlobHash, CommitHash, PackHash, SegmentHash } from '../model/entry.ts';
import {
  commitKey,
  hashFromCommitKey,
  hashFromObjectKey,
  hashFromPackKey,
  isHash,
  objectKey,
  packKey,
  segmentKey,
} from './keys.ts';

const HASH = `ab${'0123456789'.repeat(6)}cd`;

describe('keys', () => {
  it('split a hash after two digits', () => {
    const rest = HASH.slice(2);
    expect(objectKey(HASH as BlobHash)).toBe(`objects/ab/${rest}`);
    expect(packKey(HASH as PackHash)).toBe(`packs/ab/${rest}`);
    expect(segmentKey(HASH as SegmentHash)).toBe(`manifests/ab/${rest}`);
    expect(commitKey(HASH as CommitHash)).toBe(`commits/ab/${rest}`);
  });

  it('parse back into the hash', () => {
    expect(hashFromObjectKey(objectKey(HASH as BlobHash))).toBe(HASH);
    expect(hashFromPackKey(packKey(HASH as PackHash))).toBe(HASH);
    expect(hashFromCommitKey(commitKey(HASH as CommitHash))).toBe(HASH);
  });

  it('are distinguished from foreign keys', () => {
    const key = objectKey(HASH as BlobHash);
    for (const other of [
      '',
      'dray.json',
      key.toUpperCase(),
      `${key}0`,
      key.slice(0, -1),
      `x${key}`,
      packKey(HASH as PackHash),
    ]) {
      expect(hashFromObjectKey(other)).toBeUndefined();
    }
    expect(isHash(HASH)).toBe(true);
    for (const other of [HASH.toUpperCase(), HASH.slice(1), `${HASH}0`, `${HASH}\n`, 5, undefined]) {
      expect(isHash(other)).toBe(false);
    }
  });
});
