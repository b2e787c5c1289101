/** A store that asks one range of a job for fewer requests. Gates stop each range at the same point. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Counted, type RequestGate, startRequestGate } from '../servers/request-gate.ts';
import { differences } from './bucket-trees.ts';
import { type Fleet, numberedFiles, openFleet } from './open-fleet.ts';

/** More than one page of a listing, so that they are divided. */
const FILES = 2000;
const SMALL = ['--part-files', '20', '--ranges', '2', '--json'];
/** Parts of a range, by default. */
const AT_ONCE = 16;

let fleet: Fleet;
/** Of both workers. Two ranges run 32 parts, and cutting takes slots too. */
const SLOTS = 48;
/** In a row before the store. */
let gates: readonly [RequestGate, RequestGate];
const place = (prefix: string) => `s3://${fleet.s3.bucket}/${prefix}/`;

/** The last request of a part's step. */
const endsPart =
  (range: number, numbersFrom = 0): Counted =>
  ({ method, url }) => {
    const [, ofRange, number] = /\/failures\/(\d+)-(\d+)\.jsonl$/.exec(url.pathname) ?? [];
    return method === 'HEAD' && Number(ofRange) === range && Number(number) >= numbersFrom;
  };

beforeAll(async () => {
  fleet = await openFleet();
  const inner = await startRequestGate(fleet.s3.endpoint);
  gates = [await startRequestGate(inner.endpoint), inner];
  await fleet.put('source', numberedFiles(FILES));
  for (let worker = 0; worker < 2; worker += 1)
    await fleet.startWorker({ endpoint: gates[0].endpoint, words: ['--slots', `${SLOTS / 2}`] });
});
afterAll(async () => {
  for (const gate of gates) await gate[Symbol.asyncDispose]();
  await fleet[Symbol.asyncDispose]();
});

it('runs fewer parts of all ranges when the store asks one of them for fewer requests', async () => {
  const [first, second] = gates;
  first.hold(endsPart(0));
  second.hold(endsPart(1));
  const job = fleet.run('copy', place('source'), place('copy'), ...SMALL, '--id', 'slowed');
  const ranges = async () => {
    const { summary } = await fleet.run('status', 'slowed', '--json');
    return (summary.running ?? []) as readonly Record<string, unknown>[];
  };
  const full = { partsAtOnce: AT_ONCE, partsRunning: AT_ONCE };
  await expect.poll(ranges).toMatchObject([full, full]);

  // Beyond the first parts, which have sent their files.
  let refusals = 1;
  first.release();
  first.refuse(({ method, url }) => {
    const isRefused = refusals > 0 && method === 'PUT' && url.pathname.includes('/copy/2/object-');
    refusals -= isRefused ? 1 : 0;
    return isRefused;
  }, 503);
  const other = async () => (await ranges()).at(-1);
  await expect.poll(other).toMatchObject({ range: 1, partsAtOnce: AT_ONCE / 2 });

  // The halving has its effect after half of the running parts. The other half is a round, which adds one.
  second.release();
  second.hold(endsPart(1, AT_ONCE));
  const slowed = AT_ONCE / 2 + 1;
  await expect.poll(other).toMatchObject({ range: 1, partsAtOnce: slowed, partsRunning: slowed });
  second.release();
  expect((await job).summary).toMatchObject({ result: 'done', counts: { files: FILES, failed: 0 } });
  expect(differences(fleet, 'source', 'copy')).toEqual([]);
});
