import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { statLocal } from '../scan/local-place.ts';
import { openFileSource, readSmallFile, tokenOf } from './file-source.ts';

const CONTENT = Buffer.from(Array.from({ length: 10_000 }, (_, at) => (at * 7) % 256));
const OLD = 1_700_000_000;
const bytesMax = 20_000;
const { signal } = new AbortController();
let root: string;
let path: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-source-'));
  path = join(root, 'file');
  writeFileSync(path, CONTENT);
  utimesSync(path, OLD, OLD);
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function io(reason: string): unknown {
  return expect.objectContaining({ code: 'io', data: expect.objectContaining({ reason }) });
}

describe('reading a small file', () => {
  it('returns its bytes with a stat whose token is the tree item\u2019s', () => {
    const { bytes, stat } = readSmallFile(path, { bytesMax });
    expect(CONTENT.equals(bytes)).toBe(true);
    expect(stat.mtimeNs).toBe(BigInt(OLD) * 1_000_000_000n);
    expect(tokenOf(stat)).toBe((statLocal(root, 'file') as { token: string }).token);
  });

  it('fills the given memory, shared or not, and allocates its own when that is too small', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(20_000));
    const { bytes } = readSmallFile(path, { bytesMax, into: shared });
    expect(bytes.buffer).toBe(shared.buffer);
    expect(CONTENT.equals(bytes)).toBe(true);
    const other = readSmallFile(path, { bytesMax, into: new Uint8Array(10) });
    expect(CONTENT.equals(other.bytes)).toBe(true);
  });

  it('fails when the file has outgrown its listed size', () => {
    expect(readSmallFile(path, { bytesMax: CONTENT.length }).bytes.length).toBe(CONTENT.length);
    expect(() => readSmallFile(path, { bytesMax: CONTENT.length - 1 })).toThrow(
      io('changedWhileRead') as Error,
    );
  });

  it('reads an empty file', () => {
    writeFileSync(path, '');
    expect(readSmallFile(path, { bytesMax }).bytes.length).toBe(0);
  });

  it('has no token for a file that is as young as the read', () => {
    const soon = Date.now() / 1000 + 60;
    utimesSync(path, soon, soon);
    expect(tokenOf(readSmallFile(path, { bytesMax }).stat)).toBe('');
  });

  it('names the cause of a failed read', () => {
    symlinkSync('file', join(root, 'link'));
    mkdirSync(join(root, 'folder'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(() => readSmallFile(join(root, 'absent'), { bytesMax })).toThrow(io('vanished') as Error);
    for (const name of ['link', 'folder', 'pipe']) {
      expect(() => readSmallFile(join(root, name), { bytesMax }), name).toThrow(io('notAFile') as Error);
    }
    if (process.getuid?.() === 0) return;
    chmodSync(path, 0);
    expect(() => readSmallFile(path, { bytesMax })).toThrow(io('unreadable') as Error);
  });
});

describe('a source read by ranges', () => {
  it('returns any range in any order, several concurrently', async () => {
    const source = await openFileSource(path);
    try {
      expect(source).toMatchObject({
        name: path,
        sizeBytes: CONTENT.length,
        mtimeNs: BigInt(OLD) * 1_000_000_000n,
      });
      const ranges = [
        [9000, 1000],
        [0, 10],
        [5000, 4000],
        [10_000, 0],
      ] as const;
      const read = await Promise.all(
        ranges.map(([start, length]) => source.read(start, new Uint8Array(length), signal)),
      );
      for (const [at, [start, length]] of ranges.entries()) {
        expect(CONTENT.subarray(start, start + length).equals(read[at]!)).toBe(true);
      }
      await source.checkUnchanged();
    } finally {
      await source[Symbol.asyncDispose]();
    }
  });

  it.each([
    { what: 'was appended to', change: () => appendFileSync(path, '!') },
    { what: 'was cut', change: () => truncateSync(path, 5000) },
    {
      what: 'was written over with as many bytes and given its old time',
      change: () => {
        writeFileSync(path, CONTENT.toReversed());
        utimesSync(path, OLD, OLD);
      },
    },
    {
      what: 'was replaced by another file',
      change: () => {
        writeFileSync(join(root, 'other'), CONTENT);
        utimesSync(join(root, 'other'), OLD, OLD);
        renameSync(join(root, 'other'), path);
      },
    },
  ])('detects that the file $what', async ({ change }) => {
    // Longer than a step of the file system's clock, which change times count in.
    await new Promise((resolve) => setTimeout(resolve, 30));
    const source = await openFileSource(path);
    try {
      change();
      await expect(source.checkUnchanged()).rejects.toEqual(io('changedWhileRead'));
    } finally {
      await source[Symbol.asyncDispose]();
    }
  });

  it('fails for a range that the file no longer has', async () => {
    const source = await openFileSource(path);
    try {
      truncateSync(path, 5000);
      await expect(source.read(4000, new Uint8Array(2000), signal)).rejects.toEqual(io('changedWhileRead'));
    } finally {
      await source[Symbol.asyncDispose]();
    }
  });

  it('reads nothing after an abort', async () => {
    const source = await openFileSource(path);
    try {
      const reading = source.read(0, new Uint8Array(10), AbortSignal.abort());
      await expect(reading).rejects.toMatchObject({ code: 'aborted' });
    } finally {
      await source[Symbol.asyncDispose]();
    }
  });

  it('opens no link, folder or pipe', async () => {
    symlinkSync('file', join(root, 'link'));
    mkdirSync(join(root, 'folder'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    for (const name of ['link', 'folder', 'pipe']) {
      await expect(openFileSource(join(root, name))).rejects.toEqual(io('notAFile'));
    }
    await expect(openFileSource(join(root, 'absent'))).rejects.toEqual(io('vanished'));
  });
});
