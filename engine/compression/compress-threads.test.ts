import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCompressThreads } from './compress-threads.ts';
import { compressBlob } from './zstd-blob.ts';

const { signal } = new AbortController();

/** Blobs back to back in shared memory, with a gap at its start. */
function share(contents: readonly Uint8Array[]): Uint8Array[] {
  const memory = new SharedArrayBuffer(100 + contents.reduce((sum, { length }) => sum + length, 0));
  let at = 100;
  return contents.map((content) => {
    const blob = new Uint8Array(memory, at, content.length);
    blob.set(content);
    at += content.length;
    return blob;
  });
}

describe('the threads that compress', () => {
  it.each([
    ['in the caller for little', 5_000],
    ['in threads for much', 900_000],
  ])('put each frame in place of its blob, %s', async (_, bytes) => {
    const contents = Array.from({ length: 20 }, (_, at) =>
      at % 5 === 0 ? randomBytes(bytes) : Buffer.alloc(bytes + at, `number ${at}, `),
    );
    const blobs = share(contents);
    const threads = createCompressThreads('auto', { signal, threads: 2 });
    const sizes = await threads.compress(blobs);
    await threads.close();
    const frames = contents.map((content) => compressBlob(content, 'auto') ?? content);
    expect(sizes).toEqual(frames.map(({ length }) => length));
    for (const [at, frame] of frames.entries())
      expect(Buffer.compare(blobs[at]!.subarray(0, sizes[at]), frame)).toBe(0);
  });

  it('stop with the signal', async () => {
    const stop = new AbortController();
    const threads = createCompressThreads('max', { signal: stop.signal, threads: 1 });
    const work = threads.compress(share([Buffer.alloc(9_000_000, 'much'), Buffer.alloc(1_000, 'little')]));
    stop.abort();
    await Promise.allSettled([work]);
    await expect(threads.compress(share([Buffer.alloc(1_000, 'more')]))).rejects.toMatchObject({
      code: 'aborted',
    });
    await threads.close();
  });
});
