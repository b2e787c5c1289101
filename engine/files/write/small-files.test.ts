import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlobHash } from '../../model/entry.ts';
import { createDiskRefusals } from '../disk/disk-refusals.ts';
import { writeSmallFile } from './small-files.ts';
import { openWriteThread, type WriteThread } from './writer-thread.ts';

const CONTENT = Buffer.from('new');
const MTIME_NS = 1_712_345_678_123_456_789n;

describe.each(['without a name', 'with a name'])('a small file whose temporary file is one %s', (variant) => {
  let root: string;
  let thread: WriteThread;
  beforeEach(async () => {
    root = mkdtempSync(`${tmpdir()}/dray-small-`);
    mkdirSync(`${root}/tmp`);
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const refusals = createDiskRefusals();
    const temporaryPrefix = `${root}/tmp/t`;
    thread = await openWriteThread({ root, isWatchful: false, temporaryPrefix, stop, refusals });
    expect(readdirSync(`${root}/tmp`)).toEqual([]);
    if (variant === 'with a name') thread = { ...thread, nameless: undefined };
    // Every Linux file system that the tests run on supports them.
    else if (process.platform === 'linux') expect(thread.nameless).toBeDefined();
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, executable = false) {
    const blob = createHash('sha256').update(CONTENT).digest('hex') as BlobHash;
    const item = { path, sizeBytes: CONTENT.length, offset: 0, mtimeNs: MTIME_NS, executable, blob };
    return writeSmallFile(thread, item, CONTENT);
  }

  it('is created with its time and mode', () => {
    expect(write('file', true)).toHaveProperty('stat');
    const stat = lstatSync(`${root}/file`, { bigint: true });
    expect(stat.mode & 0o777n).toBe(0o777n & ~BigInt(process.umask()));
    expect(stat.mtimeNs).toBe(MTIME_NS);
    expect(stat.nlink).toBe(1n);
    expect(readdirSync(`${root}/tmp`)).toEqual([]);
  });

  it('replaces a file or a link without writing into it', () => {
    writeFileSync(`${root}/other`, 'other');
    const old = lstatSync(`${root}/other`).ino;
    symlinkSync('other', `${root}/link`);
    expect(write('link')).toHaveProperty('stat');
    expect(lstatSync(`${root}/link`).isFile()).toBe(true);
    expect(readFileSync(`${root}/other`, 'utf8')).toBe('other');
    expect(write('other')).toHaveProperty('stat');
    expect(readFileSync(`${root}/other`, 'utf8')).toBe('new');
    expect(lstatSync(`${root}/other`).ino).not.toBe(old);
    expect(readdirSync(`${root}/tmp`)).toEqual([]);
  });

  it('waits for a decision when a folder is in the way', () => {
    mkdirSync(`${root}/folder`);
    const outcome = write('folder');
    expect(outcome).toEqual({ folderInTheWay: `${root}/tmp/${readdirSync(`${root}/tmp`)[0]}` });
  });

  it('reports the cause and leaves nothing when it cannot be created', () => {
    expect(write('absent/file')).toMatchObject({ error: { code: 'io', data: { errno: 'ENOENT' } } });
    writeFileSync(`${root}/file`, '');
    expect(write('file/below')).toMatchObject({ error: { code: 'io', data: { errno: 'ENOTDIR' } } });
    expect(write('n'.repeat(300))).toMatchObject({
      error: { code: 'unsafePath', data: { errno: 'ENAMETOOLONG' } },
    });
    expect(readdirSync(`${root}/tmp`)).toEqual([]);
  });
});
