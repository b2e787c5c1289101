/** Decides whether a sync by a fleet may delete, as `dray sync` does before its first deletion. */
import type { DeletesVerdict, FleetCounts, FleetWork } from '../../api/jobs/fleet.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { deletionAllowed } from '../../model/deletion-bound.ts';
import { withFleet } from './fleet-folder.ts';

export function approveDeletes(
  context: JobContext,
  work: FleetWork,
  counts: FleetCounts,
): Promise<DeletesVerdict> {
  return withFleet(context, work, async (_folder, { request }) => verdictOn(counts, request.maxDelete));
}

function verdictOn(
  { destinationFiles, failed, onlyInDestination, repositories }: FleetCounts,
  maxDelete: Parameters<typeof deletionAllowed>[0]['maxDelete'],
): DeletesVerdict {
  const deletes = onlyInDestination;
  if (failed > 0) {
    const message = `Nothing was deleted at the destination, because ${failed} files failed. Fix the errors and sync again: ${deletes} files are to be deleted.`;
    return { isAllowed: false, code: 'partial', message };
  }
  const advice = `If that is intended, allow it with --max-delete ${deletes}.`;
  if (repositories > 0) {
    const message = `This sync would delete ${repositories} repositories of Dray with all their versions. Nothing was deleted. ${advice}`;
    return { isAllowed: false, code: 'tooManyDeletes', message };
  }
  if (deletionAllowed({ deletes, destinationFiles, ...(maxDelete ? { maxDelete } : {}) }))
    return { isAllowed: true };
  const message = `This sync would delete ${deletes} of ${destinationFiles} files at the destination, more than it may. Nothing was deleted. ${advice}`;
  return { isAllowed: false, code: 'tooManyDeletes', message };
}
