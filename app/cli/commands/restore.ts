import type { Command } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { RestorePlan, RestoreSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { formatKept } from '../output/kept-line.ts';
import { quotePath } from '../output/terminal-text.ts';

const loadJob = () => import('../../../engine/jobs/working-copy/restore.ts');

interface RestoreOptions {
  readonly from?: string;
  readonly dryRun?: true;
}

export function addRestoreCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('restore')
    .summary('restore files from a commit')
    .description(
      "Overwrites files with their version in a commit. A folder restores everything below it; files that the commit does not have stay. The branch and the workspace's commit do not change.",
    )
    .argument('<path...>', 'files and folders')
    .option('--from <ref>', "a branch, a tag or a commit (default: the workspace's commit)")
    .option('-n, --dry-run', 'show what would be overwritten, and write nothing')
    .addOption(createBandwidthOption())
    .action((paths: string[], { dryRun, from }: RestoreOptions, self: Command) => {
      const request = { paths, ...given({ from }) };
      return dryRun
        ? runCommand(host, self, {
            start: async (context) => (await loadJob()).planRestore(context, request),
            view: planView,
          })
        : runCommand(host, self, {
            start: async (context) => (await loadJob()).restore(context, request),
            view: restoreView,
            resumable: true,
          });
    });
  addExamples(command, [
    ['dray restore labels.csv', 'undo the changes to one file'],
    ['dray restore . --from v1 --dry-run', 'what restoring all of tag v1 would overwrite'],
  ]);
}

const planView: CommandView<RestorePlan> = {
  onSummary: ({ bytes, changed, changedPaths, files }, output) => {
    for (const path of changedPaths) output.result(`${output.paint('red', 'lost')}  ${quotePath(path)}`);
    const more = changed - changedPaths.length;
    if (more > 0) output.result(`and ${formatCount(more)} more`);
    const lost =
      changed > 0
        ? ` ${formatPlural(changed, 'path')} changed here since the last push; those changes would be lost.`
        : '';
    output.note(
      `Would restore ${formatPlural(files, 'file')}, ${formatBytes(bytes)}.${lost} Nothing was written.`,
    );
  },
};

const restoreView: CommandView<RestoreSummary> = {
  onSummary: ({ restored, bytes, kept }, output) => {
    output.note(`Restored ${formatPlural(restored, 'file')}, ${formatBytes(bytes)}.`);
    for (const line of formatKept(kept)) output.note(line);
  },
};
