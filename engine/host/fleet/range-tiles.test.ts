import { describe, expect, it } from 'vitest';
import { rangeTiles } from './range-tiles.ts';

const running = (range: number, more: object = {}) => ({
  range,
  files: 30,
  filesKnown: 120,
  isListed: true,
  failed: 0,
  workers: ['a:1'],
  ...more,
});

describe('the map of a fleet', () => {
  it('has one tile for each range, with its share and its workers', () => {
    const tiles = rangeTiles({ map: 'dfrws', running: [running(2)] });
    expect(tiles.map(({ from, share, state, to }) => [from, to, state, share])).toEqual([
      [0, 0, 'done', 1],
      [1, 1, 'failed', 1],
      [2, 2, 'running', 0.25],
      [3, 3, 'waiting', 0],
      [4, 4, 'stopped', 0],
    ]);
    expect(tiles[2]).toMatchObject({ files: 30, filesKnown: 120, isListed: true, workers: ['a:1'] });
    expect(tiles[0]).not.toHaveProperty('files');
  });

  it('joins neighbours when there are more ranges than tiles, and loses none', () => {
    const map = 'd'.repeat(5_000) + 'r'.repeat(3) + 'w'.repeat(4_997);
    const tiles = rangeTiles({
      map,
      running: [running(5_000), running(5_001, { workers: ['b:2'] }), running(5_002, { isListed: false })],
    });
    expect(tiles.length).toBeLessThanOrEqual(400);
    const counted = tiles.flatMap(({ counts }) => Object.values(counts));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(map.length);
    const joined = tiles.find(({ state }) => state === 'running')!;
    expect(joined).toMatchObject({
      from: 5_000,
      to: 5_024,
      counts: { running: 3, waiting: 22 },
      files: 90,
      isListed: false,
      workers: ['a:1', 'b:2'],
    });
    expect(joined.share).toBeCloseTo((3 * 0.25) / 25);
  });

  it('shows a failure of a range that still runs', () => {
    expect(rangeTiles({ map: 'r', running: [running(0, { failed: 2 })] })).toMatchObject([
      { state: 'failed', counts: { running: 1 }, share: 0.25 },
    ]);
  });

  it('shows no range as done while it is still listed', () => {
    const [tile] = rangeTiles({ map: 'r', running: [running(0, { files: 120, isListed: false })] });
    expect(tile!.share).toBeLessThan(1);
  });

  it('takes a range for done that has ended between two answers', () => {
    expect(rangeTiles({ map: 'd', running: [running(0)] })).toMatchObject([{ state: 'done', share: 1 }]);
    expect(rangeTiles({ map: '', running: [] })).toEqual([]);
  });
});
