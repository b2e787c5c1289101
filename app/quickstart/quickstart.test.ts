import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareTrees } from './compare-trees.ts';
import { copyFolder, measureFolder, refuseFolder } from './copy-folder.ts';
import { makeChanges } from './make-changes.ts';
import { type SampleShape, writeSample } from './sample-data.ts';

const SHAPE: SampleShape = {
  seed: 1,
  smallFiles: 12,
  smallBytesMax: 4096,
  largeFiles: 1,
  largeBytes: 3_000_000,
};

let base: string;
let left: string;
let right: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'dray-quickstart-test-'));
  left = join(base, 'left');
  right = join(base, 'right');
  await mkdir(left);
  await mkdir(right);
});

afterEach(() => rm(base, { recursive: true, force: true }));

describe('The sample', () => {
  it('is equal for equal seeds, and has a link, an executable and an empty folder', async () => {
    await writeSample(left, SHAPE);
    await writeSample(right, SHAPE);
    const { differences, files, links, folders } = await compareTrees(left, right, []);
    expect({ differences, files, links, folders }).toEqual({
      differences: [],
      files: 14,
      links: 1,
      folders: 7,
    });
    expect((await stat(join(left, 'recordings/recording-1.raw'))).size).toBe(SHAPE.largeBytes);
  });
});

describe('compareTrees', () => {
  const cases: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a file more', () => writeFile(join(left, 'more'), '')],
    ['a file less', () => rm(join(left, 'notes'), { recursive: true })],
    ['another mode', () => chmod(join(left, 'convert.sh'), 0o644)],
    ['another size', () => writeFile(join(left, 'convert.sh'), 'x')],
    [
      'another target',
      () => rm(join(left, 'newest.raw')).then(() => symlink('elsewhere', join(left, 'newest.raw'))),
    ],
    ['an empty folder more', () => mkdir(join(left, 'empty/inner'))],
  ];

  it.each(cases)('reports %s', async (_name, change) => {
    await writeSample(left, SHAPE);
    await copyFolder(left, right);
    expect((await compareTrees(left, right, [])).differences).toEqual([]);
    await change();
    expect((await compareTrees(left, right, [])).differences).not.toEqual([]);
  });

  it('reports a different last byte of a large file', async () => {
    await writeSample(left, SHAPE);
    await copyFolder(left, right);
    const path = join(right, 'recordings/recording-1.raw');
    const bytes = await readFile(path);
    bytes[bytes.length - 1]! ^= 1;
    await writeFile(path, bytes);
    expect((await compareTrees(left, right, [])).differences).toEqual([
      'recordings/recording-1.raw: the content differs',
    ]);
  });
});

describe('A copy of a folder', () => {
  it('does not change the original when it is edited', async () => {
    await writeSample(left, SHAPE);
    await copyFolder(left, join(base, 'copy'));
    await copyFolder(left, join(base, 'original'));
    expect(await makeChanges(join(base, 'copy'))).toHaveLength(4);
    expect((await compareTrees(left, join(base, 'original'), [])).differences).toEqual([]);
    expect((await compareTrees(left, join(base, 'copy'), [])).differences).toHaveLength(5);
  });

  it('is refused when the folder is too large or the disk is too small', async () => {
    await writeSample(left, SHAPE);
    const size = await measureFolder(left);
    expect(size.files).toBe(14);
    expect(await refuseFolder(size, base)).toBeUndefined();
    expect(await refuseFolder({ files: 1, bytes: 21 * 1024 ** 3 }, base)).toMatch(/too large/);
    expect(await refuseFolder({ files: 600_000, bytes: 1 }, base)).toMatch(/too large/);
  });
});
