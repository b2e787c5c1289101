import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaths } from '../../model/entry.ts';
import { beforePath, beforePathFrom } from './before-path.ts';

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }).filter((path) => path.isWellFormed());
const HIGHEST = '\u{10ffff}';

describe('the string before a path', () => {
  it('sorts before it, with only strings of the same prefix between', () => {
    fc.assert(
      fc.property(text, text, (path, other) => {
        const before = beforePath(path);
        expect(comparePaths(before, path)).toBeLessThan(0);
        const isBetween = comparePaths(before, other) < 0 && comparePaths(other, path) < 0;
        if (isBetween) expect(other.startsWith(before)).toBe(true);
      }),
      { numRuns: 2_000, seed: 3 },
    );
  });

  it('is well-formed at the limits of Unicode, and no longer than a long path', () => {
    expect(beforePath('a0')).toBe(`a/${HIGHEST}`);
    expect(beforePath('\0')).toBe('');
    expect(beforePath('\ue000')).toBe(`\ud7ff${HIGHEST}`);
    expect(beforePath('\u{10000}')).toBe(`\uffff${HIGHEST}`);
    expect(beforePath('a\u{1f601}')).toBe(`a\u{1f600}${HIGHEST}`);
    const long = `${'\u00e9'.repeat(511)}z`;
    expect(beforePath(long)).toBe(`${'\u00e9'.repeat(511)}y`);
  });

  it('does not go back before the given string', () => {
    expect(beforePathFrom('b', 'a')).toBe(`a${HIGHEST}`);
    expect(beforePathFrom('b', `a${HIGHEST}x`)).toBe(`a${HIGHEST}x`);
  });
});
