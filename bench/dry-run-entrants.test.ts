import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Bench } from './bench.ts';
import type { Contender, ContenderName } from './contender.ts';
import { type DatasetShape, pathOfFile, sizeOfFile, writeDataset } from './dataset.ts';
import { checkNamed, openComparison, openDryRun, writeSample } from './dry-run-entrants.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { CommandRun } from './measure.ts';
import type { Entrant } from './scenario.ts';
import { DRAY_FROM_SOURCES, openSmallBench } from './small-bench.ts';

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
      expect(statSync(own).size).toBe(sizeOfFile(STORED, index) + (grown ? 1 : 0));
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

  async function runOnce(entrant: Entrant | undefined, change?: (run: CommandRun) => CommandRun) {
    if (!entrant) throw new Error('The entrant is missing.');
    await entrant.setUp?.();
    const attempt = await entrant.prepare();
    try {
      await bench.watch.reset();
      const run = await bench.meter.run(attempt.command, bench.signal);
      const { requests } = await bench.watch.read();
      await attempt.check(change ? change(run) : run, requests);
      return requests;
    } finally {
      await attempt.close();
    }
  }

  it('are those that are there; who has none says so', async () => {
    const field = await openDryRun(bench, { local: { kind: 'all', shape: STORED }, contenders: NAMES });
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
      { local: { kind: 'all', shape: STORED }, contenders: ['dray copy', 'rclone', 's5cmd'] },
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
    });
    const first = await runOnce(entrant);
    const second = await runOnce(entrant);
    expect(second?.map(({ operation }) => operation)).toEqual(first?.map(({ operation }) => operation));
  });

  it('name all of many files against none', async () => {
    const [entrant] = await openDryRun(bench, {
      local: { kind: 'all', shape: STORED },
      contenders: ['dray copy'],
    });
    await runOnce(entrant);
  });

  it('fail when they name too little, or when they do what they should only say', async () => {
    const options = { local: { kind: 'all', shape: STORED }, contenders: ['dray copy'] } as const;
    const [silent] = await openDryRun(bench, options);
    const withoutLine = (run: CommandRun) => ({ ...run, output: run.output.replace(/^A .*\n/m, '') });
    await expect(runOnce(silent, withoutLine)).rejects.toThrow('named 39 files');

    const real: Contender = {
      ...DRAY_FROM_SOURCES,
      dryRun: { ...DRAY_FROM_SOURCES.dryRun!, command: DRAY_FROM_SOURCES.upload },
    };
    const contenders = new Map<ContenderName, Contender>([['dray copy', real]]);
    const [doer] = await openDryRun({ ...bench, contenders }, options);
    await expect(runOnce(doer)).rejects.toThrow('it wrote: PutObject');
  });

  it.each(['versitygw', 'minio'] as const)('compare all and name the last, on %s', async (server) => {
    await using own = await openSmallBench({ server });
    const shape: DatasetShape = { files: 1_003, bytesMax: 16, sizes: 'spread' };
    const [entrant] = await openComparison(own, { shape, contenders: ['dray copy'] });
    await entrant?.setUp?.();
    const attempt = await entrant!.prepare();
    await own.watch.reset();
    const run = await own.meter.run(attempt.command, own.signal);
    const { requests } = await own.watch.read();
    expect(run.output).toContain(pathOfFile(1_002));
    await attempt.check(run, requests);
    const unfinished = { ...run, output: run.output.replaceAll(pathOfFile(1_002), pathOfFile(1_000)) };
    await expect(attempt.check(unfinished, requests)).rejects.toThrow('has not changed');
    await attempt.close();
  });
});
