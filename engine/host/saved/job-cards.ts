/** Describes the saved jobs for windows. */
import { toDrayError } from '../../api/error.ts';
import type { SavedJobCard, SavedJobList } from '../../api/host/saved.ts';
import { isSchedulerRunning, jobsFolder } from '../../jobs/saved/job-folder.ts';
import { settingsOf } from '../../jobs/saved/notices/parse-notices.ts';
import { noticeOfRun } from '../../jobs/saved/notices/send-notice.ts';
import { versionOf } from '../../jobs/saved/saved-job.ts';
import { type KnownJob, readSavedJobs } from '../../jobs/saved/saved-jobs.ts';
import { readStaleNotice } from '../../jobs/saved/staleness.ts';
import type { HostState } from '../host-state.ts';

export async function readJobList(host: HostState): Promise<SavedJobList> {
  try {
    const { jobs, problems } = await readSavedJobs(host);
    return {
      jobs: jobs.map((job) => cardOf(job, jobsFolder(host))),
      problems,
      startedBy: await whoStarts(host),
    };
  } catch (error) {
    return { jobs: [], problems: [toDrayError(error).message], startedBy: 'nobody' };
  }
}

/** An engine that can start jobs takes over within seconds if no other process starts them. */
async function whoStarts(host: HostState): Promise<SavedJobList['startedBy']> {
  if (host.dray?.isServing) return 'here';
  if (await isSchedulerRunning(jobsFolder(host))) return 'elsewhere';
  return host.dray ? 'here' : 'nobody';
}

function cardOf({ job, shown, state }: KnownJob, folder: string): SavedJobCard {
  const { triggers: _, type: __, waits: ___, ...rest } = shown;
  const [last] = state.runs;
  const version = versionOf(job);
  const { notices } = job;
  const staleMs = notices?.on.includes('noSuccess') ? readStaleNotice(folder, job.name) : 0;
  const isOutdated = shown.state === 'running' && last?.version !== undefined && last.version !== version;
  return {
    ...rest,
    version,
    ...(isOutdated ? { isChangedSinceStart: true } : {}),
    ...(job.kind === undefined ? {} : { kind: job.kind }),
    ...(notices ? { notices: settingsOf(notices) } : {}),
    ...(staleMs > 0 ? { staleNotice: new Date(staleMs).toISOString() } : {}),
    places: job.places ?? [],
    triggers: job.triggers,
    ...(last?.endedMs === undefined ? {} : { lastEnd: new Date(last.endedMs).toISOString() }),
    ...(last && noticeOfRun(last, state.runs.slice(1)) === 'recovery' ? { isRecovered: true } : {}),
  };
}
