import { posix, win32 } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkEntryPath } from './safe-path.ts';

const onLinux = (path: string) => checkEntryPath(path, { platform: 'linux' });
const onWindows = (path: string) => checkEntryPath(path, { platform: 'win32' });

describe('a path of a commit', () => {
  it.each([
    'a',
    'a/b.txt',
    'sp ace/x',
    'empty/',
    '...',
    '..a/b..',
    'a/.dray2/x',
    '.drayignore',
    '.dray2',
    '\u00e9/\u{1f600}',
    '-',
    '~/x',
  ])('"%s" is safe everywhere', (path) => {
    expect(onLinux(path)).toBeUndefined();
    if (path !== '...' && !path.includes('b..')) expect(onWindows(path)).toBeUndefined();
  });

  it.each([
    ['', 'it is empty'],
    ['/', 'it is absolute'],
    ['/etc/passwd', 'it is absolute'],
    ['..', 'it has the part ".."'],
    ['../x', 'it has the part ".."'],
    ['a/../../x', 'it has the part ".."'],
    ['a/..', 'it has the part ".."'],
    ['a/../', 'it has the part ".."'],
    ['./a', 'it has the part "."'],
    ['a//b', 'it has an empty part'],
    ['a//', 'it has an empty part'],
    ['a\0b', 'it contains a NUL character'],
    ['\ud800', 'it is not Unicode'],
    ['a/\udc00b', 'it is not Unicode'],
    ['.dray', 'it lies in the place of a workspace folder'],
    ['.dray/hooks', 'it lies in the place of a workspace folder'],
    ['.DRay/x', 'it lies in the place of a workspace folder'],
    ['.dray/', 'it lies in the place of a workspace folder'],
    ['a/.dray', 'it lies in the place of a workspace folder'],
    ['a/b/.Dray/config.json', 'it lies in the place of a workspace folder'],
    ['.d\u200cray/x', 'it lies in the place of a workspace folder'],
    ['x'.repeat(4097), 'it is longer than 4096 bytes'],
    ['\u20ac'.repeat(1366), 'it is longer than 4096 bytes'],
  ])('%j is refused everywhere', (path, reason) => {
    expect(onLinux(path)).toBe(reason);
    expect(onWindows(path)).toBe(reason);
  });

  it('can be 4096 bytes long', () => {
    expect(onLinux('x'.repeat(4096))).toBeUndefined();
    expect(onLinux(`${'\u20ac'.repeat(1365)}x`)).toBeUndefined();
  });

  it.each([
    'C:',
    'C:/x',
    'C:\\x',
    'a\\..\\..\\x',
    '\\\\server\\share',
    'a:stream',
    'NUL',
    'con.txt',
    'a/aux',
    'COM1',
    'lpt\u00b2.log',
    'nul .txt',
    'CONIN$',
    'a.',
    'a /b',
    'what?',
    'tab\there',
    'DRAY~1/x',
    '.dray./x',
    '.dray::$INDEX_ALLOCATION',
  ])('%j is refused on Windows and safe elsewhere', (path) => {
    expect(onWindows(path)).toBeTypeOf('string');
    expect(onLinux(path)).toBeUndefined();
  });

  it('ends in a slash exactly when it names a folder', () => {
    expect(checkEntryPath('a/', { kind: 'folder' })).toBeUndefined();
    expect(checkEntryPath('a', { kind: 'folder' })).toBe('it is a folder without a slash at its end');
    expect(checkEntryPath('a/', { kind: 'file' })).toBe('it is a file with a slash at its end');
    expect(checkEntryPath('a/', { kind: 'link' })).toBe('it is a link with a slash at its end');
    expect(checkEntryPath('a', { kind: 'link' })).toBeUndefined();
  });

  const part = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      '.dray',
      '.DRAY',
      'C:',
      '\\',
      '..\\..',
      'a',
      'b.c',
      'nul',
      '~',
      ' ',
      '/',
      '\0',
    ),
    fc.string({ maxLength: 6 }),
  );
  const anyPath = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));

  it('that passes never leads outside the folder, to the root or to the workspace folder', () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        for (const [platform, lib, root] of [
          ['linux', posix, '/w/s'],
          ['win32', win32, 'C:\\w\\s'],
        ] as const) {
          if (checkEntryPath(path, { platform }) !== undefined) continue;
          const full = lib.resolve(root, path);
          expect(full.startsWith(root + lib.sep)).toBe(true);
          expect(full.toLowerCase().startsWith(`${root}${lib.sep}.dray${lib.sep}`.toLowerCase())).toBe(false);
          expect(lib.relative(root, full).replaceAll(lib.sep, '/')).toBe(path.replace(/\/$/, ''));
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('that is refused on Linux is refused on Windows', () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        if (onLinux(path) !== undefined) expect(onWindows(path)).toBeDefined();
      }),
    );
  });
});
