import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countScans } from '../../base/count-scans.fixture.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { compilePathPatterns } from './path-pattern.ts';

const compile = (text: string) => {
  const patterns = compilePathPatterns([text]);
  return {
    matches: (path: string) => patterns.matchesOf(path).length > 0,
    coversFolder: (folder: string) => patterns.coveringFolder(folder).length > 0,
    reachesInto: (folder: string) => patterns.reachingInto(folder).length > 0,
  };
};
const matches = (pattern: string, path: string) => compile(pattern).matches(path);

describe('a pattern', () => {
  /**
   * The table of rclone's documentation ("Filter pattern examples"), without leading slashes of paths, and
   * more cases of our own.
   */
  it.each([
    ['*.jpg', ['file.jpg', 'dir/file.jpg', 'd/.jpg'], ['file.png', 'dir/file.png', 'a.jpg/b', 'a.JPG']],
    ['/*.jpg', ['file.jpg', 'file2.jpg'], ['file.png', 'dir/file.jpg']],
    ['*.{jpg,png}', ['file.jpg', 'dir/file.png'], ['file.gif', 'dir/file.gif']],
    ['dir/**', ['dir/anyfile', 'subdir/dir/subsubdir/anyfile'], ['file.png', 'subdir/file.png']],
    ['*.t?t', ['file.txt', 'dir/file.tzt'], ['file.qxt', 'dir/file.png']],
    ['*.[a-z]', ['file.a', 'dir/file.b'], ['file.0', 'dir/file.1']],
    ['*.\\?\\?\\?', ['file.???', 'dir/file.???'], ['file.abc', 'dir/file.def']],
    ['*.\\d\\d\\d', ['file.012', 'dir/file.345'], ['file.abc', 'dir/file.def']],
    ['file.jpg', ['file.jpg', 'directory/file.jpg'], ['afile.jpg', 'directory/afile.jpg', 'file.jpg/x']],
    ['/file.jpg', ['file.jpg'], ['afile.jpg', 'directory/file.jpg']],
    ['*\\[{JP,KR,HK}\\]*', ['a[JP]', 'd/[HK].b'], ['a[US]', 'aJP']],
    ['{dir1/**,dir2/**}', ['dir1/a', 'x/dir2/b/c'], ['dir3/a', 'dir1']],
    ['d/file', ['d/file', 'e/d/file'], ['ad/file', 'd/e/file']],
    ['d/', ['d/a', 'd/e/f', 'x/d/a'], ['d', 'ad/a']],
    ['/d/**', ['d/a', 'd/e/f'], ['x/d/a', 'd']],
    ['d/**/z', ['d/a/z', 'd/a/b/z'], ['d/z', 'd/az']],
    ['a**b', ['ab', 'a/x/b', 'x/aab'], ['ba', 'ab/c']],
    ['{a,{b,c}d}*.e', ['a.e', 'bd1.e', 'x/cd.e'], ['b.e', 'ad/x.e']],
    ['[a-c]x', ['ax', 'd/bx'], ['dx', 'abx']],
    ['[^a-c]x', ['dx', 'x/dx'], ['ax']],
    ['[[:digit:]x-]1', ['01', 'x1', '-1'], ['a1']],
    ['[\\]\\\\]1', [']1', '\\1'], ['[1']],
    ['[\\Da]1', ['a1', 'b1'], ['01']],
    ['[[:^alpha:]]1', ['01'], ['a1']],
    ['[&&~]', ['&', '~'], ['a']],
    ['a\\*b', ['a*b'], ['axb', 'a\\*b']],
    ['a.b+(c)|$^', ['a.b+(c)|$^'], ['axbb(c)', 'a.bb(c)']],
    ['\u{1f600}?', ['\u{1f600}\u{1f601}'], ['\u{1f600}']],
    ['*', ['a', 'a/b', '.h', 'a\nb'], []],
    ['/*', ['a', '.h'], ['a/b']],
    ['/', ['a', 'a/b', '.h'], []],
    ['**', ['a', 'a/b', '.h', 'a\nb'], []],
  ] as const)('%s matches what rclone lets it match', (pattern, yes, no) => {
    for (const path of yes) expect(matches(pattern, path), `${pattern} and ${path}`).toBe(true);
    for (const path of no) expect(matches(pattern, path), `${pattern} and ${path}`).toBe(false);
  });

  it.each([
    ['', 'it names nothing'],
    ['[a', 'a [ has no ]'],
    ['[a-', 'a [ has no ]'],
    ['a]', 'a ] has no ['],
    ['[]a]', 'nothing is in its [ ]'],
    ['[b-a]', 'it cannot be read'],
    ['[\\d-z]', 'goes from one character to another'],
    ['[[:vowel:]]', '[:vowel:] is not known'],
    ['{a', 'a { has no }'],
    ['a}', 'a } has no {'],
    ['a***', 'three stars'],
    ['a\\', 'nothing follows'],
    ['\\pL', '\\p is not known'],
    ['*.{{jpe?g}}', 'regular expressions'],
  ])('%s is refused, and says why', (pattern, why) => {
    expect(() => compile(pattern)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(why) }),
    );
  });

  it('covers only folders whose files it matches, and reaches every folder with a matching file', () => {
    const pieces = fc.constantFrom('a', 'b', '/', '*', '**', '?', '[^a]', '\\W', '{a,b/}', '{a,b}', '{**,b}');
    const patterns = fc
      .tuple(fc.constantFrom('', '/'), fc.array(pieces, { minLength: 1, maxLength: 6 }))
      .map(([start, body]) => start + body.join('').replace(/\*{3,}/g, '**'))
      .filter((pattern) => !/^\/?$/.test(pattern));
    const names = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 2 });
    const paths = fc.array(names, { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(patterns, paths, (text, parts) => {
        const pattern = compile(text);
        const path = parts.join('/');
        for (let depth = 1; depth < parts.length; depth += 1) {
          const folder = `${parts.slice(0, depth).join('/')}/`;
          if (pattern.matches(path)) expect(pattern.reachesInto(folder), folder).toBe(true);
          if (pattern.coversFolder(folder)) expect(pattern.matches(path), folder).toBe(true);
        }
      }),
      { numRuns: runBudget({ short: 1_000, long: 5_000 }) },
    );
  });

  it.each([
    ['/data/*.jpg', ['data/'], ['other/', 'data/sub/']],
    ['/data/**', ['data/', 'data/sub/deep/'], ['other/']],
    ['/a/?/{x,y}z/*', ['a/', 'a/b/', 'a/b/xz/'], ['a/bc/', 'a/b/z/', 'a/b/xz/c/']],
    ['/a/{b/,c}x', ['a/', 'a/b/', 'a/d/'], ['b/']],
    ['/a[^b]c/x', ['ac/', 'a/', 'a/c/'], []],
    ['*.jpg', ['data/', 'x/y/'], []],
  ] as const)('%s reaches the folders that may contain a match', (pattern, yes, no) => {
    const { reachesInto } = compile(pattern);
    for (const folder of yes) expect(reachesInto(folder), folder).toBe(true);
    for (const folder of no) expect(reachesInto(folder), folder).toBe(false);
  });

  it('takes at most twice the steps for twice the path', () => {
    const pieces = [
      'a',
      '*',
      'a*',
      '**a',
      '**/',
      'a/',
      '?',
      '[a-b]',
      '[[:alpha:]',
      '[[:a',
      '{a,b}',
      '{*a,',
      '\\d',
    ];
    for (const first of pieces)
      for (const second of pieces) {
        const pattern = (times: number) => `**${first}${second.repeat(times)}${first.repeat(times)}x`;
        const looks = (times: number, length: number) =>
          countScans(() => {
            try {
              const { matches } = compile(pattern(times));
              for (const path of ['a', 'a/', 'ab']) matches(path.repeat(length));
            } catch (error) {
              expect(error).toMatchObject({ code: 'usage' });
            }
          });
        const what = JSON.stringify([first, second]);
        expect(looks(5, 4_000), what).toBeLessThanOrEqual(2.2 * looks(5, 2_000) + 600);
        expect(looks(40, 100), what).toBeLessThanOrEqual(pattern(40).length * 'aa/ab'.length * 100);
      }
  });

  it.each(['{'.repeat(100_000), '[[:'.repeat(100_000), '*'.repeat(100_000)])(
    'is refused with a reason when it is long and invalid',
    (pattern) => {
      expect(() => compile(pattern)).toThrow(expect.objectContaining({ code: 'usage' }));
    },
  );
});
