import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DatasetShape, pathOfFile, sizeOfFile, writeDataset } from '../data/dataset.ts';
import { fingerprintOf } from '../data/fingerprint.ts';
import type { Bench } from '../machines/bench.ts';
import type { CommandRun } from '../machines/measure.ts';
import { DRAY_FROM_SOURCES, openSmallBench, runEntrant } from '../machines/small-bench.ts';
import type { Contender, ContenderName } from './contender.ts';
import { checkNamed, openComparison, openDryRun, writeSample } from './dry-run-entrants.ts';

const STORED: DatasetShape = { files: 40, bytesMax: 64, sizes: 'spread' };

describe('A sample of the stored files', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dray-sample-'));
    writeDataset(join(folder, 'whole'), STORED);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const sample = (files: number, changed: number) =>
    writeSample({
      whole: join(folder, 'whole'),
      stored: STORED,
      folder: join(folder, 'sample'),
      files,
      changed,
    });

  it('has files from the whole range, and its first files have grown', () => {
    expect(sample(10, 2)).toEqual([pathOfFile(0), pathOfFile(4)]);
    expect(fingerprintOf(join(folder, 'sample')).files).toBe(10);
    for (let index = 0; index < STORED.files; index += 4) {
      const [whole, own] = ['whole', 'sample'].map((name) => join(folder, name, pathOfFile(index))) as [
        string,
        string,
      ];
      const grown = index < 8;
      expect(statSync(own).size).toBe(sizeOfFile(STORED, index) + (grown ? pathOfFile(index).length : 0));
      if (grown) continue;
      expect(readFileSync(own)).toEqual(readFileSync(whole));
      expect(statSync(own, { bigint: true }).mtimeNs).toBe(statSync(whole, { bigint: true }).mtimeNs);
    }
  });

  it('does not change the stored files', () => {
    const before = fingerprintOf(join(folder, 'whole'));
    sample(10, 10);
    expect(fingerprintOf(join(folder, 'whole'))).toEqual(before);
  });

  it('is the first file when it has one file', () => {
    expect(sample(1, 1)).toEqual([pathOfFile(0)]);
  });

  it('is refused when it would be larger than the whole', () => {
    expect(() => sample(41, 1)).toThrow(RangeError);
  });
});

describe('The names in a dry run', () => {
  it('must be all changed files, in any order', () => {
    expect(() => checkNamed(['b', 'a'], ['a', 'b'])).not.toThrow();
    expect(() => checkNamed([], [])).not.toThrow();
  });

  it.each([
    ['too little', ['a']],
    ['too much', ['a', 'b', 'c']],
    ['another', ['a', 'c']],
    ['one twice', ['a', 'a']],
  ])('are refused when they are %s', (_, named) => {
    expect(() => checkNamed(named, ['a', 'b'])).toThrow(/named/);
  });
});

describe('The entrants of a dry run', () => {
  /** A tool that copies but has no dry run. */
  const { dryRun: _, ...rest } = DRAY_FROM_SOURCES;
  const UNABLE: Contender = { ...rest, name: 'aws' };
  const NAMES: readonly ContenderName[] = ['dray copy', 'aws', 'rclone', 's5cmd'];

  let bench: Bench;
  beforeAll(async () => {
    const contenders = new Map<ContenderName, Contender>([
      ['dray copy', DRAY_FROM_SOURCES],
      ['aws', UNABLE],
    ]);
    bench = await openSmallBench({ contenders });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it('are the tools with a dry run; others give the reason', async () => {
    const field = await openDryRun(bench, {
      local: { kind: 'all', shape: STORED },
      contenders: NAMES,
      latencyMs: 0,
    });
    expect(field.map(({ name, missing }) => [name, missing])).toEqual([
      ['dray copy', undefined],
      ['aws', 'it has no dry run'],
    ]);
    await expect(field[1]?.prepare()).rejects.toThrow('no dry run');
  });

  it('include the variants of installed tools', async () => {
    const contenders = new Map<ContenderName, Contender>(
      NAMES.map((name) => [name, { ...DRAY_FROM_SOURCES, name }]),
    );
    const field = await openDryRun(
      { ...bench, contenders },
      { local: { kind: 'all', shape: STORED }, contenders: ['dray copy', 'rclone', 's5cmd'], latencyMs: 0 },
    );
    expect(field.map(({ name }) => name)).toEqual([
      ...['dray copy', 'rclone', 's5cmd', 'rclone (no traverse)', 's5cmd (one by one)'],
    ]);
  });

  it('name the changed files of a few against many, and leave no cache', async () => {
    const [entrant] = await openDryRun(bench, {
      stored: STORED,
      local: { kind: 'some', files: 10, changed: 3 },
      contenders: ['dray copy'],
      latencyMs: 0,
    });
    const first = await runEntrant(bench, entrant);
    const second = await runEntrant(bench, entrant);
    expect(second?.map(({ operation }) => operation)).toEqual(first?.map(({ operation }) => operation));
  });

  it('name every file of many against none', async () => {
    const [entrant] = await openDryRun(bench, {
      local: { kind: 'all', shape: STORED },
      contenders: ['dray copy'],
      latencyMs: 0,
    });
    await runEntrant(bench, entrant);
  });

  it('fail when they name too few files, or copy instead of naming', async () => {
    const options = {
      local: { kind: 'all', shape: STORED },
      contenders: ['dray copy'],
      latencyMs: 0,
    } as const;
    const [silent] = await openDryRun(bench, options);
    const withoutLine = (run: CommandRun) => ({ ...run, output: run.output.replace(/^A .*\n/m, '') });
    await expect(runEntrant(bench, silent, withoutLine)).rejects.toThrow('named 39 files');

    const real: Contender = {
      ...DRAY_FROM_SOURCES,
      dryRun: { ...DRAY_FROM_SOURCES.dryRun!, command: DRAY_FROM_SOURCES.upload },
    };
    const contenders = new Map<ContenderName, Contender>([['dray copy', real]]);
    const [doer] = await openDryRun({ ...bench, contenders }, options);
    await expect(runEntrant(bench, doer)).rejects.toThrow('it wrote: PutObject');
  });

  it.each(['versitygw', 'minio'] as const)(
    'compare all files and name the last one, on %s',
    async (server) => {
      await using own = await openSmallBench({ server });
      const shape: DatasetShape = { files: 1_003, bytesMax: 16, sizes: 'spread' };
      const [entrant] = await openComparison(own, { shape, contenders: ['dray copy'], latencyMs: 0 });
      await runEntrant(own, entrant);
      const stopAt = (index: number) => (run: CommandRun) => ({
        ...run,
        output: run.output.replaceAll(pathOfFile(1_002), pathOfFile(index)),
      });
      await expect(runEntrant(own, entrant, stopAt(1_000))).rejects.toThrow('has not changed');
    },
  );
});
