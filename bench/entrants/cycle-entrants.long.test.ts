import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DatasetShape, listPaths, pathOfFile, writeDataset } from '../data/dataset.ts';
import {
  DRAY_FROM_SOURCES,
  DRAY_REPOSITORY_FROM_SOURCES,
  openSmallBench,
  runEntrant,
} from '../machines/small-bench.ts';
import { runScenario } from '../scenarios/run-scenario.ts';
import type { Contender, ContenderName } from './contender.ts';
import { editDataset, openCycles } from './cycle-entrants.ts';

const SHAPE: DatasetShape = { files: 200, bytesMax: 64, sizes: 'spread' };

describe('An edit', () => {
  let [folder, links] = ['', ''];
  beforeEach(() => {
    [folder, links] = ['files', 'links'].map((name) => mkdtempSync(join(tmpdir(), `dray-edit-${name}-`))) as [
      string,
      string,
    ];
    writeDataset(folder, SHAPE);
  });
  afterEach(() => {
    for (const path of [folder, links]) rmSync(path, { recursive: true, force: true });
  });

  const readAll = () =>
    new Map(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((item) => item.isFile())
        .map((item) => [
          join(item.parentPath, item.name),
          readFileSync(join(item.parentPath, item.name), 'hex'),
        ]),
    );

  it('changes 2 % of the files, adds 1 %, and keeps the others', () => {
    const before = readAll();
    expect(editDataset(folder, { shape: SHAPE, files: 200, version: 1 })).toBe(202);
    const after = readAll();
    const differing = [...after].filter(([path, content]) => before.get(path) !== content);
    expect(differing.filter(([path]) => before.has(path))).toHaveLength(4);
    expect([...after.keys()].filter((path) => !before.has(path)).sort()).toEqual(
      [200, 201].map((index) => join(folder, pathOfFile(index))),
    );
    expect(after.size).toBe(202);
  });

  it('changes other files to other contents in the next version', () => {
    const files = editDataset(folder, { shape: SHAPE, files: 200, version: 1 });
    const first = readAll();
    editDataset(folder, { shape: SHAPE, files, version: 2 });
    const second = readAll();
    expect(
      [...second].filter(([path, content]) => first.has(path) && first.get(path) !== content),
    ).toHaveLength(4);
  });

  it('replaces a changed file, so that hard links keep the old content', () => {
    const paths = listPaths(SHAPE.files);
    const before = new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'hex')]));
    for (const [index, path] of paths.entries()) linkSync(join(folder, path), join(links, String(index)));
    editDataset(folder, { shape: SHAPE, files: 200, version: 1 });
    const linked = paths.map((path, index) => [path, readFileSync(join(links, String(index)), 'hex')]);
    expect(linked).toEqual([...before]);
  });
});

describe('Versions', () => {
  const CONTENDERS = new Map<ContenderName, Contender>([
    ['dray', DRAY_REPOSITORY_FROM_SOURCES],
    ['rclone', { ...DRAY_FROM_SOURCES, name: 'rclone' }],
  ]);
  const open = (contenders: ReadonlyMap<ContenderName, Contender>) => openSmallBench({ contenders });
  const OPTIONS = { shape: SHAPE, versions: 2, contenders: ['dray', 'rclone'], latencyMs: 0 } as const;
  const HEAT = { name: 'cycles', scenario: 'cycles', latencyMs: 0, title: 'Cycles', targets: [] };

  it('are pushed and pulled with a number in every series, by tools that keep versions', async () => {
    await using bench = await open(CONTENDERS);
    const field = await openCycles(bench, OPTIONS);
    expect(field[1]?.missing).toBe('it keeps no versions');
    const { entrants } = await runScenario(HEAT, field.slice(0, 1), bench, { runs: 1, say: () => {} });
    const outcome = entrants[0]?.outcome;
    if (outcome?.state !== 'measured') throw new Error(JSON.stringify(outcome));
    const [run] = outcome.runs;
    const series = run?.series ?? {};
    expect(Object.entries(series).map(([name, numbers]) => [name, numbers.length])).toEqual([
      ['pushMs', 3],
      ['pullMs', 3],
      ['sentBytes', 3],
      ['receivedBytes', 3],
      ['storedBytes', 3],
    ]);
    const times = [...(series.pushMs ?? []), ...(series.pullMs ?? [])];
    expect(run?.wallMs).toBeCloseTo(times.reduce((sum, ms) => sum + ms, 0));
    expect(series.storedBytes?.[2]).toBeGreaterThan(series.storedBytes?.[0] ?? 0);
    expect(series.sentBytes?.[0]).toBeGreaterThan(0);
  });

  it('make the run fail when one did not arrive', async () => {
    const { update: _, ...rest } = DRAY_REPOSITORY_FROM_SOURCES;
    const lazy: Contender = {
      ...rest,
      update: (place, folder) => ({
        file: process.execPath,
        args: ['-e', '0', folder],
        environment: place.environment,
      }),
    };
    await using bench = await open(new Map([['dray', lazy]]));
    const [entrant] = await openCycles(bench, OPTIONS);
    await expect(runEntrant(bench, entrant)).rejects.toThrow(/arrived/);
  });
});
