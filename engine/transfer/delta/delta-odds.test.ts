import { describe, expect, it } from 'vitest';
import { createDeltaOdds } from './delta-odds.ts';

/** Counts the segments that are signed, and those that are sent unsigned although they are the same. */
function run(segments: readonly ('same' | 'other')[]) {
  const odds = createDeltaOdds();
  let signed = 0;
  let inVain = 0;
  for (const segment of segments) {
    if (odds.isWorthSigning()) {
      signed += 1;
      odds.found(segment === 'same' ? 0 : 100, 100);
    } else if (segment === 'same') inVain += 1;
  }
  return { signed, inVain };
}

const many = (count: number, kind: 'same' | 'other') => Array.from({ length: count }, () => kind);

describe('createDeltaOdds', () => {
  it('signs each segment as long as some of them are the same', () => {
    expect(run(many(100, 'same')).signed).toBe(100);
    expect(run(many(100, 'same').map((_, at) => (at % 4 === 3 ? 'same' : 'other'))).signed).toBe(100);
  });

  it('signs few segments if all of them differ', () => {
    expect(run(many(64, 'other')).signed).toBeLessThanOrEqual(13);
  });

  it('sends no more equal segments unsigned than it found different ones', () => {
    for (const differing of [4, 5, 7, 10, 20, 50]) {
      const { inVain, signed } = run([...many(differing, 'other'), ...many(500, 'same')]);
      expect(inVain).toBeLessThanOrEqual(Math.min(8, differing));
      expect(signed).toBeGreaterThan(490);
    }
  });

  it('keeps signing while two percent of each segment are the same', () => {
    const odds = createDeltaOdds();
    for (let at = 0; at < 20; at += 1) {
      expect(odds.isWorthSigning()).toBe(true);
      odds.found(98, 100);
    }
  });
});
