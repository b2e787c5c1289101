import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderIdentity, identityFrom, nestingOf } from './folder-nesting.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-nesting-'));
  mkdirSync(join(root, 'photos/2024'), { recursive: true });
  mkdirSync(join(root, 'photos-2024'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Paths on a file system that ignores case. */
const folding = (path: string) =>
  folderIdentity(path.startsWith(root) ? root + path.slice(root.length).toLowerCase() : path);

describe('two folders', () => {
  it.each([
    ['photos', 'photos', 'same'],
    ['Photos', 'photos', 'same'],
    ['photos/2024', 'PHOTOS', 'firstInside'],
    ['Photos', 'photos/not/there/yet', 'secondInside'],
    ['photos', 'photos-2024', undefined],
    ['photos/2024', 'photos-2024', undefined],
    ['not/there', 'not', undefined],
  ])('%s and %s are compared by identity, not by name: %s', (first, second, nesting) => {
    expect(nestingOf(join(root, first), join(root, second), folding)).toBe(nesting);
  });

  it('are compared by name where the file system does so', () => {
    expect(nestingOf(join(root, 'photos/2024'), join(root, 'photos'))).toBe('firstInside');
    expect(nestingOf(join(root, 'photos/2024'), join(root, 'photos-2024'))).toBeUndefined();
  });
});

describe('a folder', () => {
  const identity = (path: string, ino = 5n) => identityFrom({ path, dev: 7n, ino }, 'win32');

  it('differs on Windows from the folder with the same id on an image of its disk', () => {
    expect(identity('D:\\')).not.toBe(identity('E:\\'));
    expect(identity('D:\\Photos')).not.toBe(identity('E:\\Photos'));
    expect(identity('\\\\one\\share\\Photos')).not.toBe(identity('\\\\two\\share\\Photos'));
    expect(nestingOf('D:\\Photos', 'E:\\', (path) => identity(path))).toBeUndefined();
  });

  it('is the same on Windows in any spelling', () => {
    expect(identity('d:\\photos')).toBe(identity('D:\\PHOTOS~1'));
  });

  it.each([0n, -1n, 0xffff_ffff_ffff_ffffn])('has no identity when the system reports the id %s', (ino) => {
    expect(identity('D:\\Photos', ino)).toBeUndefined();
    expect(identityFrom({ path: '/photos', dev: 7n, ino }, 'linux')).toBeUndefined();
  });
});
