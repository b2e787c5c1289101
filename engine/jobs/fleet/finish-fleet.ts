/** The last step: writes the report, and removes what only the workers needed. */
import type { FinishRequest, FleetReport, FleetWork } from '../../api/fleet.ts';
import type { JobContext } from '../../api/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { type FleetFolder, withFleet } from './fleet-folder.ts';

const REPORT_NAME = 'report.json';
/** Lists of failures stay, also those of a check's differences and of damage. */
const WORKING_FOLDERS = ['parts/', 'deletes/', 'large/', 'ranges.json', 'tips.json', 'verify.json'];
const REMOVED_AT_ONCE = 1_000;

export function finishFleet(
  context: JobContext,
  work: FleetWork,
  request: FinishRequest,
): Promise<FleetReport> {
  return withFleet(context, work, async (folder, job) => {
    const { destination, kind, source } = job.request;
    const report: FleetReport = {
      report: 'fleet',
      version: 1,
      id: work.id,
      kind,
      source: source.place,
      destination: destination.place,
      ...request,
      finishedMs: systemClock.nowMs(),
    };
    await folder.write(REPORT_NAME, report);
    const isOver = request.result === 'done' && request.counts.failed === 0 && request.reason === undefined;
    if (isOver) for (const prefix of WORKING_FOLDERS) await removeAll(folder, prefix);
    return report;
  });
}

async function removeAll(folder: FleetFolder, prefix: string): Promise<void> {
  const names = await folder.names(prefix);
  for (let at = 0; at < names.length; at += REMOVED_AT_ONCE)
    await folder.remove(names.slice(at, at + REMOVED_AT_ONCE));
}
