import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolders } from './make-folders.ts';

describe('makeFolders', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dray-make-folders-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const code = (path: string) => {
    try {
      return makeFolders(path);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  };

  it('makes a folder with those above it, and says whether it was there', () => {
    const deep = join(folder, 'a/b/c');
    expect([makeFolders(deep, 0o700), makeFolders(deep), makeFolders(`${deep}/`)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([deep, join(folder, 'a')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    symlinkSync(deep, join(folder, 'link'));
    expect(makeFolders(join(folder, 'link'))).toBe(false);
  });

  it('gives the error of the system if a file or a link to nothing is in the way', () => {
    writeFileSync(join(folder, 'file'), '');
    symlinkSync('nothing', join(folder, 'broken'));
    expect(code(join(folder, 'file'))).toBe('EEXIST');
    expect(code(join(folder, 'broken'))).toBe('EEXIST');
    expect(['ENOTDIR', 'EEXIST']).toContain(code(join(folder, 'file/below')));
    expect(['ENOENT', 'EEXIST']).toContain(code(join(folder, 'broken/below')));
  });

  it.skipIf(!existsSync('/proc/self'))(
    'ends where a folder cannot be made although its parent exists',
    () => {
      expect([code('/proc/dray'), code('/proc/dray/below/that')]).toEqual(['ENOENT', 'ENOENT']);
    },
  );
});
