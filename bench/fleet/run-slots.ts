/** Runs a fleet's copy in this process as one worker does: parts run while ranges are cut. */
import {
  addFleetCounts,
  type FleetCounts,
  type FleetRequest,
  NO_FLEET_COUNTS,
} from '../../engine/api/jobs/fleet.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { fleetSteps as steps } from '../../engine/jobs/fleet/fleet-steps.ts';

const CUTS_AT_ONCE = 2;

export interface SlotsOptions {
  readonly context: JobContext;
  readonly id: string;
  readonly request: FleetRequest;
  readonly slots: number;
}

export async function runSlots({ context, id, request, slots }: SlotsOptions) {
  const work = await steps.begin(context, id, request);
  const { ranges } = await steps.planRanges(context, work);
  let counts: FleetCounts = NO_FLEET_COUNTS;
  let parts = 0;
  const running = new Set<Promise<void>>();
  const run = async (range: number, number: number) => {
    const ran = await steps.runPart(context, work, { range, number });
    counts = addFleetCounts(counts, ran);
  };
  for (let range = 0; range < ranges; range += 1)
    for (let first = 0; ; ) {
      const cut = await steps.cutRange(context, work, { range, first, cutsMax: CUTS_AT_ONCE });
      for (const at of cut.parts.keys()) {
        while (running.size >= slots) await Promise.race(running);
        const task: Promise<void> = run(range, first + at).finally(() => running.delete(task));
        running.add(task);
      }
      first += cut.parts.length;
      parts += cut.parts.length;
      if (cut.isLast) break;
    }
  await Promise.all(running);
  const finish = { counts, result: 'done', startedMs: 0, ranges, parts } as const;
  await steps.finish(context, work, finish);
  return { counts, ranges, parts };
}
