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
  readonly exact?: true;
}

export function addRestoreCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('restore')
    .summary('restore files from a commit')
    .description(
      "Overwrites files with their version in a commit. A folder restores everything below it; files that the commit does not have stay, unless you give --exact. The branch and the workspace's commit do not change.",
    )
    .argument('<path...>', 'files and folders')
    .option('--from <ref>', "a branch, a tag or a commit (default: the workspace's commit)")
    .option('--exact', 'also remove files that the commit does not have; ignored files stay')
    .option('-n, --dry-run', 'show what would be lost or removed, and change nothing')
    .addOption(createBandwidthOption())
    .action((paths: string[], { dryRun, exact, from }: RestoreOptions, self: Command) => {
      const request = { paths, ...given({ exact, from }) };
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
    ['dray restore . --from v1 --exact', 'have exactly what tag v1 has'],
  ]);
}

const planView: CommandView<RestorePlan> = {
  onSummary: ({ bytes, changed, changedPaths, files, removed = 0, removedPaths = [] }, output) => {
    const list = (word: string, paths: readonly string[], all: number) => {
      for (const path of paths) output.result(`${output.paint('red', word)}  ${quotePath(path)}`);
      if (all > paths.length) output.result(`and ${formatCount(all - paths.length)} more`);
    };
    list('lost', changedPaths, changed);
    list('removed', removedPaths, removed);
    const lost =
      changed > 0
        ? ` ${formatPlural(changed, 'path')} changed here since the last push; those changes would be lost.`
        : '';
    const goes = removed > 0 ? ` and remove ${formatCount(removed)}` : '';
    output.note(
      `Would restore ${formatPlural(files, 'file')}, ${formatBytes(bytes)}${goes}.${lost} Nothing was written.`,
    );
  },
};

const restoreView: CommandView<RestoreSummary> = {
  onSummary: ({ restored, removed = 0, bytes, kept }, output) => {
    const gone = removed > 0 ? ` and removed ${formatCount(removed)}` : '';
    output.note(`Restored ${formatPlural(restored, 'file')}, ${formatBytes(bytes)}${gone}.`);
    for (const line of formatKept(kept)) output.note(line);
  },
};
