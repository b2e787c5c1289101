/** Commits are forgotten on a server, by several machines at once and while others push. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { log } from '../../engine/jobs/history/log.ts';
import { tag } from '../../engine/jobs/history/refs.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { forget } from '../../engine/jobs/retention/forget.ts';
import { eventsOf } from '../../engine/jobs/session/job.fixture.ts';
import { createS3Dataset, type S3Dataset } from '../s3-dataset.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

const COMMITS = 8;

let server: S3Server;
let dataset: S3Dataset;
beforeAll(async () => {
  server = await startVersitygw();
  dataset = createS3Dataset(server, 'forget');
});
afterAll(async () => {
  dataset?.[Symbol.dispose]();
  await server?.stop();
});

async function commitsOf(name: string) {
  const context = dataset.context(name);
  await log(context, {});
  return eventsOf(context, 'commit');
}

describe('forgetting on a server', () => {
  it('by several machines at once loses none of their decisions, and no push', async () => {
    const names = ['one', 'two', 'three'];
    for (const name of names) await dataset.init(name);
    for (let at = 0; at < COMMITS; at += 1) {
      dataset.sandbox.write('one/file', `${at}`);
      await push(dataset.context('one'), { message: `${at}` });
    }
    const before = await commitsOf('one');
    await tag(dataset.context('one'), { name: 'first', ref: before.at(-1)!.commit });
    await Promise.all([pull(dataset.context('two'), {}), pull(dataset.context('three'), {})]);
    dataset.sandbox.write('three/other', 'pushed meanwhile');

    const [two, one] = await Promise.all([
      forget(dataset.context('two'), { policy: { keepLast: 3 }, save: true }),
      forget(dataset.context('one'), { policy: { keepLast: 5 } }),
      push(dataset.context('three'), { message: 'meanwhile' }),
    ]);
    expect([one.result, two.result]).toEqual(['forgot', 'forgot']);

    const after = await commitsOf('one');
    expect(after[0]).toMatchObject({ message: 'meanwhile', refs: ['main'] });
    // The push may have come before or after a decision.
    const kept = after.filter(({ isForgotten }) => !isForgotten).map(({ message }) => message);
    expect(kept.slice(0, 3)).toEqual(['meanwhile', '7', '6']);
    expect(kept.at(-1)).toBe('0');
    expect([4, 5]).toContain(kept.length);
    const checked = await verify(dataset.context('two'), { readDataPercent: 100 });
    expect(checked).toMatchObject({ missing: 0, damaged: 0, forgotten: COMMITS + 1 - kept.length });
    const { policy, result } = await forget(dataset.context('three'), { dryRun: true });
    expect([policy, result]).toEqual([
      { keepLast: 3 },
      kept.length === 5 ? 'wouldForget' : 'nothingToForget',
    ]);
  });
});
