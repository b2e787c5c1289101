import { existsSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Budget } from '../../base/budget.ts';
import { DEFAULT_LAYOUT } from '../../model/layout.ts';
import { type ReadResult, readFiles } from './file-reader.ts';

/** The kernel reports 4,096 bytes for it and returns fewer, as some network file systems do. */
const FOLDER = '/sys/kernel';
const NAME = 'uevent_seqnum';
const isThere = existsSync(`${FOLDER}/${NAME}`);

describe('a large file that is shorter than its reported size', () => {
  it.runIf(isThere)('fails instead of being read as a shorter file (needs Linux and /sys)', async () => {
    const sizeBytes = statSync(`${FOLDER}/${NAME}`).size;
    const results: ReadResult[] = [];
    const batches = readFiles([{ id: 1, path: NAME, sizeBytes }], {
      root: FOLDER,
      layout: { ...DEFAULT_LAYOUT, chunkAbove: 1_000, chunkSize: { min: 64, average: 256, max: 512 } },
      wantBytes: false,
      memory: new Budget(1),
      signal: new AbortController().signal,
    });
    for await (const batch of batches) {
      results.push(...batch.results);
      batch.release();
    }
    expect(results).toMatchObject([{ kind: 'failed', error: { data: { reason: 'changedWhileRead' } } }]);
  });
});
