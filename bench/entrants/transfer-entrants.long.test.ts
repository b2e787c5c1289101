import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatasetShape } from '../data/dataset.ts';
import type { Bench } from '../machines/bench.ts';
import { SERVER_NAMES } from '../machines/bench-servers.ts';
import { DRAY_FROM_SOURCES, openSmallBench, runEntrant } from '../machines/small-bench.ts';
import type { Contender, ContenderName } from './contender.ts';
import { NODE_ALONE, openClone, openFirstPush, openSecondPush } from './transfer-entrants.ts';

const SHAPE: DatasetShape = { files: 12, bytesMax: 200, sizes: 'spread' };
const NAMES: readonly ContenderName[] = ['dray copy'];

describe.each(SERVER_NAMES)('The entrants that copy a dataset, on %s,', (server) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSmallBench({ server });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  const withContender = (changes: Partial<Contender>): Bench => {
    const contender: Contender = { ...DRAY_FROM_SOURCES, ...changes };
    return { ...bench, contenders: new Map<ContenderName, Contender>([['dray copy', contender]]) };
  };

  it.each([0, 5])('upload and download through %i ms of latency', async (latencyMs) => {
    await runEntrant(bench, (await openFirstPush(bench, { shape: SHAPE, contenders: NAMES, latencyMs }))[0]);
    await runEntrant(bench, (await openClone(bench, { shape: SHAPE, contenders: NAMES, latencyMs }))[0]);
  });

  it('fail when they copied only a part', async () => {
    const [first, second] = [await bench.dataset(SHAPE), await bench.dataset({ ...SHAPE, files: 11 })];
    const partly = withContender({ upload: (_, place) => DRAY_FROM_SOURCES.upload(second.folder, place) });
    const [entrant] = await openFirstPush(partly, { shape: SHAPE, contenders: NAMES, latencyMs: 0 });
    await expect(runEntrant(bench, entrant)).rejects.toThrow('11 files arrived, and 12 were sent');
    expect(first.fingerprint().files).toBe(12);
  });

  it('send nothing the second time, beside plain Node', async () => {
    const field = await openSecondPush(bench, { shape: SHAPE, contenders: NAMES, latencyMs: 5 });
    expect(field.map(({ name }) => name)).toEqual(['dray copy', NODE_ALONE]);
    for (const entrant of field) await runEntrant(bench, entrant);
  });

  it('fail when they send again', async () => {
    const { folder } = await bench.dataset({ ...SHAPE, bytesMax: 201 });
    const careless = withContender({ uploadAgain: (_, place) => DRAY_FROM_SOURCES.upload(folder, place) });
    const [entrant] = await openSecondPush(careless, { shape: SHAPE, contenders: NAMES, latencyMs: 0 });
    await expect(runEntrant(bench, entrant)).rejects.toThrow(/it (wrote|changed)/);
  });
});
