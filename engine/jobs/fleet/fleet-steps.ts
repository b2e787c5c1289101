/** The steps of a fleet's job. A workflow runs them, or a loop in a test. */
import type { FleetSteps } from '../../api/jobs/fleet.ts';
import { approveDeletes } from './approve-deletes.ts';
import { beginFleet } from './begin-fleet.ts';
import { finishFleet } from './finish-fleet.ts';
import { beginLarge, endLarge, moveLargePieces } from './large/move-large.ts';
import { cutRange } from './plan/cut-range.ts';
import { planRanges } from './plan/plan-ranges.ts';
import { retryFailed, runPart } from './run-part.ts';

export const fleetSteps: FleetSteps = {
  begin: beginFleet,
  planRanges,
  cutRange,
  runPart,
  retryFailed,
  beginLarge,
  moveLargePieces,
  endLarge,
  approveDeletes,
  finish: finishFleet,
};
