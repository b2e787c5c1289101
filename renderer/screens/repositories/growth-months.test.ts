import { describe, expect, it } from 'vitest';
import { fillMonths } from './growth-months.ts';

const at = (month: string, bytes: number) => ({ month, bytes, files: 1, commits: 2 });

describe('the months of a growth plot', () => {
  it('have no gaps and end with the current month', () => {
    const months = fillMonths([at('2025-11', 5), at('2026-01', 9)], Date.UTC(2026, 2, 3));
    expect(months.map(({ month, bytes, commits }) => [month, bytes, commits])).toEqual([
      ['2025-11', 5, 2],
      ['2025-12', 5, 0],
      ['2026-01', 9, 2],
      ['2026-02', 9, 0],
      ['2026-03', 9, 0],
    ]);
  });

  it('are the last three years of an old repository, and none of an empty one', () => {
    expect(fillMonths([], 0)).toEqual([]);
    const months = fillMonths([at('1970-01', 1)], Date.UTC(2026, 2, 3));
    expect(months.length).toBe(36);
    expect(months[0]!.month).toBe('2023-04');
  });
});
