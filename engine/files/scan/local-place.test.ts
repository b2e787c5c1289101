import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exactMtimeNs, localPlaceKind, readLink, statLocal, touchLocal } from './local-place.ts';

const MTIME_NS = 1_712_345_678_123_456_789n;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-local-place-'));
  mkdirSync(join(root, 'folder'));
  writeFileSync(join(root, 'folder/file'), 'content');
  symlinkSync('folder', join(root, 'to-folder'));
  symlinkSync('folder/file', join(root, 'to-file'));
  symlinkSync('nowhere', join(root, 'dangling'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe('the item at a path of a tree', () => {
  it('is a file, a folder, something else, or nothing', () => {
    expect(statLocal(root, 'folder/file')).toMatchObject({ path: 'folder/file', kind: 'file', sizeBytes: 7 });
    expect(statLocal(root, 'folder')).toBe('folder');
    expect(statLocal(root, 'pipe')).toBe('other');
    expect(statLocal(root, 'absent')).toBeUndefined();
    expect(statLocal(root, 'absent/file')).toBeUndefined();
    expect(statLocal(root, 'folder/file/below')).toBeUndefined();
  });

  it('is nothing for an impossible name', () => {
    expect(statLocal(root, 'n'.repeat(1024))).toBeUndefined();
    expect(statLocal(root, 'a\0b')).toBeUndefined();
  });

  it('is never reached through a link', () => {
    expect(statLocal(root, 'to-file')).toBe('other');
    expect(statLocal(root, 'to-folder/file')).toBe('other');
    expect(statLocal(root, 'to-folder/absent')).toBe('other');
  });

  it('is a link with the size of its target when links are requested', () => {
    expect(statLocal(root, 'to-file', { links: true })).toMatchObject({ sizeBytes: 'folder/file'.length });
    expect(Buffer.from(readLink(join(root, 'to-file'))).toString()).toBe('folder/file');
    expect(() => readLink(join(root, 'folder/file'))).toThrow(expect.objectContaining({ code: 'io' }));
  });
});

describe("the user's own path", () => {
  it.each([
    ['folder', 'folder'],
    ['folder/file', 'file'],
    ['to-folder', 'folder'],
    ['absent', 'absent'],
    ['folder/file/below', 'absent'],
    ['pipe', 'other'],
    ['dangling', 'other'],
  ])('%s leads to: %s', (path, kind) => {
    expect(localPlaceKind(join(root, path))).toBe(kind);
  });
});

describe('setting a time', () => {
  it('is exact to the nanosecond and returns the stat of a later scan', async () => {
    const { stat } = await touchLocal(root, 'folder/file', { mtimeNs: MTIME_NS });
    const { ctimeMs, ino, mtimeMs, size } = lstatSync(join(root, 'folder/file'));
    expect(stat).toEqual({ sizeBytes: size, mtimeMs, ctimeMs, inode: ino });
    const found = exactMtimeNs(join(root, 'folder/file'));
    // Without the C library, Node's own call rounds to less than a microsecond.
    expect(Number(found! - MTIME_NS)).toBeLessThan(1000);
  });

  it('follows no link and changes only files', async () => {
    utimesSync(join(root, 'folder/file'), 1, 1);
    for (const path of ['to-folder/file', 'pipe', 'folder']) {
      await expect(touchLocal(root, path, { mtimeNs: MTIME_NS })).rejects.toMatchObject({
        code: 'unsafePath',
      });
    }
    await expect(touchLocal(root, 'to-file', { mtimeNs: MTIME_NS })).rejects.toMatchObject({ code: 'io' });
    await expect(touchLocal(root, 'absent', { mtimeNs: MTIME_NS })).rejects.toMatchObject({ code: 'io' });
    expect(exactMtimeNs(join(root, 'folder/file'))).toBe(1_000_000_000n);
  });

  it('returns nothing for a deleted file', () => {
    expect(exactMtimeNs(join(root, 'absent'))).toBeUndefined();
    expect(exactMtimeNs(join(root, 'folder/file/below'))).toBeUndefined();
  });
});
