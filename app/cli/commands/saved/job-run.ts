import { type Command, Option } from 'commander';
import { DrayError } from '../../../../engine/api/error.ts';
import { systemClock } from '../../../../engine/base/clock.ts';
import type { RunRecord } from '../../../../engine/jobs/saved/run-record.ts';
import type { RunStart } from '../../../../engine/jobs/saved/saved-job.ts';
import type { CommandHost, RunObserver } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { globalWords } from '../../options/global-options.ts';
import { watchStopSignals } from '../../stop-signals.ts';

/** The time that the command has to stop after a signal. */
const GRACE_MS = 9_000;
const STARTS: readonly RunStart[] = ['hand', 'schedule', 'change', 'mount', 'login'];

export function addJobRun(job: Command, host: CommandHost): void {
  const command = job
    .command('run')
    .description(
      'Runs a job now, also a paused one, and ends with its exit code. Fails if the job is already running.',
    )
    .argument('<name>', 'the job')
    .addOption(new Option('--by <start>').choices(STARTS).hideHelp())
    .action((name: string, { by = 'hand' }: { readonly by?: RunStart }, self: Command) =>
      runSaved(host, self, name, by),
    );
  addExamples(command, [['dray job run photos', 'with its progress, as if you had typed its command']]);
}

/** Runs the job in this process, which holds the job's lock, so a kill ends both. */
async function runSaved(host: CommandHost, self: Command, name: string, by: RunStart): Promise<void> {
  const { jobsFolder } = await import('../../../../engine/jobs/saved/job-folder.ts');
  const { beginRun } = await import('../../../../engine/jobs/saved/run-record.ts');
  const folder = jobsFolder(host);
  // Installed before the run is recorded, so a signal never leaves the record of a killed run.
  const stops = watchStopSignals({ exit: host.exit, onFirst: () => {}, graceMs: GRACE_MS });
  const record = await beginRun(folder, name, { by, clock: systemClock });
  const noticing: Promise<void>[] = [];
  const observer: RunObserver = {
    event: record.note,
    ended: (end) => {
      record.end(end);
      noticing.push(notice(host, folder, record, end));
    },
  };
  try {
    const stopCode = stops.exitCode();
    if (stopCode !== undefined) {
      observer.ended({ exitCode: stopCode, isStopped: true, message: 'Run it again to continue.' });
      host.exitCode = stopCode;
      return;
    }
    process.chdir(record.job.directory);
    const inner: CommandHost = {
      environment: host.environment,
      exit: host.exit,
      exitCode: 0,
      observer,
      isSaved: true,
      ...(host.build ? { build: host.build } : {}),
    };
    await host.build!(inner).parseAsync([...globalWords(self), ...record.job.arguments], { from: 'user' });
    host.exitCode = inner.exitCode;
  } catch (cause) {
    // For example, the job's folder is gone, or this version lacks an option.
    const message = cause instanceof Error ? cause.message : String(cause);
    observer.ended({ exitCode: 2, isStopped: false, message });
    throw new DrayError('usage', `The job ${name} cannot run: ${message}`, { cause });
  } finally {
    record.end({ exitCode: 1, isStopped: false, message: 'The command ended without a result.' });
    await Promise.all(noticing);
    stops.dispose();
  }
}

async function notice(
  host: CommandHost,
  folder: string,
  { before, job }: RunRecord,
  end: Parameters<RunObserver['ended']>[0],
): Promise<void> {
  if (!job.notices || end.isStopped) return;
  const { noticeRun } = await import('../../../../engine/jobs/saved/notices/notice-run.ts');
  const { signal } = new AbortController();
  await noticeRun({ folder, job, before }, { environment: host.environment, clock: systemClock, signal });
}
