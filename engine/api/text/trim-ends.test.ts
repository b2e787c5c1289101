import { describe, expect, it } from 'vitest';
import { countScans } from '../../base/count-scans.fixture.ts';
import { trimEnd, trimStart } from './trim-ends.ts';

describe('trimming', () => {
  it.each([
    ['', '', ''],
    ['/', '', ''],
    ['//a//b//', 'a//b//', '//a//b'],
    ['\\a\\/', 'a\\/', '\\a'],
    ['a', 'a', 'a'],
  ])('%j loses slashes at one end only', (text, start, end) => {
    expect([trimStart(text, '/\\'), trimEnd(text, '/\\')]).toEqual([start, end]);
  });

  it('reads each character a fixed number of times', () => {
    const text = `${'/'.repeat(20_000)}a${'/'.repeat(20_000)}a`;
    expect(countScans(() => trimStart(trimEnd(text, '/'), '/'))).toBeLessThan(4 * text.length);
  });
});
