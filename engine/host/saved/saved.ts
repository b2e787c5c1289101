/** The requests for saved jobs. The command checks and runs jobs; these list, save, pause and remove them. */
import { homedir } from 'node:os';
import { DrayError } from '../../api/error.ts';
import { runUntilAborted } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import { folderOf, isJobRunning, jobsFolder, readJob, readJobState } from '../../jobs/saved/job-folder.ts';
import { parseNotices } from '../../jobs/saved/notices/parse-notices.ts';
import { sendTestNotice } from '../../jobs/saved/notices/send-notice.ts';
import { readRunLog } from '../../jobs/saved/run-log.ts';
import { pauseSavedJob, removeSavedJob, saveJob } from '../../jobs/saved/saved-jobs.ts';
import type { HostState } from '../host-state.ts';
import type { HandlersOf } from '../port/host-call.ts';
import { defineByCommand } from './define-by-command.ts';
import { refreshJobs, watchJobs } from './job-list-news.ts';
import { type OwnDray, ownDray } from './own-dray.ts';

const START_POLL_MS = 50;

export const SAVED: HandlersOf<'saved'> = {
  'saved.watch': (_input, { emit, host, signal }) => {
    watchJobs(host, (list) => emit({ type: 'savedJobs', list }), signal);
    return runUntilAborted(signal);
  },
  'saved.save': async ({ from, notices: settings, version, ...draft }, { emit, host, signal }) => {
    if (from !== undefined && (await isJobRunning(jobsFolder(host), from))) throw running(from);
    const notices = settings ? parseNotices(settings, homedir()) : settings;
    const definition = await defineByCommand(host, { ...draft, isNew: version === undefined }, signal);
    const options = {
      ...(version === undefined ? {} : { isReplacing: true, version, ...(from && { from }) }),
      ...(notices === undefined ? {} : { notices }),
    };
    await saveJob({ environment: host.environment, emit }, definition, options);
    refreshJobs(host);
    return {};
  },
  'saved.testNotice': async ({ name, notices }, { host, signal }) => {
    const sender = { environment: host.environment, clock: systemClock, signal };
    return { problems: await sendTestNotice(name, parseNotices(notices, homedir()), sender) };
  },
  'saved.run': async ({ name }, { host }) => {
    await runNow(host, ownDray(host), name);
    return {};
  },
  'saved.stop': async ({ name }, { host }) => ({ isStopping: host.dray?.stopJob(name) ?? false }),
  'saved.pause': async ({ isPaused, name }, { emit, host }) => {
    await pauseSavedJob({ environment: host.environment, emit }, name, isPaused);
    refreshJobs(host);
    return {};
  },
  'saved.remove': async ({ name }, { emit, host }) => {
    const folder = jobsFolder(host);
    readJob(folder, name);
    if (await isJobRunning(folder, name)) throw running(name);
    await removeSavedJob({ environment: host.environment, emit }, name);
    refreshJobs(host);
    return {};
  },
  'saved.log': async ({ lines, name }, { host }) => {
    const folder = jobsFolder(host);
    readJob(folder, name);
    return { lines: readRunLog(folderOf(folder, name), lines) };
  },
};

function running(name: string): DrayError {
  return new DrayError('locked', `The job "${name}" is running. Wait until it ends, or stop it.`, {
    data: { name },
  });
}

/** Resolves when the run is recorded. The run continues when the page that started it closes. */
async function runNow(host: HostState, dray: OwnDray, name: string): Promise<void> {
  const folder = jobsFolder(host);
  readJob(folder, name);
  if (await isJobRunning(folder, name)) throw running(name);
  const newest = () => readJobState(folder, name).runs[0]?.startedMs;
  const before = newest();
  const { signal } = new AbortController();
  let end: { readonly exitCode?: number; readonly error?: unknown } | undefined;
  const words = ['job', 'run', name, '--quiet'];
  const ending = dray.run({ words, environment: host.environment, takesOutput: false, signal }).then(
    ({ exitCode }) => {
      end = { exitCode };
    },
    (error: unknown) => {
      end = { error };
    },
  );
  void ending.then(() => refreshJobs(host));
  while (!end && newest() === before) await Promise.race([ending, systemClock.sleep(START_POLL_MS, signal)]);
  refreshJobs(host);
  if (newest() !== before) return;
  if (await isJobRunning(folder, name)) throw running(name);
  throw new DrayError('internal', `The job "${name}" could not be started.`, {
    data: { name, exitCode: end?.exitCode },
    cause: end?.error,
  });
}
