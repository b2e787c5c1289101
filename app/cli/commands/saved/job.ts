/** `dray job`: saves commands under a name, and runs them on request or on a schedule. */
import type { Command } from 'commander';
import type { JobLogEvent, SavedJobEvent } from '../../../../engine/api/events.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { parseCount } from '../../options/global-options.ts';
import { formatJob, formatJobLines } from '../../output/job-lines.ts';
import { addJobAdd } from './job-add.ts';
import { addJobInstall } from './job-install.ts';
import { addJobNotify } from './job-notify.ts';
import { addJobRun } from './job-run.ts';
import { addJobServe } from './job-serve.ts';

const loadJobs = () => import('../../../../engine/jobs/saved/saved-jobs.ts');

export function addJobCommand(program: Command, host: CommandHost): void {
  const job = program
    .command('job')
    .alias('jobs')
    .summary('save commands, and run them on a schedule or by events')
    .description(
      'Saves copy, sync, check, push, pull, verify, forget and gc with their options under a name, and runs them: by hand, by a schedule, on changes of a folder, when a disk is mounted, at login. Due jobs run while "dray job serve" or "dray ui" runs; "dray job install" has the system start it. Two runs of one job never overlap.',
    )
    .usage('[options] <command>')
    .enablePositionalOptions();
  addJobAdd(job, host);
  addList(job, host);
  addJobRun(job, host);
  addLog(job, host);
  addShow(job, host);
  addPause(job, host, true);
  addPause(job, host, false);
  addRename(job, host);
  addRemove(job, host);
  addJobNotify(job, host);
  addJobServe(job, host);
  addJobInstall(job, host);
}

function addList(job: Command, host: CommandHost): void {
  const command = job
    .command('list')
    .description('Lists the saved jobs: what starts them, their last result and their next run.')
    .action((_options: object, self: Command) => {
      const jobs: SavedJobEvent[] = [];
      return runCommand(host, self, {
        start: async (context) => (await loadJobs()).listSavedJobs(context),
        view: {
          onEvent: (event) => {
            if (event.type === 'job') jobs.push(event);
          },
          onSummary: ({ isScheduled }, output) => {
            for (const line of formatJobLines(jobs)) output.result(line);
            if (jobs.length === 0) return output.note('No jobs. Save one with "dray job add".');
            const isWaiting = jobs.some(({ state, triggers }) => triggers.length > 0 && state !== 'paused');
            if (isWaiting && !isScheduled)
              output.note('No job starts by itself now: run "dray job serve", or see "dray help job".');
          },
        },
      });
    });
  addExamples(command, [['dray job list', 'all jobs of this user']]);
}

function addShow(job: Command, host: CommandHost): void {
  const command = job
    .command('show')
    .description('Shows one job: its command, what starts it, why it waits, its last result.')
    .argument('<name>', 'the job')
    .action((name: string, _options: object, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).showSavedJob(context, name),
        view: {
          onSummary: (shown, output) => {
            for (const line of formatJob(shown)) output.result(line);
          },
        },
      }),
    );
  addExamples(command, [['dray job show photos', 'all about one job']]);
}

function addLog(job: Command, host: CommandHost): void {
  const command = job
    .command('log')
    .description('Prints the log of a job: when it ran, its warnings, the files that failed, its result.')
    .argument('<name>', 'the job')
    .option('--lines <n>', 'the newest lines (default: 100)', (text) =>
      parseCount(text, { min: 1, max: 100_000 }),
    )
    .action((name: string, { lines = 100 }: { readonly lines?: number }, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).showJobLog(context, name, lines),
        view: logView,
      }),
    );
  addExamples(command, [['dray job log photos --lines 20', 'what happened lately']]);
}

const logView: CommandView<{ readonly lines: number }> = {
  onEvent: (event, output) => {
    if (event.type === 'jobLog') output.result(formatLogLine(event));
  },
  onSummary: ({ lines }, output) => {
    if (lines === 0) output.note('The job has not run yet.');
  },
};

function formatLogLine({ kind, text, time }: JobLogEvent): string {
  return `${time}  ${kind.padEnd(7)}  ${text}`;
}

function addPause(job: Command, host: CommandHost, isPaused: boolean): void {
  const verb = isPaused ? 'pause' : 'resume';
  const command = job
    .command(verb)
    .description(
      isPaused
        ? 'Pauses a job: nothing starts it but "dray job run". A run in progress continues.'
        : 'Lets a paused job start again. It does not catch up missed runs.',
    )
    .argument('<name>', 'the job')
    .action((name: string, _options: object, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).pauseSavedJob(context, name, isPaused),
        view: {
          onSummary: (_job, output) =>
            output.note(isPaused ? `The job ${name} is paused.` : `The job ${name} runs again.`),
        },
      }),
    );
  addExamples(command, [[`dray job ${verb} photos`, isPaused ? 'for a while' : 'from now on']]);
}

function addRename(job: Command, host: CommandHost): void {
  const command = job
    .command('rename')
    .description(
      'Renames a saved job, unless it is running. Its runs, log, schedule and notices stay. Scripts that start it by its old name have to be changed.',
    )
    .argument('<name>', 'the job')
    .argument('<new-name>', 'its new name')
    .action((name: string, to: string, _options: object, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).renameSavedJob(context, name, to),
        view: { onSummary: (_job, output) => output.note(`The job ${name} is now ${to}.`) },
      }),
    );
  addExamples(command, [['dray job rename photos holidays', 'by another name']]);
}

function addRemove(job: Command, host: CommandHost): void {
  const command = job
    .command('remove')
    .description('Removes a saved job and its log. Files that it copied stay.')
    .argument('<name>', 'the job')
    .action((name: string, _options: object, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).removeSavedJob(context, name),
        view: { onSummary: (_summary, output) => output.note(`The job ${name} was removed.`) },
      }),
    );
  addExamples(command, [['dray job remove photos', 'forget it']]);
}
