import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FilterRule } from '../api/jobs/trees.ts';
import { createTreeFilter, parseFilterRule, readRuleLines } from './tree-filter.ts';

function takes(path: string, ...rules: readonly string[]): boolean {
  const filter = createTreeFilter({ rules: rules.map(toRule) });
  return filter.includes({ path, sizeBytes: 1, modifiedMs: 0 });
}

/** `+ pattern` or `- pattern`. */
function toRule(text: string): FilterRule {
  return { action: text.startsWith('+') ? 'include' : 'exclude', pattern: text.slice(2) };
}

describe('a list of rules', () => {
  it('is decided by the first match and includes unmatched paths', () => {
    expect(takes('a/keep.tmp', '+ keep.*', '- *.tmp')).toBe(true);
    expect(takes('a/keep.tmp', '- *.tmp', '+ keep.*')).toBe(false);
    expect(takes('a/other', '- *.tmp', '+ keep.*')).toBe(true);
    expect(takes('a/other', '+ keep.*', '- **')).toBe(false);
  });

  it('excludes a folder only when nothing in it can be included', () => {
    const mayContain = (folder: string, ...rules: readonly string[]) =>
      createTreeFilter({ rules: rules.map(toRule) }).mayContain(folder);
    expect(mayContain('cache/', '- cache/')).toBe(false);
    expect(mayContain('a/cache/', '- cache/**')).toBe(false);
    expect(mayContain('a/cache/b/', '- cache/**')).toBe(false);
    expect(mayContain('cache/', '+ *.keep', '- cache/')).toBe(true);
    expect(mayContain('cache/', '- cache/*')).toBe(true);
    expect(mayContain('other/', '- cache/')).toBe(true);
  });

  it('excludes the siblings of wanted folders', () => {
    const filter = createTreeFilter({ rules: ['+ /photos/2024/*.jpg', '- **'].map(toRule) });
    const folders = ['photos/', 'photos/2024/', 'photos/2025/', 'photos/2024/raw/', 'videos/'];
    expect(folders.filter((folder) => filter.mayContain(folder))).toEqual(['photos/', 'photos/2024/']);
  });

  it('never excludes a folder from which it includes something', () => {
    const patterns = fc.constantFrom(
      ...['*', '**', 'a', 'a/', '/a/', '/a/b/*', 'b/**', '/**/a', '/{a,b}/**', '/[^b]/*', '*a', '/?/b'],
    );
    const rules = fc.array(fc.tuple(fc.constantFrom('+', '-'), patterns), { maxLength: 5 });
    const paths = fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(rules, paths, (list, parts) => {
        const filter = createTreeFilter({
          rules: list.map(([sign, pattern]) => toRule(`${sign} ${pattern.replace(/\/$/, '/**')}`)),
        });
        if (!filter.includes({ path: parts.join('/'), sizeBytes: 1, modifiedMs: 0 })) return;
        for (let depth = 1; depth < parts.length; depth += 1)
          expect(filter.mayContain(`${parts.slice(0, depth).join('/')}/`)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('bounds of size and age', () => {
  it('are inclusive', () => {
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

describe('the age of an object', () => {
  const object = { path: 'a', kind: 'object', sizeBytes: 1, modifiedMs: 500 } as const;
  const bounds = { newerThanMs: 100, olderThanMs: 200 };

  it('is never taken from a listing, which has the upload time', () => {
    const filter = createTreeFilter(bounds);
    expect(filter.needsTime(object)).toBe(true);
    expect(() => filter.includes(object)).toThrow('has to be read');
    for (const [mtimeNs, isIn] of [
      [99_999_999n, false],
      [100_000_000n, true],
      [200_000_001n, false],
    ] as const) {
      expect(filter.needsTime({ ...object, mtimeNs })).toBe(false);
      expect(filter.includes({ ...object, mtimeNs }), String(mtimeNs)).toBe(isIn);
    }
  });

  it('is the upload time when the object has no time of its own, and where the caller wants that', () => {
    const uploaded = { newerThanMs: 500, olderThanMs: 500 };
    expect(createTreeFilter(uploaded).includes({ ...object, wasAsked: true })).toBe(true);
    const served = createTreeFilter({ ...uploaded, serverTime: true });
    expect(served.needsTime(object)).toBe(false);
    expect(served.includes({ ...object, mtimeNs: 0n })).toBe(true);
  });

  it('is not read for items excluded by name or size, for files, or without a bound of age', () => {
    const rules = [{ action: 'exclude', pattern: 'a' }] as const;
    expect(createTreeFilter({ ...bounds, rules }).needsTime(object)).toBe(false);
    expect(createTreeFilter({ ...bounds, rules }).includes(object)).toBe(false);
    expect(createTreeFilter({ ...bounds, minSizeBytes: 2 }).needsTime(object)).toBe(false);
    expect(createTreeFilter(bounds).needsTime({ ...object, kind: 'file' })).toBe(false);
    expect(createTreeFilter(bounds).needsTime({ ...object, isFile: true })).toBe(false);
    expect(createTreeFilter({ minSizeBytes: 1 }).needsTime(object)).toBe(false);
  });
});

describe('a list of files', () => {
  it('gives exactly its paths, in order and each once', () => {
    const filter = createTreeFilter({ filesFrom: ['b/c', './a', 'b-', 'a'] });
    expect(filter.paths).toEqual(['a', 'b-', 'b/c']);
    expect(filter.includes({ path: 'b', sizeBytes: 1, modifiedMs: 0 })).toBe(false);
  });

  it.each(['../a', '/a', 'a/../b', ''])('cannot name %j', (path) => {
    expect(() => createTreeFilter({ filesFrom: [path] })).toThrow('no path of the source');
  });
});

describe('a file of rules', () => {
  const linesOf = (content: string) => readRuleLines(content, 'f').map(({ text }) => text);

  it('has lines trimmed of Unicode white space', () => {
    for (let code = 0; code <= 0xffff; code += 1) {
      const character = String.fromCharCode(code);
      if (character === '\n') continue;
      const isSpace = /\p{White_Space}/u.test(character);
      if (isSpace) expect(linesOf(`a b\n${character}a${character}\n`), `${code}`).toEqual(['a b', 'a']);
      else if (code > 0x3b) expect(linesOf(character), `${code}`).toEqual(code === 0xfeff ? [] : [character]);
    }
  });

  it('allows comments and trims lines as Go does', () => {
    expect(linesOf('- a\n!\n# text\n ; text\n\n+ *.jpg\r\n \u0085-  b c\u2028\n\ufeffd')).toEqual([
      ...['- a', '!', '+ *.jpg', '-  b c', '\ufeffd'],
    ]);
    expect(linesOf('\ufeff- a')).toEqual(['- a']);
  });

  it('takes every other character of a pattern as it is', () => {
    for (const pattern of [' a', 'a\u2028b', 'a\rb', 'a\u2029', '\t'])
      expect(parseFilterRule(`- ${pattern}`, 'f')).toEqual({ action: 'exclude', pattern });
  });
});

describe('a pattern that ends in a slash', () => {
  it('excludes everything in the folder, and is refused as an include as in rclone', () => {
    expect(takes('d/a', '- d/')).toBe(false);
    expect(() => takes('d/a', '+ d/')).toThrow('write "d/**"');
  });
});

describe('a name with any kind of line break', () => {
  it.each(['\n', '\r', '\u2028', '\u2029', '\u0085'])('is matched like other names (%j)', (mark) => {
    const path = `d${mark}/a${mark}b`;
    for (const pattern of ['**', '*', 'a?b', 'a[^x]b', 'd*/**', '/**/a*b', `a${mark}b`])
      expect(takes(path, `- ${pattern}`), pattern).toBe(false);
    for (const pattern of ['a', 'b', `d${mark}`]) expect(takes(path, `- ${pattern}`), pattern).toBe(true);
  });
});
