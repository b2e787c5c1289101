import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlobHash } from '../../model/entry.ts';
import { sealBytes } from '../../sealing/sealed-content.ts';
import { openTreeWriter } from './tree-writer.ts';
import type { FileMeta, TreeWriter } from './tree-writer-types.ts';

let root: string;
let stop: AbortController;
let writer: TreeWriter;
beforeEach(() => {
  root = mkdtempSync(`${tmpdir()}/dray-large-`);
  stop = new AbortController();
  writer = openTreeWriter({ root, temporaryFolder: `${root}/.dray/tmp`, signal: stop.signal });
});
afterEach(async () => {
  await writer.close();
  expect(readdirSync(`${root}/.dray/tmp`)).toEqual([]);
  rmSync(root, { recursive: true });
});

const CONTENT = randomBytes(3_000_000);
const META: FileMeta = {
  path: 'file',
  sizeBytes: CONTENT.length,
  mtimeNs: 1n,
  executable: false,
  blob: sha256(CONTENT),
};

function sha256(bytes: Uint8Array): BlobHash {
  return createHash('sha256').update(bytes).digest('hex') as BlobHash;
}

/** A copy, because the writer takes ownership of its bytes. */
function piece(from: number, to: number): Uint8Array {
  return Uint8Array.from(CONTENT.subarray(from, to));
}

async function* stream(bytes: Uint8Array, partBytes = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
}

const damaged = expect.objectContaining({ code: 'damaged', data: expect.objectContaining({ path: 'file' }) });

describe('a large file', () => {
  it('accepts a damaged piece again and commits', async () => {
    const file = await writer.openLarge(META);
    const bad = piece(0, 1_000_000);
    bad[17]! ^= 1;
    const hash = sha256(CONTENT.subarray(0, 1_000_000));
    await expect(file.write(0, bad, { hash })).rejects.toEqual(damaged);
    await file.write(0, piece(0, 1_000_000), { hash });
    await file.write(1_000_000, piece(1_000_000, CONTENT.length));
    await file.commit({ verifyContent: true });
    expect(readFileSync(`${root}/file`).equals(CONTENT)).toBe(true);
  });

  it('takes sealed pieces, and none that is not authentic or has other content', async () => {
    const file = await writer.openLarge(META);
    const object = { key: 'objects/piece', cipherKey: randomBytes(32) };
    const hash = sha256(CONTENT);
    const write = (stored: Uint8Array, contentBytes?: number) => {
      const sizeBytes = contentBytes === undefined ? CONTENT.length : stored.length;
      return file.write(0, stored, { hash, contentBytes, sealed: { object, sizeBytes } });
    };
    const seal = (content: Uint8Array) => sealBytes(object.cipherKey, content).bytes;
    const bad = seal(CONTENT);
    bad[bad.length - 1]! ^= 1;
    await expect(write(bad)).rejects.toMatchObject({ code: 'damaged', data: { reason: 'unauthentic' } });
    await expect(write(seal(randomBytes(CONTENT.length)))).rejects.toEqual(damaged);
    await expect(write(seal(randomBytes(1000)), CONTENT.length)).rejects.toEqual(damaged);
    await write(seal(CONTENT));
    await file.commit();
    expect(readFileSync(`${root}/file`).equals(CONTENT)).toBe(true);
  });

  it('takes a sealed piece that is compressed', async () => {
    const text = Buffer.alloc(CONTENT.length, 'dray ');
    const file = await writer.openLarge({ ...META, blob: sha256(text) });
    const object = { key: 'objects/piece', cipherKey: randomBytes(32) };
    const frame = zstdCompressSync(text);
    const { bytes } = sealBytes(object.cipherKey, frame);
    const sealed = { object, sizeBytes: frame.length };
    await file.write(0, bytes, { hash: sha256(text), contentBytes: text.length, sealed });
    await file.commit();
    expect(readFileSync(`${root}/file`).equals(text)).toBe(true);
  });

  it('counts no piece as written that failed, so it is not put in place with that', async () => {
    const file = await writer.openLarge(META);
    const object = { key: 'objects/piece', cipherKey: randomBytes(32) };
    const { bytes } = sealBytes(object.cipherKey, randomBytes(CONTENT.length));
    const sealed = { object, sizeBytes: CONTENT.length };
    await expect(file.write(0, bytes, { hash: sha256(CONTENT), sealed })).rejects.toEqual(damaged);
    await expect(file.commit()).rejects.toEqual(damaged);
    expect(readdirSync(root)).toEqual(['.dray']);
  });

  it('is not put in place with a hole, and keeps the old file', async () => {
    writeFileSync(`${root}/file`, 'old');
    const file = await writer.openLarge(META);
    await file.write(0, piece(0, 1000));
    await file.write(1001, piece(1001, CONTENT.length));
    await expect(file.commit()).rejects.toEqual(damaged);
    expect(readFileSync(`${root}/file`, 'utf8')).toBe('old');
  });

  it('is not put in place with wrong content when verification is requested', async () => {
    const file = await writer.openLarge(META);
    const other = piece(0, CONTENT.length);
    other[2_000_000]! ^= 1;
    await file.write(0, other);
    await expect(file.commit({ verifyContent: true })).rejects.toEqual(damaged);
    expect(readdirSync(root)).toEqual(['.dray']);
  });

  it('refuses bytes past its end', async () => {
    const file = await writer.openLarge(META);
    await expect(file.write(CONTENT.length - 1, new Uint8Array(2))).rejects.toEqual(damaged);
    await expect(file.writeStream(stream(Buffer.concat([CONTENT, Buffer.from('x')])))).rejects.toEqual(
      damaged,
    );
    const empty = await writer.openLarge({ ...META, sizeBytes: 0 });
    await expect(empty.writeStream(stream(Buffer.from('x')))).rejects.toEqual(damaged);
  });

  it('accepts a stream again after one that failed or ended too soon', async () => {
    const file = await writer.openLarge(META);
    async function* broken() {
      yield CONTENT.subarray(0, 2_000_000);
      throw new Error('connection lost');
    }
    await expect(file.writeStream(broken())).rejects.toThrow('connection lost');
    await expect(file.writeStream(stream(CONTENT.subarray(0, 2_000_000)))).rejects.toEqual(damaged);
    await file.writeStream(stream(CONTENT));
    await file.commit();
    expect(readFileSync(`${root}/file`).equals(CONTENT)).toBe(true);
  });

  it('closes a body that it does not read to the end', async () => {
    let isClosed = false;
    async function* body() {
      try {
        for (;;) yield CONTENT;
      } finally {
        isClosed = true;
      }
    }
    const file = await writer.openLarge(META);
    await expect(file.writeStream(body())).rejects.toEqual(damaged);
    expect(isClosed).toBe(true);
  });

  it('without content needs no piece', async () => {
    const file = await writer.openLarge({ ...META, sizeBytes: 0, blob: sha256(new Uint8Array(0)) });
    await file.commit({ verifyContent: true });
    const streamed = await writer.openLarge({
      ...META,
      path: 'b',
      sizeBytes: 0,
      blob: sha256(new Uint8Array(0)),
    });
    await streamed.writeStream(stream(new Uint8Array(0)));
    await streamed.commit();
    expect(readdirSync(root)).toEqual(['.dray', 'b', 'file']);
  });

  it('is removed by discard, even while pieces are in flight', async () => {
    const file = await writer.openLarge(META);
    const writes = [0, 1, 2].map((at) =>
      file.write(at * 1_000_000, piece(at * 1_000_000, (at + 1) * 1_000_000)),
    );
    await file.discard();
    await Promise.allSettled(writes);
    await file.discard();
    expect(readdirSync(`${root}/.dray/tmp`)).toEqual([]);
    await expect(file.commit()).rejects.toThrow();
    expect(readdirSync(root)).toEqual(['.dray']);
  });

  it('stays after discard when it was committed', async () => {
    const file = await writer.openLarge(META);
    await file.write(0, piece(0, CONTENT.length));
    await file.commit();
    await file.discard();
    expect(readdirSync(root)).toContain('file');
  });

  it.runIf(process.platform !== 'win32')('with a given mode is private until it has that mode', async () => {
    const file = await writer.openLarge({ ...META, mode: 0o640 });
    const temporary = `${root}/.dray/tmp`;
    const modes = () => readdirSync(temporary).map((name) => statSync(`${temporary}/${name}`).mode & 0o777);
    expect(modes()).toEqual([0o600]);
    await file.write(0, piece(0, CONTENT.length));
    await file.commit();
    expect(statSync(`${root}/file`).mode & 0o777).toBe(0o640);
  });

  it('releases its folder when it ends', async () => {
    const file = await writer.openLarge({ ...META, path: 'a/file' });
    expect(() => writer.remove('a/')).toThrow(expect.objectContaining({ code: 'conflict' }));
    await file.discard();
    writer.remove('a/');
    expect(readdirSync(root)).toEqual(['.dray']);
  });

  it('is discarded by an abort, and its commit fails', async () => {
    const file = await writer.openLarge(META);
    await file.write(0, piece(0, CONTENT.length));
    stop.abort();
    await expect(file.commit()).rejects.toMatchObject({ code: 'aborted' });
    await file.discard();
    expect(readdirSync(root)).toEqual(['.dray']);
  });

  it('is the same from pieces and streams of any division (property)', async () => {
    mkdirSync(`${root}/out`);
    const cuts = fc.array(fc.nat({ max: CONTENT.length }), { maxLength: 8 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(cuts, fc.integer({ min: 1000, max: 2_500_000 }), async (at, partBytes) => {
        run += 1;
        const bounds = [...new Set([0, ...at, CONTENT.length])].sort((a, b) => b - a);
        const pieces = await writer.openLarge({ ...META, path: `out/pieces${run}` });
        await Promise.all(
          bounds.slice(1).map((from, before) => pieces.write(from, piece(from, bounds[before]!))),
        );
        await pieces.commit({ verifyContent: true });
        const streamed = await writer.openLarge({ ...META, path: `out/stream${run}` });
        await streamed.writeStream(stream(CONTENT, partBytes));
        await streamed.commit();
      }),
      { numRuns: 12 },
    );
  });
});
