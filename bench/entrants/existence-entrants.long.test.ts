import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatasetShape } from '../data/dataset.ts';
import type { Bench } from '../machines/bench.ts';
import type { CommandRun } from '../machines/measure.ts';
import {
  DRAY_FROM_SOURCES,
  DRAY_REPOSITORY_FROM_SOURCES,
  findUnplanned,
  openSmallBench,
  runEntrant,
} from '../machines/small-bench.ts';
import { datasetHolding, linkedHolding } from '../scenarios/holding.ts';
import type { Contender, ContenderName } from './contender.ts';
import { needsOfExistence, openExistence } from './existence-entrants.ts';

const STORED: DatasetShape = { files: 1_200, bytesMax: 64, sizes: 'spread' };
const CONTENDERS = new Map<ContenderName, Contender>([
  ['dray', DRAY_REPOSITORY_FROM_SOURCES],
  ['dvc', { ...DRAY_FROM_SOURCES, name: 'dvc' }],
]);

describe('The entrants that query a repository', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSmallBench({ contenders: CONTENDERS });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it('count the missing files of a few, in every run', async () => {
    const local = { kind: 'some', files: 100, changed: 7 } as const;
    const [entrant, unable] = await openExistence(bench, { stored: STORED, local, latencyMs: 0 });
    expect(unable?.missing).toBe('it has no such question');
    for (let round = 0; round < 2; round += 1) {
      const requests = await runEntrant(bench, entrant);
      expect(requests?.map(({ operation }) => operation)).toContain('ListObjectsV2');
    }
  });

  it('query the same repository about another folder in another heat', async () => {
    const local = { kind: 'some', files: 1, changed: 1 } as const;
    const needs = needsOfExistence({ local, stored: STORED });
    await bench.beginHeat(new Set(needs.holdings.map(({ name }) => name)));
    const [entrant] = await openExistence(bench, { stored: STORED, local, latencyMs: 5 });
    await runEntrant(bench, entrant);
    const { unnamed, unused } = findUnplanned(bench, needs);
    expect(unnamed).toEqual([datasetHolding(STORED).name]);
    // DVC is not installed.
    expect(unused).toEqual([linkedHolding(STORED, 'md5').name]);
  });

  it('count each content once for an empty repository', async () => {
    const local = { kind: 'all', shape: STORED } as const;
    const [entrant] = await openExistence(bench, { local, by: 'size', latencyMs: 0 });
    await runEntrant(bench, entrant);
  });

  it('fail when they report another number', async () => {
    const local = { kind: 'some', files: 50, changed: 3 } as const;
    const [entrant] = await openExistence(bench, { stored: STORED, local, latencyMs: 0 });
    const change = (run: CommandRun) => ({
      ...run,
      output: run.output.replace('"uploadedObjects":3', '"uploadedObjects":2'),
    });
    await expect(runEntrant(bench, entrant, change)).rejects.toThrow(
      'reported 2 missing objects instead of 3',
    );
  });
});

it('a server whose objects are not files cannot be used for queries', async () => {
  await using bench = await openSmallBench({ server: 'minio', contenders: CONTENDERS });
  const local = { kind: 'some', files: 1, changed: 1 } as const;
  const [entrant] = await openExistence(bench, { stored: STORED, local, latencyMs: 0 });
  expect(entrant?.missing).toContain('written as files');
});
