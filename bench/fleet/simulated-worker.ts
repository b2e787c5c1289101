/**
 * A worker whose parts move nothing: each reads its document, sleeps for each of its objects, and reports
 * them as copied. All other steps are real, unless the listing is computed: then nothing but Temporal and the
 * workflows is.
 */
import { tmpdir } from 'node:os';
import { runWorker } from '../../app/fleet/worker/worker.ts';
import {
  type FleetCounts,
  type FleetSteps,
  NO_FLEET_COUNTS,
  type PartRequest,
} from '../../engine/api/jobs/fleet.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { withFleet } from '../../engine/jobs/fleet/fleet-folder.ts';
import { knownPart } from '../../engine/jobs/fleet/fleet-part.ts';
import { fleetSteps } from '../../engine/jobs/fleet/fleet-steps.ts';

export interface SimulatedWorkerRequest {
  readonly address: string;
  readonly slots: number;
  readonly msForObject: number;
  /** Plans and cuts by arithmetic, without any listing. */
  readonly computed: ComputedListing | undefined;
}

interface ComputedListing {
  readonly objects: number;
  readonly ranges: number;
  readonly partFiles: number;
  readonly objectBytes: number;
  /** A cut sleeps so long for each part. */
  readonly msForPart: number;
}

if (import.meta.main && process.send)
  process.once('message', (request: SimulatedWorkerRequest) => void work(request));

async function work(request: SimulatedWorkerRequest): Promise<void> {
  const { address, computed, slots } = request;
  const stop = new AbortController();
  process.once('disconnect', () => stop.abort());
  const context: JobContext = {
    directory: tmpdir(),
    connection: {},
    environment: process.env,
    signal: stop.signal,
    emit: () => {},
  };
  const steps = { ...fleetSteps, ...sleepingParts(request) };
  await runWorker(context, {
    temporal: { address, namespace: 'default', queue: 'dray-fleet', tls: false },
    slots,
    drainMs: 0,
    steps: computed ? { ...steps, ...computedSteps(request, computed) } : steps,
    onReady: () => process.send!('ready'),
    onEvent: () => {},
    onLog: (line) => console.error(line),
  });
}

function sleepingParts({ msForObject }: SimulatedWorkerRequest): Pick<FleetSteps, 'runPart'> {
  return {
    runPart: (step, fleet, request) =>
      withFleet(step, fleet, async (folder) => {
        const { bytes, files } = await knownPart(folder, request);
        await systemClock.sleep(files * msForObject, step.signal);
        return copied(files, bytes);
      }),
  };
}

function computedSteps(
  { msForObject }: SimulatedWorkerRequest,
  { msForPart, objectBytes, objects, partFiles, ranges }: ComputedListing,
): Pick<FleetSteps, 'cutRange' | 'planRanges' | 'runPart'> {
  const firstOf = (range: number) => Math.floor((range * objects) / ranges);
  const filesOf = ({ number, range }: PartRequest) =>
    Math.max(0, Math.min(partFiles, firstOf(range + 1) - firstOf(range) - number * partFiles));
  return {
    planRanges: async () => ({ ranges, estimatedKeys: objects }),
    async cutRange(step, _fleet, { cutsMax, first, range }) {
      const parts = Array.from({ length: cutsMax }, (_, at) => filesOf({ range, number: first + at }))
        .filter((files) => files > 0)
        .map((files) => ({ files, bytes: files * objectBytes, largeBytes: [] }));
      await systemClock.sleep(parts.length * msForPart, step.signal);
      return { parts, isLast: filesOf({ range, number: first + cutsMax }) === 0 };
    },
    async runPart(step, _fleet, request) {
      const files = filesOf(request);
      await systemClock.sleep(files * msForObject, step.signal);
      return copied(files, files * objectBytes);
    },
  };
}

function copied(files: number, bytes: number): FleetCounts {
  return { ...NO_FLEET_COUNTS, files, bytes, copiedFiles: files, copiedBytes: bytes };
}
