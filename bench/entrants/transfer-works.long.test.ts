import { expect, it } from 'vitest';
import {
  DRAY_FROM_SOURCES,
  DRAY_REPOSITORY_FROM_SOURCES,
  findUnplanned,
  openSmallBench,
  runEntrant,
} from '../machines/small-bench.ts';
import type { Contender, ContenderName } from './contender.ts';
import { clone, firstPush, leaveOutSlow, secondPush } from './transfer-works.ts';

const SHAPE = { files: 12, bytesMax: 200, sizes: 'spread' } as const;
const NAMES: readonly ContenderName[] = ['dray', 'dray copy'];

it('dataset works need exactly the holdings that they name, in any heat', async () => {
  await using bench = await openSmallBench({
    contenders: new Map<ContenderName, Contender>([
      ['dray', DRAY_REPOSITORY_FROM_SOURCES],
      ['dray copy', DRAY_FROM_SOURCES],
    ]),
  });
  for (const work of [firstPush, secondPush, clone, secondPush]) {
    const { needs, open } = work(SHAPE, NAMES);
    await bench.beginHeat(new Set(needs.holdings.map(({ name }) => name)));
    const field = await open(bench, 0);
    expect(field.slice(0, 2).map(({ name }) => name)).toEqual(NAMES);
    for (const entrant of field) await runEntrant(bench, entrant);
    expect(findUnplanned(bench, needs), work.name).toEqual({ unused: [], unnamed: [] });
  }
});

it('works that exclude slow tools name them with the reason', async () => {
  await using bench = await openSmallBench({
    contenders: new Map<ContenderName, Contender | { readonly missing: string }>([
      ['dray', DRAY_REPOSITORY_FROM_SOURCES],
      ['dvc', { missing: 'it is not installed' }],
    ]),
  });
  const field = await leaveOutSlow(firstPush(SHAPE, ['dray']), ['dvc', 'aws']).open(bench, 0);
  expect(field.map(({ kind, missing, name }) => ({ kind, missing, name }))).toEqual([
    { kind: 'dray', missing: undefined, name: 'dray' },
    { kind: 'peer', missing: expect.stringContaining('left out: it takes minutes'), name: 'dvc' },
  ]);
});
