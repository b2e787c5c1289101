/** The steps of a fleet's job, for whatever runs them: a workflow, or a loop in a test. */
import { DrayError } from '../../api/error.ts';
import type { FleetSteps } from '../../api/fleet.ts';
import { approveDeletes } from './approve-deletes.ts';
import { beginFleet } from './begin-fleet.ts';

const missing = async (): Promise<never> => {
  throw new DrayError('unsupported', 'This step of a fleet is not there yet.');
};

export const fleetSteps: FleetSteps = {
  begin: beginFleet,
  planRanges: missing,
  cutRange: missing,
  runPart: missing,
  retryFailed: missing,
  beginLarge: missing,
  moveLargePieces: missing,
  endLarge: missing,
  approveDeletes,
  finish: missing,
};
