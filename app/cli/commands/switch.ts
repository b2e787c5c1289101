import type { Command } from 'commander';
import type { PullSummary } from '../../../engine/api/jobs.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { formatConflict } from '../output/change-lines.ts';
import { formatPullEnd } from './pull.ts';

export function addSwitchCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('switch')
    .summary('change to another branch')
    .description(
      'Makes another branch the current one and updates the workspace to its commit. Local changes are kept.',
    )
    .argument('<name>', 'the branch')
    .option('-c, --create', "create the branch first, at the workspace's commit")
    .addOption(createBandwidthOption())
    .action((name: string, options: { readonly create?: true }, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/pull/switch.ts')).switchBranch(context, {
            name,
            ...(options.create ? { create: true } : {}),
          }),
        view: switchView,
        resumable: true,
      }),
    );
  addExamples(command, [
    ['dray switch main', 'back to main'],
    ['dray switch -c relabel', "create a branch at the workspace's commit"],
  ]);
}

const switchView: CommandView<PullSummary> = {
  onEvent: (event, output) => {
    if (event.type === 'conflict') output.result(formatConflict(event, output.paint));
  },
  onSummary: (summary, output, { elapsedMs }) => {
    output.note(`On branch ${summary.branch}.`);
    for (const line of formatPullEnd(summary, elapsedMs)) output.note(line);
  },
};
