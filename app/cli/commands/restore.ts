import type { Command } from 'commander';
import type { RestoreSummary } from '../../../engine/api/jobs.ts';
import { formatBytes, formatPlural } from '../../../engine/api/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../examples.ts';
import { given } from '../given.ts';

export function addRestoreCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('restore')
    .summary('bring files back as a commit has them')
    .description(
      'Writes files as a commit has them, over what is there now. A folder restores everything below it.',
    )
    .argument('<path...>', 'files and folders')
    .option('--from <ref>', "a branch, a tag or a commit (default: the workspace's commit)")
    .action((paths: string[], options: { readonly from?: string }, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/restore.ts')).restore(context, {
            paths,
            ...given({ from: options.from }),
          }),
        view: restoreView,
        resumable: true,
      }),
    );
  addExamples(command, [
    ['dray restore labels.csv', 'undo what was done to one file'],
    ['dray restore . --from v1', 'everything as tag v1 has it; the branch stays'],
  ]);
}

const restoreView: CommandView<RestoreSummary> = {
  onSummary: ({ restored, bytes }, output) => {
    output.note(`Restored ${formatPlural(restored, 'file')}, ${formatBytes(bytes)}.`);
  },
};
