import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import type { BlobHash } from '../../model/entry.ts';
import { openTreeWriter } from './tree-writer.ts';
import type { PackedFile, TreeWriter, WriteResult } from './tree-writer-types.ts';

const MTIME_NS = 1_712_345_678_123_456_789n;
let base: string;
let root: string;
let stop: AbortController;
const writers: TreeWriter[] = [];

beforeEach(() => {
  base = mkdtempSync(`${tmpdir()}/dray-writer-`);
  root = `${base}/root`;
  mkdirSync(root);
  stop = new AbortController();
});
afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.close();
  rmSync(base, { recursive: true });
});

function open(threads?: number): TreeWriter {
  const options = { root, temporaryFolder: `${root}/.dray/tmp`, signal: stop.signal };
  const writer = openTreeWriter(threads === undefined ? options : { ...options, threads });
  writers.push(writer);
  return writer;
}

function sha256(bytes: Uint8Array): BlobHash {
  return createHash('sha256').update(bytes).digest('hex') as BlobHash;
}

interface Named {
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly executable?: boolean;
  readonly mtimeNs?: bigint;
}

function pack(files: readonly Named[]): { bytes: Uint8Array; items: PackedFile[] } {
  const parts: Uint8Array[] = [];
  let offset = 0;
  const items = files.map(({ path, content, executable = false, mtimeNs = MTIME_NS }) => {
    const bytes = Buffer.from(content);
    parts.push(bytes);
    offset += bytes.length;
    return {
      path,
      sizeBytes: bytes.length,
      offset: offset - bytes.length,
      mtimeNs,
      executable,
      blob: sha256(bytes),
    };
  });
  return { bytes: new Uint8Array(Buffer.concat(parts)), items };
}

function write(writer: TreeWriter, files: readonly Named[]): Promise<readonly WriteResult[]> {
  const { bytes, items } = pack(files);
  return writer.writeMany(bytes, items);
}

function codes(results: readonly WriteResult[]): string[] {
  return results.map((result) => ('error' in result ? result.error.code : 'ok'));
}

function temporaries(): string[] {
  return readdirSync(`${root}/.dray/tmp`);
}

const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');

describe.each([
  { name: 'in the thread of its caller', threads: 0 },
  { name: 'in two threads', threads: 2 },
])('a tree writer that works $name', ({ threads }) => {
  /** Enough work to start threads where allowed. */
  const MANY = Array.from({ length: 1500 }, (_, at) => ({
    path: `d${at % 7}/e/f${at}`,
    content: `content of ${at}`,
  }));

  it('writes many files of one buffer and reports the lstat of each', async () => {
    const results = await write(open(threads), MANY);
    expect(results.map((result) => result.path)).toEqual(MANY.map((file) => file.path));
    for (const [at, { path, content }] of MANY.entries()) {
      expect(read(path)).toBe(content);
      const { mtimeMs, ctimeMs, ino, size } = lstatSync(`${root}/${path}`);
      expect(results[at]).toEqual({ path, stat: { mtimeMs, ctimeMs, inode: ino, sizeBytes: size } });
    }
    expect(temporaries()).toEqual([]);
  });

  it('writes only files that match their hash, and continues with the rest', async () => {
    const { bytes, items } = pack(MANY);
    bytes[items[700]!.offset]! ^= 1;
    const results = await open(threads).writeMany(bytes, items);
    const damaged = results.filter((result) => 'error' in result);
    expect(damaged).toEqual([
      {
        path: MANY[700]!.path,
        error: expect.objectContaining({ code: 'damaged', data: { path: MANY[700]!.path } }),
      },
    ]);
    expect(readdirSync(`${root}/d0/e`)).not.toContain('f700');
  });

  it('writes a large file from pieces in any order, and shows it only when it is complete', async () => {
    const content = Buffer.alloc(20 * 1024 * 1024, 'some text that is not the same everywhere');
    const writer = open(threads);
    const large = await writer.openLarge({
      ...pack([{ path: 'a/large', content }]).items[0]!,
      executable: true,
    });
    const size = 3_000_000;
    const offsets = Array.from({ length: Math.ceil(content.length / size) }, (_, at) => at * size).reverse();
    await Promise.all(
      offsets.map((at) => {
        const piece = Uint8Array.from(content.subarray(at, at + size));
        return large.write(at, piece, { hash: sha256(piece) });
      }),
    );
    expect(readdirSync(`${root}/a`)).toEqual([]);
    const stat = await large.commit({ verifyContent: true });
    expect(readFileSync(`${root}/a/large`).equals(content)).toBe(true);
    const seen = lstatSync(`${root}/a/large`, { bigint: true });
    expect(stat.inode).toBe(Number(seen.ino));
    expect(seen.mode & 0o111n).not.toBe(0n);
    expect(seen.mtimeNs).toBe(MTIME_NS);
    expect(temporaries()).toEqual([]);
  });

  it('writes a large file from a stream and compares its hash', async () => {
    const content = Buffer.alloc(20 * 1024 * 1024 + 17, 'stream of something');
    const [meta] = pack([{ path: 'large', content }]).items;
    async function* body() {
      for (let at = 0; at < content.length; at += 300_000) yield content.subarray(at, at + 300_000);
    }
    const writer = open(threads);
    const large = await writer.openLarge(meta!);
    await large.writeStream(body());
    await large.commit();
    expect(readFileSync(`${root}/large`).equals(content)).toBe(true);

    const other = await writer.openLarge({ ...meta!, path: 'other', blob: sha256(Buffer.from('else')) });
    await other.writeStream(body());
    await expect(other.commit()).rejects.toMatchObject({ code: 'damaged' });
    expect(readdirSync(root)).toEqual(['.dray', 'large']);
    expect(temporaries()).toEqual([]);
  });

  it('stops on its signal: work in flight rejects, and no temporary file remains', async () => {
    const writer = open(threads);
    const { bytes, items } = pack(
      Array.from({ length: 30_000 }, (_, at) => ({ path: `d${at % 50}/f${at}`, content: `${at}` })),
    );
    const large = await writer.openLarge({ ...items[0]!, path: 'large', sizeBytes: 100_000_000 });
    const hanging = large.writeStream(neverEnding());
    const work = writer.writeMany(bytes, items);
    // The first file in place shows that the work is in progress.
    while (
      !readdirSync(root).some((name) => name.startsWith('d') && readdirSync(`${root}/${name}`).length > 0)
    ) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    stop.abort();
    const ends = await Promise.allSettled([work, hanging]);
    const aborted = { status: 'rejected', reason: expect.objectContaining({ code: 'aborted' }) };
    expect(ends).toEqual([aborted, aborted]);
    await writer.close();
    expect(temporaries()).toEqual([]);
    const written = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(written.length).toBeLessThan(items.length);
    for (const { parentPath, name } of written)
      expect(readFileSync(`${parentPath}/${name}`, 'utf8')).toBe(name.slice(1));
    await expect(write(writer, MANY)).rejects.toMatchObject({ code: 'aborted' });
  });
});

async function* neverEnding(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(70_000);
  await new Promise(() => {});
}

describe('a tree writer and the attributes of files', () => {
  it('sets the time to the nanosecond and the mode by the umask', async () => {
    await write(open(), [
      { path: 'plain', content: 'x' },
      { path: 'run', content: 'y', executable: true },
    ]);
    const umask = BigInt(process.umask());
    const plain = lstatSync(`${root}/plain`, { bigint: true });
    const run = lstatSync(`${root}/run`, { bigint: true });
    expect(plain.mode & 0o777n).toBe(0o666n & ~umask);
    expect(run.mode & 0o777n).toBe(0o777n & ~umask);
    expect([plain.mtimeNs, run.mtimeNs]).toEqual([MTIME_NS, MTIME_NS]);
  });

  it('writes any paths, sizes and offsets (property)', async () => {
    const name = fc.stringMatching(/^[a-z]{1,3}$/);
    const file = fc.record({
      folder: fc.array(name, { maxLength: 3 }),
      content: fc.uint8Array({ maxLength: 300 }),
      executable: fc.boolean(),
    });
    const writer = open(0);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 30 }), fc.boolean(), async (files, isReversed) => {
        run += 1;
        const named = files.map(({ folder, content, executable }, at) => ({
          path: [`run${run}`, ...folder, `${at}.bin`].join('/'),
          content,
          executable,
        }));
        const { bytes, items } = pack(named);
        const results = await writer.writeMany(bytes, isReversed ? items.toReversed() : items);
        expect(codes(results)).toEqual(named.map(() => 'ok'));
        for (const { path, content } of named) {
          expect(readFileSync(`${root}/${path}`).equals(Buffer.from(content))).toBe(true);
        }
      }),
      { numRuns: runBudget({ short: 15, long: 50 }) },
    );
  });

  it('writes empty files without bytes, also from one buffer used twice', async () => {
    const writer = open(2);
    const nothing = new Uint8Array(0);
    const item = { ...pack([{ path: 'empty', content: '' }]).items[0]! };
    await writer.writeMany(nothing, [item]);
    await writer.writeMany(nothing, [{ ...item, path: 'empty2' }]);
    expect(lstatSync(`${root}/empty2`).size).toBe(0);
  });

  it('creates links with their target and does not follow them', () => {
    const writer = open();
    const stat = writer.writeLink('l/nowhere', '../does/not/exist');
    expect(readlinkSync(`${root}/l/nowhere`)).toBe('../does/not/exist');
    expect(stat.inode).toBe(lstatSync(`${root}/l/nowhere`).ino);
    writer.writeLink('l/nowhere', 'elsewhere');
    expect(readlinkSync(`${root}/l/nowhere`)).toBe('elsewhere');
    expect(temporaries()).toEqual([]);
  });

  it('creates folders and accepts existing ones', () => {
    const writer = open();
    writer.makeFolder('a/b/');
    writer.makeFolder('a/b/');
    expect(lstatSync(`${root}/a/b`).isDirectory()).toBe(true);
  });

  it('removes files, links and empty folders, then the folders that became empty', async () => {
    const writer = open();
    await write(writer, [
      { path: 'a/b/c/file', content: '1' },
      { path: 'a/other', content: '2' },
    ]);
    writer.writeLink('a/link', '/etc');
    writer.makeFolder('empty/');
    writer.remove('a/b/c/file');
    writer.remove('a/link');
    writer.remove('empty/');
    writer.remove('never/there');
    expect(readdirSync(root)).toEqual(['.dray', 'a']);
    expect(readdirSync(`${root}/a`)).toEqual(['other']);
    expect(readdirSync('/etc').length).toBeGreaterThan(0);
    // A removed folder is created again when it is needed.
    expect(codes(await write(writer, [{ path: 'a/b/c/file', content: '3' }]))).toEqual(['ok']);
  });

  it('does not remove a folder that is not empty', async () => {
    const writer = open();
    await write(writer, [{ path: 'a/file', content: '1' }]);
    expect(() => writer.remove('a/')).toThrow(expect.objectContaining({ code: 'conflict' }));
    expect(read('a/file')).toBe('1');
  });

  it('starts no thread for a small job, and threads for a large one', async () => {
    const busyThreads = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const writer = open(2);
    const before = busyThreads();
    const small = write(writer, [{ path: 'small', content: 'x' }]);
    expect(busyThreads()).toBe(before);
    await small;
    const large = write(
      writer,
      Array.from({ length: 2000 }, (_, at) => ({ path: `large/${at}`, content: 'x' })),
    );
    expect(busyThreads()).toBe(before + 2);
    await large;
    // Idle threads do not keep a process alive.
    expect(busyThreads()).toBe(before);
  });
});

describe('a tree writer and items in the way', () => {
  it('replaces files and links, and never writes through a link', async () => {
    writeFileSync(`${base}/outside`, 'untouched');
    symlinkSync(`${base}/outside`, `${root}/link`);
    writeFileSync(`${root}/file`, 'old');
    const results = await write(open(), [
      { path: 'link', content: 'new' },
      { path: 'file', content: 'new' },
    ]);
    expect(codes(results)).toEqual(['ok', 'ok']);
    expect(readFileSync(`${base}/outside`, 'utf8')).toBe('untouched');
    expect(lstatSync(`${root}/link`).isFile()).toBe(true);
    expect(read('file')).toBe('new');
  });

  it('refuses a folder that is a link, wherever it points, and names it', async () => {
    mkdirSync(`${base}/outside/deep`, { recursive: true });
    mkdirSync(`${root}/a/inside`, { recursive: true });
    symlinkSync(`${base}/outside`, `${root}/a/link`);
    symlinkSync('inside', `${root}/a/near`);
    const writer = open();
    const results = await write(writer, [
      { path: 'a/link/file', content: '1' },
      { path: 'a/link/deep/file', content: '2' },
      { path: 'a/near/file', content: '3' },
      { path: 'a/fine', content: '4' },
    ]);
    expect(codes(results)).toEqual(['unsafePath', 'unsafePath', 'unsafePath', 'ok']);
    expect(results[1]).toMatchObject({ error: { data: { path: 'a/link' } } });
    const unsafe = expect.objectContaining({ code: 'unsafePath' });
    await expect(writer.openLarge(pack([{ path: 'a/link/large', content: 'x' }]).items[0]!)).rejects.toEqual(
      unsafe,
    );
    expect(() => writer.writeLink('a/link/l', 'x')).toThrow(unsafe);
    expect(() => writer.makeFolder('a/link/new/')).toThrow(unsafe);
    writeFileSync(`${base}/outside/kept`, 'x');
    expect(() => writer.remove('a/link/kept')).toThrow(unsafe);
    expect(readdirSync(`${base}/outside`).sort()).toEqual(['deep', 'kept']);
    expect(readdirSync(`${base}/outside/deep`)).toEqual([]);
    expect(readdirSync(`${root}/a/inside`)).toEqual([]);
  });

  it('refuses paths that leave the root, lead into .dray, or are impossible', async () => {
    const writer = open();
    const paths = [
      '../escaped',
      'a/../../escaped',
      '/absolute',
      '.dray/config',
      '.DRAY/x',
      'a//b',
      'nul\0',
      '',
    ];
    const results = await write(
      writer,
      paths.map((path) => ({ path, content: 'x' })),
    );
    expect(codes(results)).toEqual(paths.map(() => 'unsafePath'));
    const unsafe = expect.objectContaining({ code: 'unsafePath' });
    for (const path of paths) {
      expect(() => writer.writeLink(path, 'x')).toThrow(unsafe);
      expect(() => writer.makeFolder(`${path}/`)).toThrow(unsafe);
      expect(() => writer.remove(path)).toThrow(unsafe);
    }
    expect(() => writer.writeLink('link', 'nul\0')).toThrow(unsafe);
    expect(readdirSync(base)).toEqual(['root']);
    const [long] = await write(writer, [{ path: 'n'.repeat(300), content: 'x' }]);
    expect(long).toMatchObject({ error: { code: 'unsafePath' } });
  });

  it('does not let a commit swap a folder for a link while it writes into it', async () => {
    const writer = open();
    mkdirSync(`${base}/outside`);
    const large = await writer.openLarge(pack([{ path: 'a/large', content: 'x' }]).items[0]!);
    expect(() => writer.writeLink('a', `${base}/outside`)).toThrow(
      expect.objectContaining({ code: 'conflict' }),
    );
    await large.write(0, Buffer.from('x'));
    await large.commit();
    expect(read('a/large')).toBe('x');

    // Without writes in flight the folder may be removed; a later write finds the link, although the folder
    // was known.
    await write(writer, [{ path: 'b/file', content: 'x' }]);
    writer.remove('b/file');
    writer.writeLink('b', `${base}/outside`);
    expect(codes(await write(writer, [{ path: 'b/file', content: 'x' }]))).toEqual(['unsafePath']);
    expect(readdirSync(`${base}/outside`)).toEqual([]);
  });

  it('does not remove a folder with a write in flight', async () => {
    const writer = open();
    await write(writer, [{ path: 'a/old', content: 'x' }]);
    const pending = write(writer, [{ path: 'a/new', content: 'y' }]);
    writer.remove('a/old');
    expect(codes(await pending)).toEqual(['ok']);
    expect(readdirSync(`${root}/a`)).toEqual(['new']);
  });

  it('replaces an empty folder by files and links, and reports a folder that is not empty', async () => {
    mkdirSync(`${root}/empty1`);
    mkdirSync(`${root}/empty2`);
    mkdirSync(`${root}/full`);
    writeFileSync(`${root}/full/kept`, 'kept');
    const writer = open();
    const results = await write(writer, [
      { path: 'empty1', content: '1' },
      { path: 'full', content: '2' },
    ]);
    expect(codes(results)).toEqual(['ok', 'conflict']);
    expect(results[1]).toMatchObject({ error: { data: { path: 'full' } } });
    writer.writeLink('empty2', 'x');
    expect(() => writer.writeLink('full', 'x')).toThrow(expect.objectContaining({ code: 'conflict' }));
    const large = await writer.openLarge(pack([{ path: 'full', content: 'x' }]).items[0]!);
    await large.write(0, Buffer.from('x'));
    await expect(large.commit()).rejects.toMatchObject({ code: 'conflict' });
    expect(read('full/kept')).toBe('kept');
    expect(read('empty1')).toBe('1');
    expect(temporaries()).toEqual([]);
  });

  it('reports a file in place of a folder', async () => {
    writeFileSync(`${root}/a`, 'kept');
    const writer = open();
    const [result] = await write(writer, [{ path: 'a/b/c', content: 'x' }]);
    expect(result).toMatchObject({ error: { code: 'conflict', data: { path: 'a' } } });
    expect(() => writer.makeFolder('a/')).toThrow(expect.objectContaining({ code: 'conflict' }));
    writer.remove('a/b/c');
    expect(read('a')).toBe('kept');
  });
});
