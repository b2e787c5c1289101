/** Sends the notice of a run that failed, or that succeeded after a failure. */
import { folderOf, readJobState } from '../job-folder.ts';
import { openRunLog } from '../run-log.ts';
import type { JobRun, SavedJob } from '../saved-job.ts';
import { createNotice, hasReceiver, type NoticeHost, noticeOfRun, sendNotice } from './send-notice.ts';

export interface EndedRun {
  readonly folder: string;
  readonly job: SavedJob;
  readonly before: readonly JobRun[];
}

export async function noticeRun({ before, folder, job }: EndedRun, host: NoticeHost): Promise<void> {
  const { lastSuccessMs, runs } = readJobState(folder, job.name);
  const [run] = runs;
  const kind = run && noticeOfRun(run, before);
  if (!job.notices || !kind || !job.notices.on.includes(kind) || !hasReceiver(job.notices)) return;
  const notice = createNotice({
    notice: kind,
    job: job.name,
    time: new Date(run.endedMs ?? run.startedMs).toISOString(),
    message: run.message ?? '',
    ...(run.exitCode === undefined ? {} : { exitCode: run.exitCode }),
    ...(lastSuccessMs === undefined ? {} : { lastSuccess: new Date(lastSuccessMs).toISOString() }),
  });
  const log = openRunLog(folderOf(folder, job.name), host.clock);
  log.write('notice', `Sent: ${kind}.`);
  for (const problem of await sendNotice(job.notices, notice, host)) log.write('error', problem);
}
