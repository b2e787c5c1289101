/** The last step: writes the report, and removes the documents that only the workers needed. */
import * as v from 'valibot';
import type {
  FinishRequest,
  FleetReport,
  FleetRequest,
  FleetWork,
  PublishResult,
} from '../../api/jobs/fleet.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { formatPlural } from '../../api/text/numbers.ts';
import { systemClock } from '../../base/clock.ts';
import { type FleetFolder, withFleet } from './fleet-folder.ts';
import { publishDataset } from './push/publish-dataset.ts';

const REPORT_NAME = 'report.json';
const publishedBefore = v.object({
  commit: v.exactOptional(v.string()),
  branch: v.exactOptional(v.string()),
  isNew: v.exactOptional(v.boolean()),
  refused: v.exactOptional(v.object({ code: v.picklist(['conflict', 'partial']), message: v.string() })),
});
const reported = v.object({ startedMs: v.number(), published: v.optional(publishedBefore) });
/** Lists of failures stay, also those of a check's differences and of damage. */
const WORKING_FOLDERS = [
  'parts/',
  'deletes/',
  'large/',
  'ranges.json',
  'tips.json',
  'verify.json',
  'entries/',
  'base.json',
];
export function finishFleet(
  context: JobContext,
  work: FleetWork,
  request: FinishRequest,
): Promise<FleetReport> {
  return withFleet(context, work, async (folder, job) => {
    const { destination, kind, source } = job.request;
    const published = kind === 'push' ? await publishOnce(context, folder, job.request, request) : undefined;
    const report: FleetReport = {
      report: 'fleet',
      version: 1,
      id: work.id,
      kind,
      source: source.place,
      destination: destination.place,
      ...request,
      ...(published && { published }),
      finishedMs: systemClock.nowMs(),
    };
    await folder.write(REPORT_NAME, report);
    // The next run after a stop or a conflict pins the commits that the branches have then.
    const isOver =
      request.result === 'stopped'
        ? kind === 'push' || kind === 'verify'
        : request.counts.failed === 0 &&
          request.reason === undefined &&
          published?.refused?.code !== 'partial';
    if (isOver) for (const prefix of WORKING_FOLDERS) await folder.removeBelow(prefix);
    return report;
  });
}

/**
 * A repeated step reads no document that the first one removed; a report with another start is that of an
 * earlier run of the job. An incomplete dataset is not committed.
 */
async function publishOnce(
  context: JobContext,
  folder: FleetFolder,
  job: FleetRequest,
  { counts, ranges, result, startedMs }: FinishRequest,
): Promise<PublishResult> {
  const before = await folder.read(REPORT_NAME, reported);
  if (before?.published && before.startedMs === startedMs) return before.published;
  const refused = (message: string): PublishResult => ({ refused: { code: 'partial', message } });
  if (result === 'stopped') return refused('The job was stopped before all parts were stored.');
  if (counts.failed > 0)
    return refused(`${formatPlural(counts.failed, 'file')} failed, so nothing was committed.`);
  return publishDataset(context, folder, { ranges, request: job });
}
