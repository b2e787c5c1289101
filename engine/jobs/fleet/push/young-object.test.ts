import { describe, expect, it } from 'vitest';
import { waitUntilOldMs } from './young-object.ts';

describe('an object that was written just now', () => {
  it.each([
    ['in this second', 10_000, 10_300, 1_700],
    ['two seconds ago', 10_000, 12_000, 0],
    ['long ago', 10_000, 99_000, 0],
    ['in the future of this machine', 60_000, 10_000, 2_000],
  ])('is read when its next change will have another time: written %s', (_, modifiedMs, nowMs, waitMs) => {
    expect(waitUntilOldMs(modifiedMs, nowMs)).toBe(waitMs);
  });
});
