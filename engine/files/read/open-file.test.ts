import { appendFileSync, closeSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkUnchanged, describeFailure, isRacy, openFile } from './open-file.ts';

const NOW_MS = 1_750_000_000_400;

describe('isRacy', () => {
  it('is true within two steps of the file system clock and for the future', () => {
    expect(isRacy(NOW_MS - 1.5, NOW_MS)).toBe(true);
    expect(isRacy(NOW_MS - 19.5, NOW_MS)).toBe(true);
    expect(isRacy(NOW_MS + 60_000.5, NOW_MS)).toBe(true);
    expect(isRacy(NOW_MS - 20.5, NOW_MS)).toBe(false);
  });

  it('is true for two seconds for times of whole seconds', () => {
    expect(isRacy(NOW_MS - 400, NOW_MS)).toBe(true);
    expect(isRacy(NOW_MS - 1400, NOW_MS)).toBe(true);
    expect(isRacy(NOW_MS - 2400, NOW_MS)).toBe(false);
  });
});

describe('checkUnchanged', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'dray-open-'));
    writeFileSync(join(root, 'file'), 'before');
    utimesSync(join(root, 'file'), 1_700_000_000, 1_700_000_000);
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it.each([
    { what: 'grew', change: (path: string) => appendFileSync(path, '!') },
    { what: 'was written over with as many bytes', change: (path: string) => writeFileSync(path, 'behind') },
    {
      what: 'was written over and given its old mtime',
      change: (path: string) => {
        writeFileSync(path, 'behind');
        utimesSync(path, 1_700_000_000, 1_700_000_000);
      },
    },
  ])('detects a file that $what', async ({ change }) => {
    // Longer than a step of the file system's clock; within it, `isRacy` protects.
    await new Promise((resolve) => setTimeout(resolve, 30));
    const file = openFile(join(root, 'file'));
    try {
      expect(() => checkUnchanged(file, 6)).not.toThrow();
      change(join(root, 'file'));
      expect(() => checkUnchanged(file, 6)).toThrow('changedWhileRead');
    } finally {
      closeSync(file.descriptor);
    }
  });

  it('detects that fewer bytes were read than the file has', () => {
    const file = openFile(join(root, 'file'));
    try {
      expect(() => checkUnchanged(file, 5)).toThrow('wrongSize');
    } finally {
      closeSync(file.descriptor);
    }
  });
});

describe('describeFailure', () => {
  it.each([
    ['ENOENT', 'vanished'],
    ['ENOTDIR', 'vanished'],
    ['EACCES', 'unreadable'],
    ['EPERM', 'unreadable'],
    ['ELOOP', 'notAFile'],
    ['ENXIO', 'notAFile'],
  ])('reports %s as %s', (errno, reason) => {
    const record = describeFailure('a/b', Object.assign(new Error('no'), { code: errno }));
    expect(record).toMatchObject({ code: 'io', retry: 'no', data: { path: 'a/b', reason } });
    expect(record.message).toContain('a/b');
  });

  it('keeps the code of an unknown error', () => {
    const record = describeFailure('a', Object.assign(new Error('no'), { code: 'EIO' }));
    expect(record).toMatchObject({ data: { reason: 'failed', errno: 'EIO' } });
  });
});
