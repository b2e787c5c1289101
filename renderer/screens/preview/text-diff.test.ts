import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiffRow, diffLines, foldSame } from './text-diff.ts';

const texts = fc
  .array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 30 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''));

function side(rows: readonly DiffRow[], which: 'left' | 'right'): string {
  return rows.flatMap((row) => (row[which] ? [`${row[which].text}\n`] : [])).join('');
}

describe('the difference of two texts', () => {
  it('holds both texts in full, and marks only equal lines as equal', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const rows = diffLines(before, after);
        expect(side(rows, 'left')).toBe(before);
        expect(side(rows, 'right')).toBe(after);
        for (const row of rows)
          expect(row.is === 'same').toBe(row.left !== undefined && row.left.text === row.right?.text);
      }),
    );
  });

  it('finds as many equal lines as the longest common subsequence has', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const same = diffLines(before, after).filter(({ is }) => is === 'same').length;
        expect(same).toBeGreaterThanOrEqual(commonLength(before.split('\n'), after.split('\n')) - 1);
      }),
    );
  });

  it('quickly shows texts that have little in common as replaced', () => {
    const many = (word: string) => Array.from({ length: 5_000 }, (_, line) => `${word} ${line}`).join('\n');
    const rows = diffLines(many('old'), many('new'));
    expect(rows).toHaveLength(5_000);
    expect(rows.every(({ is }) => is === 'changed')).toBe(true);
  });

  it('folds lines that are far from every difference', () => {
    const lines = Array.from({ length: 100 }, (_, line) => `line ${line}`);
    const rows = diffLines(lines.join('\n'), lines.with(50, 'another').join('\n'));
    const shown = foldSame(rows);
    expect(shown).toHaveLength(9);
    expect(shown[0]).toEqual({ folded: 47 });
    expect(shown.at(-1)).toEqual({ folded: 46 });
  });
});

function commonLength(left: readonly string[], right: readonly string[]): number {
  const table = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  for (let l = 1; l <= left.length; l += 1)
    for (let r = 1; r <= right.length; r += 1)
      table[l]![r] =
        left[l - 1] === right[r - 1]
          ? table[l - 1]![r - 1]! + 1
          : Math.max(table[l - 1]![r]!, table[l]![r - 1]!);
  return table[left.length]![right.length]!;
}
