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

/** As a file system has it that takes no notice of case. */
const folding = (path: string) =>
  folderIdentity(path.startsWith(root) ? root + path.slice(root.length).toLowerCase() : path);

describe('Two folders', () => {
  it.each([
    ['photos', 'photos', 'same'],
    ['Photos', 'photos', 'same'],
    ['photos/2024', 'PHOTOS', 'firstInside'],
    ['Photos', 'photos/not/there/yet', 'secondInside'],
    ['photos', 'photos-2024', undefined],
    ['photos/2024', 'photos-2024', undefined],
    ['not/there', 'not', undefined],
  ])('%s and %s are told by what they are, not by their names: %s', (first, second, nesting) => {
    expect(nestingOf(join(root, first), join(root, second), folding)).toBe(nesting);
  });

  it('are told by their names where the file system does', () => {
    expect(nestingOf(join(root, 'photos/2024'), join(root, 'photos'))).toBe('firstInside');
    expect(nestingOf(join(root, 'photos/2024'), join(root, 'photos-2024'))).toBeUndefined();
  });
});

describe('A folder', () => {
  const identity = (path: string, ino = 5n) => identityFrom({ path, dev: 7n, ino }, 'win32');

  it('is on Windows not the one of the same id on an image of its disk', () => {
    expect(identity('D:\\')).not.toBe(identity('E:\\'));
    expect(identity('D:\\Photos')).not.toBe(identity('E:\\Photos'));
    expect(identity('\\\\one\\share\\Photos')).not.toBe(identity('\\\\two\\share\\Photos'));
    expect(nestingOf('D:\\Photos', 'E:\\', (path) => identity(path))).toBeUndefined();
  });

  it('is on Windows still the same in any spelling', () => {
    expect(identity('d:\\photos')).toBe(identity('D:\\PHOTOS~1'));
  });

  it.each([0n, -1n, 0xffff_ffff_ffff_ffffn])('is like no other where the system gives the id %s', (ino) => {
    expect(identity('D:\\Photos', ino)).toBeUndefined();
    expect(identityFrom({ path: '/photos', dev: 7n, ino }, 'linux')).toBeUndefined();
  });
});
