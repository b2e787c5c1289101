import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTreeWriter } from '../../../files/write/tree-writer.ts';
import { createSandbox } from '../../session/job.fixture.ts';
import { createTreeMemory } from './movers.ts';
import { BATCHED_BYTES_MAX, createWriteBatches, WRITER_BATCH_BYTES } from './write-batches.ts';

const { signal } = new AbortController();
/** More than fit into a few batches, all at once, so that most wait for the same next batch. */
const FILES = 600;

describe('batches of small files', () => {
  it.each([
    ['many of the largest size that shares a batch, which fills up by bytes', () => BATCHED_BYTES_MAX],
    ['many of a few bytes, which fill a batch by their number', () => 3],
    ['many of all sizes', (at: number) => (at * 7_919) % (BATCHED_BYTES_MAX + 1)],
    ['some among them too large for a batch', (at: number) => (at % 200 === 7 ? 2 * WRITER_BATCH_BYTES : at)],
  ])('are each written with their own content: %s', async (_, sizeOf) => {
    using sandbox = createSandbox();
    const root = sandbox.path('tree');
    const writer = openTreeWriter({
      root: sandbox.folder,
      temporaryFolder: sandbox.path('temporary'),
      threads: 1,
      signal,
    });
    try {
      const batches = createWriteBatches(writer, createTreeMemory({}), signal);
      const contents = Array.from({ length: FILES }, (_, at) => Buffer.alloc(sizeOf(at), `${at} `));
      const stats = await Promise.all(
        contents.map((bytes, at) => {
          const meta = { path: `tree/${at}`, sizeBytes: bytes.length, mtimeNs: 0n, executable: false };
          return batches.write(meta, bytes);
        }),
      );
      expect(stats.map(({ sizeBytes }) => sizeBytes)).toEqual(contents.map(({ length }) => length));
      for (const [at, bytes] of contents.entries())
        expect(readFileSync(join(root, String(at))).equals(bytes), `file ${at}`).toBe(true);
    } finally {
      await writer.close();
    }
  });
});
