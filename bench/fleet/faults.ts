/** The faults of a fleet's chaos, until its job ends. */
import { loadavg } from 'node:os';
import type { BadNetwork } from '../../e2e/servers/toxiproxy.ts';
import type { BenchWorker, FleetMachine } from './fleet-machine.ts';

/** Restarts of Temporal follow these kills of workers. */
const RESTARTS_AFTER = [2, 5];
export const RESTARTED_AFTER_MS = 3_000;
export const RESET_EVERY_MS = 2_000;
const RESET_FOR_MS = 300;
export const RESET_SHARE = 0.1;

export interface Faults {
  readonly kills: number;
  readonly restarts: number;
  readonly resets: number;
}

export const NO_FAULTS: Faults = { kills: 0, restarts: 0, resets: 0 };

interface FaultOptions {
  /** It ends the faults. */
  readonly job: Promise<unknown>;
  /** The workers; those that are killed are replaced. */
  readonly running: BenchWorker[];
  readonly everyMs: number;
}

export async function makeFaults(
  machine: FleetMachine,
  proxy: BadNetwork,
  { everyMs, job, running }: FaultOptions,
): Promise<Faults> {
  let isOver = false;
  const over = job.then(() => {
    isOver = true;
  });
  const pause = (ms: number) => Promise.race([over, new Promise((resolve) => setTimeout(resolve, ms))]);
  const faults = { kills: 0, restarts: 0, resets: 0 };
  const resetting = resetConnections(proxy, { pause, isOver: () => isOver });
  let killedMs = performance.now();
  for (;;) {
    await pause(Math.max(0, killedMs + everyMs - performance.now()));
    if (isOver) break;
    killedMs = performance.now();
    await running.shift()!.kill();
    faults.kills += 1;
    if (RESTARTS_AFTER.includes(faults.kills)) {
      await machine.temporal.kill();
      await pause(RESTARTED_AFTER_MS);
      await machine.temporal.start();
      faults.restarts += 1;
    }
    running.push(await startWatched(machine));
    console.error(`${faults.kills} killed, ${faults.restarts} restarts, load ${loadavg()[0]!.toFixed(1)}`);
  }
  return { ...faults, resets: await resetting };
}

/** A worker that ends although nobody ended it is a finding: its output shows why. */
export async function startWatched(machine: FleetMachine): Promise<BenchWorker> {
  const worker = await machine.startWorker();
  void worker.endedAlone.then((end) =>
    console.error(`The worker ${worker.processId} ended by itself with ${end}:\n${worker.output()}`),
  );
  return worker;
}

interface Until {
  readonly pause: (ms: number) => Promise<unknown>;
  readonly isOver: () => boolean;
}

/** @returns How often it has done so. */
async function resetConnections(proxy: BadNetwork, { isOver, pause }: Until): Promise<number> {
  let resets = 0;
  for (;;) {
    await pause(RESET_EVERY_MS - RESET_FOR_MS);
    if (isOver()) return resets;
    // The one loses requests, the other answers of requests that were carried out.
    const stream = resets % 2 === 0 ? 'downstream' : 'upstream';
    await proxy.resetConnections(RESET_SHARE, stream);
    await pause(RESET_FOR_MS);
    await proxy.resetConnections(0, stream);
    resets += 1;
  }
}
