import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exactMtimeNs, statLocal, touchLocal } from '../scan/local-place.ts';
import { copyLocalFile, type LocalCopied } from './copy-local-file.ts';

const MTIME_NS = 1_712_345_678_123_456_000n;
let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'dray-local-copy-'));
  for (const folder of ['from', 'to', 'temporary']) mkdirSync(join(base, folder));
  writeFileSync(join(base, 'from/file'), 'new');
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

function copy(signal = new AbortController().signal): Promise<LocalCopied> {
  return copyLocalFile({
    from: join(base, 'from/file'),
    to: join(base, 'to/file'),
    temporary: join(base, 'temporary/1'),
    signal,
  });
}

const read = (path: string) => readFileSync(join(base, path), 'utf8');

describe('a copy on this machine', () => {
  it('has the content, the time to the nanosecond and the tokens of both', async () => {
    await touchLocal(join(base, 'from'), 'file', { mtimeNs: MTIME_NS });
    const copied = await copy();
    expect(read('to/file')).toBe('new');
    expect(exactMtimeNs(join(base, 'to/file'))).toBe(exactMtimeNs(join(base, 'from/file')));
    expect(copied.sizeBytes).toBe(3);
    expect(copied.sourceToken).toBe((statLocal(join(base, 'from'), 'file') as { token: string }).token);
    const { ctimeMs, ino, mtimeMs, size } = lstatSync(join(base, 'to/file'));
    expect(copied.stat).toEqual({ sizeBytes: size, mtimeMs, ctimeMs, inode: ino });
    expect(readdirSync(join(base, 'temporary'))).toEqual([]);
  });

  it.each([0o400, 0o500, 0o600, 0o640, 0o666, 0o777])(
    'keeps the permissions of its source: %o',
    async (mode) => {
      chmodSync(join(base, 'from/file'), mode);
      await copy();
      expect(lstatSync(join(base, 'to/file')).mode & 0o7777).toBe(mode);
    },
  );

  it('replaces a file, and a link without touching what it leads to', async () => {
    writeFileSync(join(base, 'to/file'), 'old');
    await copy();
    expect(read('to/file')).toBe('new');
    rmSync(join(base, 'to/file'));
    writeFileSync(join(base, 'victim'), 'kept');
    symlinkSync('../victim', join(base, 'to/file'));
    await copy();
    expect(lstatSync(join(base, 'to/file')).isFile()).toBe(true);
    expect(read('victim')).toBe('kept');
  });

  it('replaces an empty folder, and leaves one that holds something as it is', async () => {
    mkdirSync(join(base, 'to/file'));
    await copy();
    expect(read('to/file')).toBe('new');
    rmSync(join(base, 'to/file'));
    mkdirSync(join(base, 'to/file/inside'), { recursive: true });
    await expect(copy()).rejects.toMatchObject({ code: 'conflict' });
    expect(lstatSync(join(base, 'to/file')).isDirectory()).toBe(true);
    expect(readdirSync(join(base, 'temporary'))).toEqual([]);
  });

  it('follows no link at the source', async () => {
    rmSync(join(base, 'from/file'));
    symlinkSync('../base', join(base, 'from/file'));
    await expect(copy()).rejects.toMatchObject({ code: 'io', data: { reason: 'notAFile' } });
  });

  it('of a large file goes block by block, and stops between two', async () => {
    const sizeBytes = 40 * 1024 * 1024;
    truncateSync(join(base, 'from/file'), sizeBytes);
    const file = openSync(join(base, 'from/file'), 'r+');
    for (const at of [4 * 1024 * 1024 - 2, sizeBytes - 4]) writeSync(file, 'mark', at);
    closeSync(file);
    utimesSync(join(base, 'from/file'), 1, 1);
    await copy();
    expect(readFileSync(join(base, 'to/file')).equals(readFileSync(join(base, 'from/file')))).toBe(true);
    rmSync(join(base, 'to/file'));
    const stop = new AbortController();
    const copying = copy(stop.signal);
    setImmediate(() => stop.abort());
    await expect(copying).rejects.toMatchObject({ code: 'aborted' });
    expect(readdirSync(join(base, 'to'))).toEqual([]);
    expect(readdirSync(join(base, 'temporary'))).toEqual([]);
  });

  it.each([
    ['cut short', 1000],
    ['made longer', 50 * 1024 * 1024],
  ])('of a source that is %s meanwhile is not put in place', async (_, sizeBytes) => {
    truncateSync(join(base, 'from/file'), 40 * 1024 * 1024);
    const copying = copy();
    // Under way in other threads by then, or not yet begun: it is refused in either case.
    setImmediate(() => truncateSync(join(base, 'from/file'), sizeBytes));
    await expect(copying).rejects.toMatchObject({ code: 'io', data: { reason: 'changedWhileRead' } });
    expect(readdirSync(join(base, 'to'))).toEqual([]);
    expect(readdirSync(join(base, 'temporary'))).toEqual([]);
  });
});
