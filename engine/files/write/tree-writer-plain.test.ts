import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTreeWriter } from './tree-writer.ts';
import type { PackedFile, TreeWriter } from './tree-writer-types.ts';

const MTIME_NS = 1_712_345_678_123_456_789n;
let base: string;
let root: string;
let temporaryFolder: string;
const writers: TreeWriter[] = [];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'dray-plain-writer-'));
  root = join(base, 'root');
  mkdirSync(root);
  temporaryFolder = join(root, '.dray-tmp');
});
afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.close();
  rmSync(base, { recursive: true });
});

function open(threads = 0): TreeWriter {
  const signal = new AbortController().signal;
  const writer = openTreeWriter({ root, temporaryFolder, isTemporaryFolderOwn: true, threads, signal });
  writers.push(writer);
  return writer;
}

function meta(path: string, sizeBytes: number) {
  return { path, sizeBytes, mtimeNs: MTIME_NS, executable: false };
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('files whose bytes the caller has verified', () => {
  it.each([0, 1])('are written unchanged, by %i threads', async (threads) => {
    const writer = open(threads);
    const items: PackedFile[] = [
      { ...meta('a', 3), offset: 0 },
      { ...meta('b/c', 2), offset: 3 },
    ];
    const results = await writer.writeMany(Buffer.from('onetw'), items);
    expect(results).toMatchObject([
      { path: 'a', stat: { sizeBytes: 3 } },
      { path: 'b/c', stat: { sizeBytes: 2 } },
    ]);
    expect([read('a'), read('b/c')]).toEqual(['one', 'tw']);
  });

  it('are still refused when their bytes end early', async () => {
    const [result] = await open().writeMany(Buffer.from('on'), [{ ...meta('a', 3), offset: 0 }]);
    expect(result).toMatchObject({ error: { code: 'damaged' } });
    expect(existsSync(join(root, 'a'))).toBe(false);
  });

  it('get exactly the given mode, whatever the umask, new or over another file', async () => {
    const modes = [0o644, 0o600, 0o666, 0o777, 0o444, 0o2755, 0o000];
    const items = modes.map((mode, at): PackedFile => ({ ...meta(`m${at}`, 1), offset: 0, mode }));
    for (const turn of ['new', 'over another']) {
      const results = await open().writeMany(Buffer.from('x'), items);
      for (const [at, mode] of modes.entries()) {
        const { ctimeMs, ino, mode: found } = statSync(join(root, `m${at}`));
        expect(found & 0o7777, `${mode.toString(8)}, ${turn}`).toBe(mode);
        // The result equals what a scan would find.
        expect(results[at]).toMatchObject({ stat: { inode: ino, ctimeMs } });
      }
    }
  });

  it('can be read back before they are put in place, and are refused with a hole', async () => {
    const file = await open().openLarge(meta('large', 8));
    await file.write(4, Buffer.from('5678'));
    await file.write(0, Buffer.from('1234'));
    expect(Buffer.from(await file.read(2, new Uint8Array(4))).toString()).toBe('3456');
    await expect(file.read(6, new Uint8Array(4))).rejects.toMatchObject({ code: 'damaged' });
    expect(existsSync(join(root, 'large'))).toBe(false);
    await file.commit();
    expect(read('large')).toBe('12345678');
    const hole = await open().openLarge(meta('hole', 8));
    await hole.write(4, Buffer.from('5678'));
    await expect(hole.commit()).rejects.toMatchObject({ code: 'damaged' });
  });

  it('can come as one stream without an expected hash', async () => {
    const file = await open().openLarge(meta('stream', 5));
    await file.writeStream(
      (async function* () {
        yield Buffer.from('one');
        yield Buffer.from('tw');
      })(),
    );
    await file.commit({ verifyContent: true });
    expect(read('stream')).toBe('onetw');
  });
});

describe('the folder of unfinished files in a plain tree', () => {
  it('is created for the first file and removed at the end', async () => {
    utimesSync(root, 1, 1);
    const writer = open();
    writer.remove('absent');
    expect(statSync(root).mtimeMs).toBe(1000);
    await writer.writeMany(Buffer.from('x'), [{ ...meta('a', 1), offset: 0 }]);
    expect(existsSync(temporaryFolder)).toBe(true);
    await writer.close();
    expect(readdirSync(root)).toEqual(['a']);
  });

  it('stays as long as another writer uses it, even without files of that writer', async () => {
    const [first, second] = [open(), open()];
    const temporary = second.newTemporary();
    first.newTemporary();
    await first.close();
    writeFileSync(temporary, '');
    await second.close();
    expect(readdirSync(root)).toEqual([]);
  });

  it('stays when it contains files of others', async () => {
    const writer = open();
    writer.newTemporary();
    writeFileSync(join(temporaryFolder, 'notes'), 'kept');
    await writer.close();
    expect(read('.dray-tmp/notes')).toBe('kept');
  });

  it('is never reached through a link', () => {
    const outside = join(base, 'outside');
    mkdirSync(outside);
    symlinkSync('../outside', temporaryFolder);
    expect(() => open()).toThrow(expect.objectContaining({ code: 'unsafePath' }));
    expect(readdirSync(outside)).toEqual([]);
  });

  it('can be removed while a writer uses it: closing does not fail', async () => {
    const writer = open();
    writer.newTemporary();
    rmSync(temporaryFolder, { recursive: true });
    await writer.close();
    expect(readdirSync(root)).toEqual([]);
  });
});
