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

describe('a sample of what is stored', () => {
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

  it('has files from all over it, of which the first have grown', () => {
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

  it('leaves what is stored as it is', () => {
    const before = fingerprintOf(join(folder, 'whole'));
    sample(10, 10);
    expect(fingerprintOf(join(folder, 'whole'))).toEqual(before);
  });

  it('of one file is the first', () => {
    expect(sample(1, 1)).toEqual([pathOfFile(0)]);
  });

  it('is refused where it would be larger than the whole', () => {
    expect(() => sample(41, 1)).toThrow(RangeError);
  });
});

describe('what a tool names', () => {
  it('has to be all that changed, in any order', () => {
    expect(() => checkNamed(['b', 'a'], ['a', 'b'])).not.toThrow();
    expect(() => checkNamed([], [])).not.toThrow();
  });

  it.each([
    ['too little', ['a']],
    ['too much', ['a', 'b', 'c']],
    ['another', ['a', 'c']],
    ['one twice', ['a', 'a']],
  ])('is refused when it is %s', (_, named) => {
    expect(() => checkNamed(named, ['a', 'b'])).toThrow(/named/);
  });
});

describe('the entrants of a dry run', () => {
  /** A tool that can copy and has no dry run. */
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

  it('are those that are there; who has none says so', async () => {
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

  it('with their variants, where the tools are there', async () => {
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

  it('name what changed of a few files against many, and nothing is remembered for the next run', async () => {
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

  it('name all of many files against none', async () => {
    const [entrant] = await openDryRun(bench, {
      local: { kind: 'all', shape: STORED },
      contenders: ['dray copy'],
      latencyMs: 0,
    });
    await runEntrant(bench, entrant);
  });

  it('fail when they name too little, or when they do what they should only say', async () => {
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

  it.each(['versitygw', 'minio'] as const)('compare all and name the last, on %s', async (server) => {
    await using own = await openSmallBench({ server });
    const shape: DatasetShape = { files: 1_003, bytesMax: 16, sizes: 'spread' };
    const [entrant] = await openComparison(own, { shape, contenders: ['dray copy'], latencyMs: 0 });
    await runEntrant(own, entrant);
    const stopAt = (index: number) => (run: CommandRun) => ({
      ...run,
      output: run.output.replaceAll(pathOfFile(1_002), pathOfFile(index)),
    });
    await expect(runEntrant(own, entrant, stopAt(1_000))).rejects.toThrow('has not changed');
  });
});
