/**
 * All faults of a fleet in one job: workers that are killed, a Temporal that is killed, connections that are
 * reset. `bench/fleet/chaos.ts` does the same for minutes and with more data.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Counted, type RequestGate, startRequestGate } from '../servers/request-gate.ts';
import { type BadNetwork, startToxiproxy } from '../servers/toxiproxy.ts';
import { differences } from './bucket-trees.ts';
import { type Fleet, numberedFiles, openFleet } from './open-fleet.ts';

const FILES = 3_000;
const ROUNDS = 4;
const WRITES_IN_ROUND = 400;
/** So many requests pass while connections are reset. */
const WRITES_IN_RESETS = 40;
const RESET_SHARE = 0.2;
/** Rounds that kill Temporal too. */
const RESTARTS = [1, 3];

let fleet: Fleet;
let gate: RequestGate;
let network: BadNetwork;
const isWrite: Counted = ({ method, url }) => method === 'PUT' && !url.pathname.includes('.dray-fleet');

beforeAll(async () => {
  fleet = await openFleet();
  gate = await startRequestGate(fleet.s3.endpoint);
  network = await startToxiproxy({ upstream: gate.endpoint });
  await fleet.put('source', numberedFiles(FILES));
});
afterAll(async () => {
  await network.stop();
  await gate[Symbol.asyncDispose]();
  await fleet[Symbol.asyncDispose]();
});

const writesSoFar = async () => {
  const requests = await fleet.s3.requests();
  return requests.filter(
    ({ method, path }) => method === 'PUT' && path.includes('/chaos/') && !path.includes('.dray-fleet'),
  ).length;
};

describe('a fleet', () => {
  it('copies every file, and few of them twice, while workers and Temporal die and connections break', async () => {
    const workers = [await fleet.startWorker(), await fleet.startWorker(), await fleet.startWorker()];
    gate.hold(isWrite, WRITES_IN_ROUND);
    const job = fleet.run(
      ...['copy', `s3://${fleet.s3.bucket}/source/`],
      `s3://${fleet.s3.bucket}/chaos/?endpoint=${network.endpoint}`,
      ...['--part-files', '100', '--ranges', '3', '--dead-after', '5s', '--json'],
    );
    for (let round = 0; round < ROUNDS; round += 1) {
      await expect.poll(() => gate.held()).toBeGreaterThan(0);
      await workers.shift()!.kill();
      if (RESTARTS.includes(round)) {
        await fleet.temporal.kill();
        await fleet.temporal.start();
      }
      workers.push(await fleet.startWorker());
      // Every other time, the store has carried the request out whose answer is lost.
      const stream = round % 2 === 0 ? 'downstream' : 'upstream';
      await network.resetConnections(RESET_SHARE, stream);
      gate.release();
      gate.hold(isWrite, WRITES_IN_RESETS);
      await expect.poll(() => gate.held()).toBeGreaterThan(0);
      await network.resetConnections(0, stream);
      gate.release();
      if (round < ROUNDS - 1) gate.hold(isWrite, WRITES_IN_ROUND);
    }
    const { exitCode, stdout, summary } = await job;
    expect(exitCode, stdout).toBe(0);
    expect(summary).toMatchObject({ result: 'done', failed: 0, failedParts: 0, counts: { files: FILES } });
    expect(differences(fleet, 'source', 'chaos')).toEqual([]);
    const writes = await writesSoFar();
    expect(writes).toBeGreaterThanOrEqual(FILES);
    expect(writes).toBeLessThanOrEqual(FILES * 1.1);
    for (const worker of workers) expect(await worker.stop()).toBe(0);
  });
});
