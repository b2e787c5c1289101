import { describe, expect, it } from 'vitest';
import { comparePaths } from './entry.ts';
import { checkScopePatterns, compileScope } from './scope.ts';

describe('A scope', () => {
  it.each([
    // pattern, inside, outside
    ['train', ['train', 'train/', 'train/a', 'train/b/c'], ['a/train', 'train2', 'train-x/a', 'trai']],
    ['train/', ['train/a', 'train/'], ['train', 'a/train/b']],
    ['/a/b', ['a/b', 'a/b/c'], ['a/', 'a/c', 'x/a/b']],
    ['./a/b/', ['a/b/c'], ['a/b', 'a/']],
    ['*.csv', ['x.csv', 'a/x.csv', 'a/x.csv/part-0', 'a/x.csv/'], ['x.csv2', 'a/', 'a/x']],
    ['/*.csv', ['x.csv', 'x.csv/part'], ['a/x.csv']],
    ['a/*/labels', ['a/1/labels', 'a/1/labels/x', 'a/1/labels/'], ['a/1/', 'a/1/images/x', 'b/a/1/labels']],
    ['a/**/*.png', ['a/b/c.png', 'a/b/c/d.png'], ['a/', 'b/c.png']],
    ['a/{b,c}/', ['a/b/x', 'a/c/'], ['a/d/x', 'a/b']],
    ['a\\*b', ['a*b', 'a*b/c'], ['aXb']],
    ['a/b', ['.drayignore', 'a/.drayignore', 'a/b/.drayignore'], ['c/.drayignore', 'a/c/.drayignore']],
    ['*.csv', ['.drayignore', 'c/.drayignore'], ['c/x.drayignore']],
  ] as const)('of %s holds what it names', (pattern, inside, outside) => {
    const scope = compileScope([pattern]);
    for (const path of inside) expect(scope.holds(path), path).toBe(true);
    for (const path of outside) expect(scope.holds(path), path).toBe(false);
    for (const path of inside) expect(scope.reachesBetween(path, path), path).toBe(true);
  });

  it('passes over stretches of paths that hold nothing of it', () => {
    const scope = compileScope(['a/m/', 'z*']);
    const reaches = (first: string, last: string) => scope.reachesBetween(first, last);
    expect(reaches('a/n', 'b/c')).toBe(true);
    const rooted = compileScope(['a/m/', '/z*']);
    expect(rooted.reachesBetween('a/n', 'b/c')).toBe(false);
    expect(rooted.reachesBetween('a/b', 'a/c')).toBe(false);
    expect(rooted.reachesBetween('a/m/1', 'a/m/2')).toBe(true);
    expect(rooted.reachesBetween('a/b', 'a/n')).toBe(true);
    expect(rooted.reachesBetween('x', 'za')).toBe(true);
    expect(rooted.reachesBetween('za', 'zb')).toBe(true);
    expect(rooted.reachesInto('a/')).toBe(true);
    expect(rooted.reachesInto('b/')).toBe(false);
  });

  it('never passes over a path that it holds', () => {
    const names = ['a', 'b', 'a.csv', '.drayignore', 'a-b'];
    const paths = names.flatMap((one) => [
      one,
      ...names.flatMap((two) => [`${one}/${two}`, `${one}/${two}/a`]),
    ]);
    paths.sort(comparePaths);
    for (const pattern of [
      'a',
      'a/',
      'a/b',
      '*.csv',
      'a/*.csv',
      'a*',
      '/*/a',
      '**/b',
      'a-b/a/',
      '?/.drayignore',
    ]) {
      const scope = compileScope([pattern]);
      for (const [at, path] of paths.entries()) {
        if (!scope.holds(path)) continue;
        const first = paths[Math.max(0, at - 3)]!;
        const last = paths[Math.min(paths.length - 1, at + 3)]!;
        expect(scope.reachesBetween(first, last), `${pattern}: ${path}`).toBe(true);
        for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1))
          expect(scope.reachesInto(path.slice(0, end + 1)), `${pattern}: ${path}`).toBe(true);
      }
    }
  });

  it.each(['', '/', '.', '../a', 'a/../b', 'a//b', 'a[', '{{a}}', 'a/./b'])('refuses "%s"', (pattern) => {
    expect(() => checkScopePatterns([pattern])).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('refuses more than a thousand patterns', () => {
    const many = Array.from({ length: 1_001 }, (_, at) => `f${at}`);
    expect(() => checkScopePatterns(many)).toThrow(/1000 patterns/);
    expect(() => checkScopePatterns(many.slice(1))).not.toThrow();
  });
});
