import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bench } from './bench.ts';
import { SERVER_NAMES } from './bench-servers.ts';
import type { Contender, ContenderName } from './contender.ts';
import type { DatasetShape } from './dataset.ts';
import type { Entrant } from './scenario.ts';
import { DRAY_FROM_SOURCES, openSmallBench } from './small-bench.ts';
import { NODE_ALONE, openClone, openFirstPush, openSecondPush } from './transfer-entrants.ts';

const SHAPE: DatasetShape = { files: 12, bytesMax: 200, sizes: 'spread' };
const NAMES: readonly ContenderName[] = ['dray copy'];

describe.each(SERVER_NAMES)('entrants that move a dataset, on %s', (server) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSmallBench({ server });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  /** In the order of a scenario. */
  async function runOnce(entrant: Entrant | undefined): Promise<void> {
    if (!entrant) throw new Error('The entrant is missing.');
    await entrant.setUp?.();
    const attempt = await entrant.prepare();
    try {
      await bench.watch.reset();
      const run = await bench.meter.run(attempt.command, bench.signal);
      await attempt.check(run, (await bench.watch.read()).requests);
    } finally {
      await attempt.close();
    }
  }

  const withContender = (changes: Partial<Contender>): Bench => {
    const contender: Contender = { ...DRAY_FROM_SOURCES, ...changes };
    return { ...bench, contenders: new Map<ContenderName, Contender>([['dray copy', contender]]) };
  };

  it.each(['direct', 'slow'] as const)('go up and down over a link that is %s', async (link) => {
    await runOnce((await openFirstPush(bench, { shape: SHAPE, contenders: NAMES, link }))[0]);
    await runOnce((await openClone(bench, { shape: SHAPE, contenders: NAMES, link }))[0]);
  });

  it('are refused when they brought only some of it', async () => {
    const [first, second] = [await bench.dataset(SHAPE), await bench.dataset({ ...SHAPE, files: 11 })];
    const partly = withContender({ upload: (_, place) => DRAY_FROM_SOURCES.upload(second.folder, place) });
    const [entrant] = await openFirstPush(partly, { shape: SHAPE, contenders: NAMES, link: 'direct' });
    await expect(runOnce(entrant)).rejects.toThrow('11 files arrived, and 12 were sent');
    expect(first.fingerprint().files).toBe(12);
  });

  it('find nothing to send the second time, beside Node alone', async () => {
    const field = await openSecondPush(bench, { shape: SHAPE, contenders: NAMES });
    expect(field.map(({ name }) => name)).toEqual(['dray copy', NODE_ALONE]);
    for (const entrant of field) await runOnce(entrant);
  });

  it('are refused when they send again', async () => {
    const { folder } = await bench.dataset({ ...SHAPE, bytesMax: 201 });
    const careless = withContender({ uploadAgain: (_, place) => DRAY_FROM_SOURCES.upload(folder, place) });
    const [entrant] = await openSecondPush(careless, { shape: SHAPE, contenders: NAMES });
    await expect(runOnce(entrant)).rejects.toThrow(/it (wrote|changed)/);
  });
});
