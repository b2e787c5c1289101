import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { after, openGatheredWriter } from './gathered-writer.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-gathered-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the rest after a write', () => {
  it('follows the written bytes, however the buffers divide them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 9 }),
        fc.nat(90),
        (buffers, bytes) => {
          const whole = Buffer.concat(buffers);
          expect(Buffer.concat(after(buffers, bytes))).toEqual(whole.subarray(bytes));
        },
      ),
    );
  });
});

describe('a gathered writer', () => {
  it('writes pieces at their offsets, from buffers of any number and size', async () => {
    const path = join(folder, 'file');
    const fd = openSync(path, 'wx+');
    try {
      const writer = openGatheredWriter(fd);
      const bytes = (count: number, value: number) => Buffer.alloc(count, value);
      const many = Array.from({ length: 3000 }, (_, index) => bytes(1 + (index % 3), index));
      const manyBytes = Buffer.concat(many);
      await Promise.all([
        writer.write(10, [bytes(2, 1), bytes(0, 0), bytes(3, 2)]),
        writer.write(15, many),
        writer.write(0, [bytes(10, 9)]),
        writer.write(5, []),
      ]);
      expect(readFileSync(path)).toEqual(Buffer.concat([bytes(10, 9), bytes(2, 1), bytes(3, 2), manyBytes]));
    } finally {
      closeSync(fd);
    }
  });

  it('reports the failure of a piece, and continues with the next', async () => {
    const path = join(folder, 'file');
    closeSync(openSync(path, 'wx'));
    const fd = openSync(path, 'r');
    try {
      const writer = openGatheredWriter(fd);
      const first = writer.write(0, [Buffer.from('one')]);
      const second = writer.write(0, []);
      await expect(first).rejects.toMatchObject({ code: 'EBADF' });
      await second;
    } finally {
      closeSync(fd);
    }
  });
});
