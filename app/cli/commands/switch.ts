import { type Command, Option } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { PullSummary } from '../../../engine/api/jobs/jobs.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { formatConflict, printChanges } from '../output/change-lines.ts';
import { formatPullEnd } from './pull.ts';

interface SwitchOptions {
  readonly create?: true;
  readonly dryRun?: true;
}

export function addSwitchCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('switch')
    .summary('change to another branch')
    .description(
      'Makes another branch the current one and updates the workspace to its commit. Local changes are kept.',
    )
    .argument('<name>', 'the branch')
    .option('-c, --create', "create the branch first, at the workspace's commit")
    .addOption(new Option('-n, --dry-run', 'show what would change, and change nothing').conflicts('create'))
    .addOption(createBandwidthOption())
    .action((name: string, options: SwitchOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/pull/switch.ts')).switchBranch(context, {
            name,
            ...given({ create: options.create, dryRun: options.dryRun }),
          }),
        view: createSwitchView(options),
        resumable: true,
      }),
    );
  addExamples(command, [
    ['dray switch main', 'back to main'],
    ['dray switch main --dry-run', 'what would change here'],
    ['dray switch -c relabel', "create a branch at the workspace's commit"],
  ]);
}

function createSwitchView({ dryRun }: SwitchOptions): CommandView<PullSummary> {
  return {
    onEvent: (event, output) => {
      if (event.type === 'conflict') output.result(formatConflict(event, output.paint));
      else if (dryRun) printChanges(event, output);
    },
    onSummary: (summary, output, { elapsedMs }) => {
      if (!dryRun) output.note(`On branch ${summary.branch}.`);
      output.summary(formatPullEnd(summary, elapsedMs));
    },
  };
}
