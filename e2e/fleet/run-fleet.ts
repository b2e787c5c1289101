/** Runs a fleet's job to its end in this process, one step after the other, as an orchestrator would. */
import {
  addFleetCounts,
  type DeletesVerdict,
  type FleetCounts,
  type FleetReport,
  type FleetRequest,
  type FleetWork,
  NO_FLEET_COUNTS,
  type PartRequest,
} from '../../engine/api/jobs/fleet.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { fleetSteps as steps } from '../../engine/jobs/fleet/fleet-steps.ts';

export interface FleetRunOptions {
  readonly context: JobContext;
  readonly id: string;
  readonly request: FleetRequest;
  /** The folders of the workers that a push names: each runs the steps of its range. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Runs each step; a test repeats it here, or interrupts it by a context of its own. */
  readonly around?: AroundStep;
}

export type AroundStep = <T>(name: string, step: (context: JobContext) => Promise<T>) => Promise<T>;

export interface FleetRun {
  readonly work: FleetWork;
  readonly ranges: number;
  readonly parts: readonly PartRequest[];
  readonly counts: FleetCounts;
  readonly verdict?: DeletesVerdict;
  readonly report: FleetReport;
}

const CUTS_AT_ONCE = 3;
const PIECES_AT_ONCE = 2;

let runs = 0;

export async function runFleet({
  around,
  context,
  folders = {},
  id,
  request,
}: FleetRunOptions): Promise<FleetRun> {
  const during = around ?? ((_name, step) => step(context));
  // Each run of a job has another time.
  runs += 1;
  const startedMs = runs;
  const work = await during('begin', (own) => steps.begin(own, id, request));
  const { ranges } = await during('planRanges', (own) => steps.planRanges(own, work));
  const parts: PartRequest[] = [];
  const forDeletes: PartRequest[] = [];
  let counts = NO_FLEET_COUNTS;
  const add = (more: FleetCounts) => {
    counts = addFleetCounts(counts, more);
  };
  for (let range = 0; range < ranges; range += 1) {
    const worker = request.workers?.[range];
    const onWorker = (own: JobContext): JobContext =>
      worker === undefined ? own : { ...own, offers: { worker, folder: folders[worker]! } };
    for (let first = 0; ; ) {
      const cut = await during('cutRange', (own) =>
        steps.cutRange(onWorker(own), work, { range, first, cutsMax: CUTS_AT_ONCE }),
      );
      for (const [at, { largeBytes }] of cut.parts.entries()) {
        const part = { range, number: first + at };
        parts.push(part);
        const ran = await during('runPart', (own) => steps.runPart(onWorker(own), work, part));
        if (ran.onlyInDestination + ran.waiting > 0) forDeletes.push(part);
        add(ran);
        for (const large of largeBytes.keys()) add(await moveLarge({ during, work }, { ...part, large }));
      }
      first += cut.parts.length;
      if (cut.isLast) break;
    }
  }
  let verdict: DeletesVerdict | undefined;
  if (request.kind === 'sync') {
    verdict = await during('approveDeletes', (own) => steps.approveDeletes(own, work, counts));
    if (verdict.isAllowed)
      for (const part of forDeletes)
        add(await during('runPart', (own) => steps.runPart(own, work, { ...part, deletes: 'carryOut' })));
  }
  const finish = { counts, result: 'done', startedMs, ranges, parts: parts.length } as const;
  const reason = verdict && !verdict.isAllowed ? { reason: verdict.message } : {};
  const report = await during('finish', (own) => steps.finish(own, work, { ...finish, ...reason }));
  return { work, ranges, parts, counts, report, ...(verdict ? { verdict } : {}) };
}

interface LargeRun {
  readonly work: FleetWork;
  readonly during: AroundStep;
}

async function moveLarge(
  { during, work }: LargeRun,
  request: PartRequest & { readonly large: number },
): Promise<FleetCounts> {
  const begun = await during('beginLarge', (own) => steps.beginLarge(own, work, request));
  let { counts } = begun;
  for (let from = 0; from < begun.pieces; from += PIECES_AT_ONCE) {
    const to = Math.min(from + PIECES_AT_ONCE, begun.pieces);
    const piece = { ...request, from, to };
    counts = addFleetCounts(
      counts,
      await during('moveLargePieces', (own) => steps.moveLargePieces(own, work, piece)),
    );
  }
  if (begun.pieces === 0) return counts;
  return addFleetCounts(counts, await during('endLarge', (own) => steps.endLarge(own, work, request)));
}
