import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type DatasetShape,
  describeShape,
  diskBytesOf,
  mixSizes,
  pathOfFile,
  shapeOfSizes,
  sizeOfFile,
  writeDataset,
} from './dataset.ts';
import { checkArrival, fingerprintOf } from './fingerprint.ts';

const SPREAD: DatasetShape = { files: 1_050, bytesMax: 64, sizes: 'spread' };
const SMALL: DatasetShape = { files: 12, bytesMax: 64, sizes: 'spread' };
const LARGE: DatasetShape = { files: 2, bytesMax: 3 * 1024 * 1024 + 5, sizes: 'equal' };

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-dataset-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, shape: DatasetShape): string {
  const path = join(folder, name);
  writeDataset(path, shape);
  return path;
}

describe('A dataset', () => {
  it('is the same each time it is written, and differs for another shape', () => {
    const first = fingerprintOf(write('first', SPREAD));
    expect(fingerprintOf(write('second', SPREAD))).toEqual(first);
    expect(fingerprintOf(write('other', { ...SPREAD, bytesMax: 65 })).hash).not.toBe(first.hash);
  });

  it('has the files and sizes of its shape, a thousand files a folder', () => {
    const path = write('spread', SPREAD);
    expect(fingerprintOf(path).files).toBe(SPREAD.files);
    expect(pathOfFile(1_049)).toBe('d0001/f00049');
    for (const index of [0, 1, 999, 1_000, 1_049])
      expect(statSync(join(path, pathOfFile(index))).size).toBe(sizeOfFile(SPREAD, index));
  });

  it('spreads sizes from zero to the maximum', () => {
    const sizes = Array.from({ length: SPREAD.files }, (_, index) => sizeOfFile(SPREAD, index));
    expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([0, SPREAD.bytesMax]);
  });

  it('has large files of their exact size', () => {
    const path = write('large', LARGE);
    expect(statSync(join(path, pathOfFile(1))).size).toBe(LARGE.bytesMax);
  });

  it('has the sizes of a list, in its order', () => {
    const shape = shapeOfSizes([5, 2_000_000, 0]);
    const path = write('listed', shape);
    const sizes = [0, 1, 2].map((index) => statSync(join(path, pathOfFile(index))).size);
    expect(sizes).toEqual([5, 2_000_000, 0]);
    expect(diskBytesOf(shape)).toBe(4096 + 489 * 4096);
    expect(describeShape(shape)).toBe('3 files from 0 B to 2 MB');
  });

  it('of mixed sizes covers all powers of ten, each size once', () => {
    const { bytesMax, files, sizes } = mixSizes({ files: 35, bytesMin: 990, bytesMax: 412_000_000 });
    if (typeof sizes === 'string') throw new Error('They are listed.');
    expect([files, bytesMax]).toEqual([35, 412_000_000]);
    expect(new Set(sizes).size).toBe(35);
    expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([990, 412_000_000]);
    expect(Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1e8)).toBe(26);
  });

  it('is refused before anything is written when the disk has no room', () => {
    const shape: DatasetShape = { files: 1_000_000_000, bytesMax: 1024 ** 3, sizes: 'equal' };
    expect(() => write('huge', shape)).toThrow('--folder');
  });
});

describe('The check of a copied folder', () => {
  it("passes on equal folders, and ignores the folder of Dray's index", () => {
    const sent = fingerprintOf(write('sent', SMALL));
    const arrived = write('arrived', SMALL);
    mkdirSync(join(arrived, '.dray'));
    writeFileSync(join(arrived, '.dray', 'index'), 'anything');
    expect(() => checkArrival(arrived, sent)).not.toThrow();
  });

  const damages: readonly (readonly [string, (arrived: string) => void])[] = [
    ['a file that is missing', (arrived) => rmSync(join(arrived, pathOfFile(7)))],
    ['a file too many', (arrived) => writeFileSync(join(arrived, 'more'), '')],
    ['a byte too many', (arrived) => appendFileSync(join(arrived, pathOfFile(3)), 'x')],
    ['another name', (arrived) => renameSync(join(arrived, pathOfFile(3)), join(arrived, 'd0000/g'))],
    [
      'a file in another folder',
      (arrived) => {
        mkdirSync(join(arrived, 'd0001'));
        renameSync(join(arrived, pathOfFile(3)), join(arrived, 'd0001/f00999'));
      },
    ],
    [
      'other bytes',
      (arrived) => writeFileSync(join(arrived, pathOfFile(9)), 'x'.repeat(sizeOfFile(SMALL, 9))),
    ],
  ];
  it.each(damages)('finds %s', (_, damage) => {
    const sent = fingerprintOf(write('sent', SMALL));
    const arrived = write('arrived', SMALL);
    damage(arrived);
    expect(() => checkArrival(arrived, sent)).toThrow(/arrived/);
  });
});
