/** One large object, moved in pieces by as many workers as the range may use at each moment. */
import { condition } from '@temporalio/workflow';
import { addFleetCounts, type FleetCounts } from '../../../engine/api/jobs/fleet.ts';
import type { RangeTask } from '../fleet-messages.ts';
import { untilWorkersLast } from './call-activities.ts';
import type { RangeRun } from './range-run.ts';

/** The amount that one worker moves in one step. */
const STEP_BYTES = 1024 ** 3;

export async function moveLarge(
  run: Pick<RangeRun, 'changes' | 'input' | 'pace' | 'steps'>,
  { bytes, large, number }: RangeTask & { readonly type: 'large' },
): Promise<FleetCounts> {
  const { input, pace, steps } = run;
  const { range, work } = input;
  const object = { range, number, large };
  const begun = await untilWorkersLast(() => steps.beginLarge(work, object));
  let { counts } = begun;
  const { pieces } = begun;
  if (pieces === 0) return counts;
  const piecesAtOnce = Math.max(1, Math.floor((pieces * STEP_BYTES) / Math.max(bytes, STEP_BYTES)));
  let next = 0;
  const movePieces = async (mover: number): Promise<void> => {
    for (;;) {
      await condition(() => mover < pace.atOnce() || next === pieces);
      if (next === pieces) return;
      const from = next;
      next = Math.min(pieces, from + piecesAtOnce);
      const request = { ...object, from, to: next };
      const moved = await pace.during(() => untilWorkersLast(() => steps.moveLargePieces(work, request)));
      counts = addFleetCounts(counts, moved);
      run.changes += 1;
    }
  };
  const stopAll = (error: unknown) => {
    next = pieces;
    throw error;
  };
  const movers = Math.min(input.settings.partsAtOnce, Math.ceil(pieces / piecesAtOnce));
  const moves = Array.from({ length: movers }, (_, mover) => movePieces(mover).catch(stopAll));
  // A range must not end, or move the object again, while pieces move.
  await Promise.allSettled(moves);
  await Promise.all(moves);
  return addFleetCounts(counts, await untilWorkersLast(() => steps.endLarge(work, object)));
}
