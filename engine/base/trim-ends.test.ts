import { describe, expect, it } from 'vitest';
import { trimEnd, trimStart } from '../api/trim-ends.ts';
import { countScans } from './count-scans.fixture.ts';

describe('trimming', () => {
  it.each([
    ['', '', ''],
    ['/', '', ''],
    ['//a//b//', 'a//b//', '//a//b'],
    ['\\a\\/', 'a\\/', '\\a'],
    ['a', 'a', 'a'],
  ])('%j loses slashes at one end alone', (text, start, end) => {
    expect([trimStart(text, '/\\'), trimEnd(text, '/\\')]).toEqual([start, end]);
  });

  it('looks a fixed number of times at each character', () => {
    const text = `${'/'.repeat(20_000)}a${'/'.repeat(20_000)}a`;
    expect(countScans(() => trimStart(trimEnd(text, '/'), '/'))).toBeLessThan(4 * text.length);
  });
});
