import { createHash, hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlobHash } from '../../model/entry.ts';
import { createSandbox, type Sandbox } from '../session/job.fixture.ts';
import { BLOCK_BYTES, type BlockCacheFile, openBlockFile } from './block-file.ts';
import { createDecodedContents, type DecodedContents } from './decoded-contents.ts';

const MIB = 1024 * 1024;
const SIZE_BYTES = 4 * MIB + 77;
const READERS = 8;
const { signal } = new AbortController();

let sandbox: Sandbox;
let file: BlockCacheFile;
let decoded: string[];
beforeEach(async () => {
  sandbox = createSandbox();
  file = await openBlockFile(sandbox.path('cache'), 100 * MIB);
  decoded = [];
});
afterEach(async () => {
  await file.close();
  sandbox[Symbol.dispose]();
});

const CONTENTS = Array.from({ length: READERS }, (_, at) => {
  const line = createHash('sha256').update(`${at}`).digest();
  const bytes = Buffer.alloc(SIZE_BYTES, Buffer.concat([line, Buffer.from(`${at}`)]));
  return { bytes, blob: { hash: hash('sha256', bytes) as BlobHash, sizeBytes: SIZE_BYTES } };
});

async function expectPart(
  contents: DecodedContents,
  at: number,
  part: { readonly start: number; readonly end: number },
  isAgain = false,
): Promise<void> {
  const { blob, bytes } = CONTENTS[at]!;
  const read = async () => {
    decoded.push(blob.hash);
    return bytes;
  };
  const found = await contents.get(blob, part, read, { signal, isAgain });
  expect(bytes.subarray(part.start, part.end).equals(found), `${at}: ${part.start}`).toBe(true);
}

async function readInTurns(contents: DecodedContents): Promise<void> {
  for (let start = 0; start < SIZE_BYTES; start += MIB)
    for (let at = 0; at < READERS; at += 1)
      await expectPart(contents, at, { start, end: Math.min(SIZE_BYTES, start + MIB) });
}

describe('decompressed contents', () => {
  it('are decompressed once for readers that take turns, with memory for one of them', async () => {
    const contents = createDecodedContents({ bytesMax: SIZE_BYTES, file });
    await readInTurns(contents);
    expect(decoded).toHaveLength(READERS);
    const odd = { start: BLOCK_BYTES - 7, end: 3 * BLOCK_BYTES + 9 };
    for (let at = 0; at < READERS - 1; at += 1) await expectPart(contents, at, odd);
    expect(decoded).toHaveLength(READERS);
  });

  it('are decompressed for each turn where there is no file', async () => {
    await readInTurns(createDecodedContents({ bytesMax: SIZE_BYTES }));
    expect(decoded).toHaveLength(READERS * Math.ceil(SIZE_BYTES / MIB));
  });

  it('are not written when a reader has had all of them', async () => {
    const contents = createDecodedContents({ bytesMax: SIZE_BYTES, file });
    for (let at = 0; at < READERS; at += 1)
      for (let start = 0; start < SIZE_BYTES; start += MIB)
        await expectPart(contents, at, { start, end: Math.min(SIZE_BYTES, start + MIB) });
    expect(decoded).toHaveLength(READERS);
    for (const { blob } of CONTENTS) expect(file.has(`${blob.hash}#0`)).toBe(false);
  });

  it('are decompressed again if the file has lost a part, or its bytes were wrong', async () => {
    const contents = createDecodedContents({ bytesMax: SIZE_BYTES, file });
    const part = { start: 0, end: MIB };
    for (const at of [0, 1]) await expectPart(contents, at, part);
    file.delete(`${CONTENTS[0]!.blob.hash}#1`);
    await expectPart(contents, 0, part);
    await expectPart(contents, 1, part);
    expect(decoded).toHaveLength(3);
    await expectPart(contents, 1, part, true);
    expect(decoded).toHaveLength(4);
  });

  it('are read once for many at a time, also when the first of them is gone', async () => {
    const contents = createDecodedContents({ bytesMax: SIZE_BYTES, file });
    const { promise, resolve } = Promise.withResolvers<void>();
    const leaving = new AbortController();
    const { blob, bytes } = CONTENTS[0]!;
    const part = { start: 0, end: 5 };
    const read = async () => {
      decoded.push(blob.hash);
      await promise;
      return bytes;
    };
    const gone = contents.get(blob, part, read, { signal: leaving.signal, isAgain: false });
    const stays = expectPart(contents, 0, part);
    leaving.abort();
    await expect(gone).rejects.toMatchObject({ code: 'aborted' });
    resolve();
    await stays;
    expect(decoded).toHaveLength(1);
  });
});
