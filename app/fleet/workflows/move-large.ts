/** One large object, moved in pieces by as many workers as the range may use. */
import { addFleetCounts, type FleetCounts } from '../../../engine/api/fleet.ts';
import type { RangeTask } from '../fleet-messages.ts';
import { untilWorkersLast } from './call-activities.ts';
import type { RangeRun } from './range-run.ts';

/** The amount that one worker moves in one step. */
const STEP_BYTES = 1024 ** 3;

export async function moveLarge(
  { input, pace, steps }: Pick<RangeRun, 'input' | 'pace' | 'steps'>,
  { bytes, large, number }: RangeTask & { readonly type: 'large' },
): Promise<FleetCounts> {
  const { range, work } = input;
  const object = { range, number, large };
  const begun = await untilWorkersLast(() => steps.beginLarge(work, object));
  let { counts } = begun;
  const { pieces } = begun;
  if (pieces === 0) return counts;
  const piecesAtOnce = Math.max(1, Math.floor((pieces * STEP_BYTES) / Math.max(bytes, STEP_BYTES)));
  let next = 0;
  const moveNext = async (): Promise<void> => {
    while (next < pieces) {
      const from = next;
      next = Math.min(pieces, from + piecesAtOnce);
      const request = { ...object, from, to: next };
      const moved = await untilWorkersLast(() => steps.moveLargePieces(work, request));
      counts = addFleetCounts(counts, moved);
    }
  };
  await Promise.all(Array.from({ length: pace.atOnce() }, moveNext));
  return addFleetCounts(counts, await untilWorkersLast(() => steps.endLarge(work, object)));
}
