import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRangeJournal } from './range-journal.ts';

const DOWNLOAD = { etag: 'abc-3', sizeBytes: 2_500, rangeBytes: 1_000 };
const RANGES = [
  { start: 1_000, end: 2_000, crc64nvme: 0xffff_ffff_ffff_ffffn },
  { start: 0, end: 1_000, crc64nvme: 7n },
  { start: 2_000, end: 2_500, crc64nvme: 0n },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-ranges-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function write(name: string): Promise<string> {
  const path = join(folder, name);
  const journal = await openRangeJournal(path, DOWNLOAD);
  expect(journal.noted.size).toBe(0);
  for (const range of RANGES) await journal.note(range, range.crc64nvme);
  await journal.close();
  return path;
}

async function notedIn(path: string, download = DOWNLOAD) {
  const journal = await openRangeJournal(path, download);
  await journal.close();
  return [...journal.noted.values()];
}

describe('a range journal', () => {
  it('returns the ranges that an earlier run noted', async () => {
    expect(await notedIn(await write('again'))).toEqual(RANGES);
  });

  it('keeps the lines of concurrently noted ranges separate', async () => {
    const path = join(folder, 'at-once');
    const download = { ...DOWNLOAD, sizeBytes: 200_000 };
    const journal = await openRangeJournal(path, download);
    const ranges = Array.from({ length: 200 }, (_, at) => ({ start: at * 1_000, end: (at + 1) * 1_000 }));
    await Promise.all(ranges.map((range) => journal.note(range, BigInt(range.start))));
    await journal.close();
    const noted = (await notedIn(path, download)).sort((a, b) => a.start - b.start);
    expect(noted).toEqual(ranges.map((range) => ({ ...range, crc64nvme: BigInt(range.start) })));
  });

  it('starts empty for another object, size or range size, and without an etag', async () => {
    for (const [at, change] of [
      { etag: 'abc' },
      { sizeBytes: 2_501 },
      { rangeBytes: 500 },
      { etag: '' },
    ].entries()) {
      const path = await write(`other-${at}`);
      expect(await notedIn(path, { ...DOWNLOAD, ...change })).toEqual([]);
      expect(await notedIn(path)).toEqual([]);
    }
  });

  it('keeps the complete lines of a file that was truncated anywhere, and appends after them', async () => {
    const whole = readFileSync(await write('cut'));
    const header = whole.indexOf('\n') + 1;
    for (let length = 0; length < whole.length; length += 1) {
      const path = join(folder, 'torn');
      writeFileSync(path, whole.subarray(0, length));
      const journal = await openRangeJournal(path, DOWNLOAD);
      const lines = whole.subarray(header, Math.max(header, length)).toString().split('\n').length - 1;
      expect([...journal.noted.values()]).toEqual(RANGES.slice(0, lines));
      await journal.note(RANGES[2]!, 5n);
      await journal.close();
      expect((await notedIn(path)).at(-1)).toEqual({ ...RANGES[2]!, crc64nvme: 5n });
    }
  });

  it('ignores a changed line and all after it', async () => {
    const path = await write('changed');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('\n0 1000 ', '\n0 1001 '));
    expect(await notedIn(path)).toEqual(RANGES.slice(0, 1));
    writeFileSync(path, Buffer.alloc(10_000, 0xff));
    expect(await notedIn(path)).toEqual([]);
  });

  it('does not fail the download when it cannot note, and is deleted by `remove`', async () => {
    const path = join(folder, 'removed');
    const journal = await openRangeJournal(path, DOWNLOAD);
    await journal.remove();
    await journal.remove();
    await journal.note(RANGES[0]!, 1n);
    expect(() => readFileSync(path)).toThrow('ENOENT');
  });

  it('reports that it cannot be created', async () => {
    await expect(openRangeJournal(join(folder, 'absent/file'), DOWNLOAD)).rejects.toMatchObject({
      code: 'io',
    });
  });
});
