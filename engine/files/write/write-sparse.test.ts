import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadPunchHole } from '../disk/punch-hole.ts';
import { writeSparse } from './write-sparse.ts';

const BLOCK = 64 * 1024;

/** Pieces of zeros and content whose borders are anything. */
const LAYOUTS: readonly (readonly [position: number, ...runs: number[]])[] = [
  [0, 0, 3 * BLOCK],
  [0, 5, 3 * BLOCK, 7],
  [BLOCK - 1, 0, BLOCK],
  [123, 0, 4 * BLOCK, 1, 2 * BLOCK, BLOCK],
  [BLOCK, BLOCK, BLOCK, BLOCK, BLOCK],
  [7, 0, 10],
  [0],
];

it('leaves the same bytes as a plain write, over what was there before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dray-sparse-'));
  const punch = await loadPunchHole();
  try {
    for (const [index, [position, ...runs]] of LAYOUTS.entries()) {
      const bytes = Buffer.concat(runs.map((length, turn) => Buffer.alloc(length, turn % 2 === 0 ? 'x' : 0)));
      for (const before of [Buffer.alloc(0), Buffer.alloc(position + bytes.length + 10, 'old')]) {
        const path = join(folder, `${index}-${before.length}`);
        const fd = openSync(path, 'w+');
        writeSync(fd, before);
        writeSparse({ fd, punch }, bytes, position);
        closeSync(fd);
        const expected = Buffer.alloc(
          Math.max(before.length, bytes.length > 0 ? position + bytes.length : 0),
        );
        before.copy(expected);
        bytes.copy(expected, position);
        expect(readFileSync(path).equals(expected), `layout ${index}`).toBe(true);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('takes no space for runs of zeros, where the disk has holes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dray-sparse-'));
  try {
    const fd = openSync(join(folder, 'file'), 'w+');
    const punch = await loadPunchHole();
    const hasHoles = punch(fd, 0, BLOCK);
    writeSparse({ fd, punch }, Buffer.alloc(32 * BLOCK), 0);
    closeSync(fd);
    const { blocks, size } = statSync(join(folder, 'file'));
    expect(size).toBe(32 * BLOCK);
    if (hasHoles) expect(blocks * 512).toBeLessThanOrEqual(BLOCK);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
