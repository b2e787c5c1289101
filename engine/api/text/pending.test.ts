import { describe, expect, it } from 'vitest';
import type { IncomingLook } from '../host/home.ts';
import { sumToPull, sumToPush } from './pending.ts';

const incoming = (commits: number, isMore = false): IncomingLook => ({
  ...{ root: '/a', hasIncoming: true },
  incoming: { commits, isMore, isRewritten: false },
});
const UNCOUNTED: IncomingLook = { root: '/b', hasIncoming: true };
const NOTHING: IncomingLook = { root: '/c', hasIncoming: false };

describe('what there is to pull', () => {
  const words = (...looks: readonly IncomingLook[]) => sumToPull(looks)?.words;

  it('is a number of commits', () => {
    expect(words(NOTHING, incoming(1))).toBe('1 commit to pull');
    expect(words(incoming(1_200), incoming(34))).toBe('1,234 commits to pull');
  });

  it('is more than the number if a count ended at its bound or is missing', () => {
    expect(words(incoming(1_000, true))).toBe('1,000+ commits to pull');
    expect(words(incoming(1), UNCOUNTED)).toBe('1+ commits to pull');
  });

  it('is a number of workspaces if no commit was counted', () => {
    expect(words(UNCOUNTED)).toBe('1 workspace has something to pull');
    expect(words(UNCOUNTED, incoming(0), NOTHING)).toBe('2 workspaces have something to pull');
  });

  it('is nothing if no branch has moved', () => {
    expect(words(NOTHING, { root: '/d' })).toBeUndefined();
  });
});

describe('what there is to push', () => {
  it('is the number of changed files of all workspaces', () => {
    expect(sumToPush([{ outgoing: 1_000 }, {}, { outgoing: 2 }])?.words).toBe('1,002 files to push');
    expect(sumToPush([{ outgoing: 1 }])?.words).toBe('1 file to push');
    expect(sumToPush([{ outgoing: 0 }, {}])).toBeUndefined();
  });
});
