import { type Command, Option } from 'commander';
import type { JobRunEvent } from '../../../../engine/api/events.ts';
import { formatPlural } from '../../../../engine/api/text/numbers.ts';
import type { ServedJobs } from '../../../../engine/jobs/saved/serve-jobs.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';

/** Longer than the ten seconds that a run has to stop. */
const GRACE_MS = 15_000;

export function addJobServe(job: Command, host: CommandHost): void {
  const command = job
    .command('serve')
    .description(
      'Runs jobs when they are due, without a window, until you stop it. That also stops running jobs; they continue at their next run.',
    )
    .addOption(new Option('--login', 'started by a login: jobs with --at-login run').hideHelp())
    .action(({ login = false }: { readonly login?: boolean }, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          const { serveJobs } = await import('../../../../engine/jobs/saved/serve-jobs.ts');
          const { drayProcess } = await import('../../../../engine/jobs/saved/dray-process.ts');
          return serveJobs(context, { run: drayProcess(ownCommand()), isLogin: login });
        },
        view,
        graceMs: GRACE_MS,
      }),
    );
  addExamples(command, [['dray job serve', '"dray job install" has the system start it at login']]);
}

/** The words that start this program again. */
export function ownCommand(): readonly [string, ...string[]] {
  return [process.execPath, ...process.execArgv, process.argv[1]!];
}

const view: CommandView<ServedJobs> = {
  onEvent: (event, output) => {
    if (event.type === 'jobRun') output.result(formatRun(event));
  },
  onSummary: ({ failedRuns, runs }, output) =>
    output.note(
      `Stopped after ${formatPlural(runs, 'run')}${failedRuns > 0 ? `, ${failedRuns} of them failed` : ''}.`,
    ),
};

function formatRun({ by, exitCode, name, state }: JobRunEvent): string {
  const time = new Date().toISOString();
  return state === 'started'
    ? `${time}  ${name} started by ${by}`
    : `${time}  ${name} ended with ${exitCode}`;
}
