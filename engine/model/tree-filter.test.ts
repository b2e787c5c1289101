import { describe, expect, it } from 'vitest';
import type { FilterRule } from '../api/trees.ts';
import { createTreeFilter, parseFilterFile } from './tree-filter.ts';

function takes(path: string, ...rules: readonly string[]): boolean {
  const filter = createTreeFilter({ rules: rules.map(toRule) });
  return filter.includes({ path, sizeBytes: 1, modifiedMs: 0 });
}

/** `+ pattern` or `- pattern`. */
function toRule(text: string): FilterRule {
  return { action: text.startsWith('+') ? 'include' : 'exclude', pattern: text.slice(2) };
}

/** As rclone's own answers were when they were compared on random rules and names. */
describe('a pattern', () => {
  it.each([
    ['*.jpg', ['a.jpg', 'd/a.jpg', 'd/.jpg'], ['a.jpg/b', 'a.jpeg', 'a.JPG']],
    ['/*.jpg', ['a.jpg'], ['d/a.jpg']],
    ['file', ['file', 'd/file'], ['afile', 'file2', 'file/x']],
    ['d/file', ['d/file', 'e/d/file'], ['ad/file', 'd/e/file']],
    ['d/', ['d/a', 'd/e/f', 'x/d/a'], ['d', 'ad/a']],
    ['/d/**', ['d/a', 'd/e/f'], ['x/d/a', 'd']],
    ['d/**/z', ['d/a/z', 'd/a/b/z'], ['d/z', 'd/az']],
    ['?.txt', ['a.txt', 'd/b.txt'], ['ab.txt', '.txt']],
    ['{a,b}*.c', ['a.c', 'bcd.c', 'x/b.c'], ['c.c', 'a/c.c']],
    ['[a-c]x', ['ax', 'd/bx'], ['dx', 'abx']],
    ['[^a-c]x', ['dx'], ['ax']],
    ['a\\*b', ['a*b'], ['axb', 'a\\*b']],
    ['a.b+(c)', ['a.b+(c)'], ['axbb(c)', 'a.bb(c)']],
    ['**', ['a', 'a/b', '.h'], []],
    ['*', ['a', 'a/b', '.h'], []],
  ] as const)('%s matches what rclone lets it match', (pattern, yes, no) => {
    for (const path of yes) expect(takes(path, `- ${pattern}`), `${pattern} and ${path}`).toBe(false);
    for (const path of no) expect(takes(path, `- ${pattern}`), `${pattern} and ${path}`).toBe(true);
  });

  it.each([
    ['', 'it names nothing'],
    ['[a', 'no ]'],
    ['{a', 'no }'],
    ['a}', 'no {'],
    ['{a,{b}}', 'alternatives in alternatives'],
    ['a***', 'three stars'],
    ['a\\', 'nothing follows'],
    ['{{.*}}', 'regular expressions'],
  ])('%s is refused, and says why', (pattern, why) => {
    expect(() => createTreeFilter({ rules: [{ action: 'include', pattern }] })).toThrow(why);
  });
});

describe('a list of rules', () => {
  it('is decided by the first that matches, and takes what none matches', () => {
    expect(takes('a/keep.tmp', '+ keep.*', '- *.tmp')).toBe(true);
    expect(takes('a/keep.tmp', '- *.tmp', '+ keep.*')).toBe(false);
    expect(takes('a/other', '- *.tmp', '+ keep.*')).toBe(true);
    expect(takes('a/other', '+ keep.*', '- **')).toBe(false);
  });

  it('shuts a folder only when nothing in it can be taken', () => {
    const mayContain = (folder: string, ...rules: readonly string[]) =>
      createTreeFilter({ rules: rules.map(toRule) }).mayContain(folder);
    expect(mayContain('cache/', '- cache/')).toBe(false);
    expect(mayContain('a/cache/', '- cache/**')).toBe(false);
    expect(mayContain('a/cache/b/', '- cache/**')).toBe(false);
    expect(mayContain('cache/', '+ *.keep', '- cache/')).toBe(true);
    expect(mayContain('cache/', '- cache/*')).toBe(true);
    expect(mayContain('other/', '- cache/')).toBe(true);
  });
});

describe('bounds of size and age', () => {
  it('include what lies on them', () => {
    const filter = createTreeFilter({
      minSizeBytes: 10,
      maxSizeBytes: 20,
      newerThanMs: 100,
      olderThanMs: 200,
    });
    const includes = (sizeBytes: number, modifiedMs: number) =>
      filter.includes({ path: 'a', sizeBytes, modifiedMs });
    expect([includes(10, 100), includes(20, 200)]).toEqual([true, true]);
    expect([includes(9, 150), includes(21, 150), includes(15, 99), includes(15, 201)]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(filter.isOpen).toBe(false);
    expect(createTreeFilter({}).isOpen).toBe(true);
  });
});

describe('a list of files', () => {
  it('is the only paths there are, in order and once', () => {
    const filter = createTreeFilter({ filesFrom: ['b/c', './a', 'b-', 'a'] });
    expect(filter.paths).toEqual(['a', 'b-', 'b/c']);
    expect(filter.includes({ path: 'b', sizeBytes: 1, modifiedMs: 0 })).toBe(false);
  });

  it.each(['../a', '/a', 'a/../b', ''])('cannot name %j', (path) => {
    expect(() => createTreeFilter({ filesFrom: [path] })).toThrow('no path of the source');
  });
});

describe('a file of rules', () => {
  it('has rules, comments, and a ! that forgets what came before', () => {
    expect(parseFilterFile('- a\n!\n# text\n; text\n\n+ *.jpg\r\n-  b c\n')).toEqual([
      { action: 'include', pattern: '*.jpg' },
      { action: 'exclude', pattern: 'b c' },
    ]);
  });

  it('names the line that is no rule', () => {
    expect(() => parseFilterFile('+ a\n*.jpg')).toThrow('Line 2');
  });
});
