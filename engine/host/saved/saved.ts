/** Saved jobs for windows. The command checks and runs them; this saves, shows and changes them. */
import { DrayError } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import { folderOf, isJobRunning, jobsFolder, readJob, readState } from '../../jobs/saved/job-folder.ts';
import { readRunLog } from '../../jobs/saved/run-log.ts';
import { pauseSavedJob, removeSavedJob, saveJob } from '../../jobs/saved/saved-jobs.ts';
import type { HostState } from '../host-state.ts';
import type { HandlersOf } from '../port/host-call.ts';
import { defineByCommand } from './define-by-command.ts';
import { lookAtJobs, watchJobs } from './job-watch.ts';
import { type OwnDray, ownDray } from './own-dray.ts';

const BEGIN_LOOK_MS = 50;

export const SAVED: HandlersOf<'saved'> = {
  'saved.watch': (_input, { emit, host, signal }) => {
    watchJobs(host, (list) => emit({ type: 'savedJobs', list }), signal);
    return new Promise((_, reject) => {
      const stop = () => reject(new DrayError('aborted', 'The watch was stopped.'));
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
    });
  },
  'saved.save': async ({ version, ...draft }, { emit, host, signal }) => {
    const definition = await defineByCommand(host, draft, signal);
    const options = version === undefined ? {} : { isReplacing: true, version };
    await saveJob({ environment: host.environment, emit }, definition, options);
    lookAtJobs(host);
    return {};
  },
  'saved.run': async ({ name }, { host }) => {
    await runNow(host, ownDray(host), name);
    return {};
  },
  'saved.stop': async ({ name }, { host }) => ({ isStopping: host.dray?.stopJob(name) ?? false }),
  'saved.pause': async ({ isPaused, name }, { emit, host }) => {
    await pauseSavedJob({ environment: host.environment, emit }, name, isPaused);
    lookAtJobs(host);
    return {};
  },
  'saved.remove': async ({ name }, { emit, host }) => {
    const folder = jobsFolder(host);
    readJob(folder, name);
    if (await isJobRunning(folder, name)) throw running(name);
    await removeSavedJob({ environment: host.environment, emit }, name);
    lookAtJobs(host);
    return {};
  },
  'saved.log': async ({ lines, name }, { host }) => {
    const folder = jobsFolder(host);
    readJob(folder, name);
    return { lines: readRunLog(folderOf(folder, name), lines) };
  },
};

function running(name: string): DrayError {
  return new DrayError('locked', `The job "${name}" is running. Wait until it has ended.`, {
    data: { name },
  });
}

/** Resolves when the run is recorded. The run belongs to the user, not to the page that asked for it. */
async function runNow(host: HostState, dray: OwnDray, name: string): Promise<void> {
  const folder = jobsFolder(host);
  readJob(folder, name);
  if (await isJobRunning(folder, name)) throw running(name);
  const newest = () => readState(folder, name).runs[0]?.startedMs;
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
  void ending.then(() => lookAtJobs(host));
  while (!end && newest() === before) await Promise.race([ending, systemClock.sleep(BEGIN_LOOK_MS, signal)]);
  lookAtJobs(host);
  if (newest() !== before) return;
  if (await isJobRunning(folder, name)) throw running(name);
  throw new DrayError('internal', `The job "${name}" could not be started.`, {
    data: { name, exitCode: end?.exitCode },
    cause: end?.error,
  });
}
