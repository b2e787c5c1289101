import { describe, expect, it } from 'vitest';
import type { FleetTile } from '../../../engine/api/host/fleet.ts';
import { findingWords, fractionOf, rangeCounts, stateWords, tileWords } from './fleet-words.ts';

const tile = (more: Partial<FleetTile>): FleetTile => ({
  from: 2,
  to: 2,
  state: 'running',
  counts: { running: 1 },
  share: 0.5,
  workers: [],
  ...more,
});

describe('the words of a range', () => {
  it('name its state, its files and its workers', () => {
    const words = tileWords(tile({ files: 5, filesKnown: 1000, isListed: false, workers: ['a:1', 'b:2'] }));
    expect(words).toBe('Range 3: running, 5 of at least 1,000 files, on a:1 and b:2');
    expect(tileWords(tile({ state: 'failed', counts: { failed: 1 } }))).toBe('Range 3: with failures');
  });

  it('count the states of ranges that share a tile', () => {
    const joined = tile({ to: 11, counts: { waiting: 4, running: 1, done: 5 } });
    expect(tileWords(joined)).toBe('Ranges 3 to 12: 5 done, 1 running, 4 waiting');
  });
});

describe('the sums of a job', () => {
  it('count ranges by state, and leave out states that no range has', () => {
    const tiles = [tile({ counts: { done: 3, waiting: 1 } }), tile({ counts: { done: 1 } })];
    expect(rangeCounts(tiles)).toEqual([
      ['done', 4],
      ['waiting', 1],
    ]);
  });

  it('are not shown as done if it found something', () => {
    expect(stateWords({ kind: 'check', state: 'done' })).toEqual(['added', 'Done']);
    expect(stateWords({ kind: 'check', state: 'found' })).toEqual(['deleted', 'Differences found']);
    expect(stateWords({ kind: 'verify', state: 'found' })).toEqual(['deleted', 'Damage found']);
  });

  it('say what a check found', () => {
    expect(findingWords({ findings: { onlyInSource: 1, differing: 2000 } })).toBe(
      '2,000 differ, 1 only in the source',
    );
    expect(findingWords({ findings: {} })).toBe('');
  });

  it('have no fraction before the whole source is listed', () => {
    const progress = { bytesDone: 5, bytesKnown: 10, filesDone: 1, filesKnown: 4, isListed: false };
    const of = (more: object) => fractionOf({ ...progress, ...more } as Parameters<typeof fractionOf>[0]);
    expect(of({})).toBeUndefined();
    expect(of({ isListed: true })).toBe(0.5);
    expect(of({ isListed: true, bytesKnown: 0 })).toBe(0.25);
    expect(of({ isListed: true, bytesKnown: 0, filesKnown: 0 })).toBe(1);
  });
});
