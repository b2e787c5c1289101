import type { Command } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { PullSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { quotePath } from '../output/terminal-text.ts';
import { formatTransfer } from '../output/transfer-line.ts';

interface CloneOptions {
  readonly ref?: string;
  readonly only?: readonly string[];
}

export function addCloneCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('clone')
    .summary('download a repository into a new workspace')
    .description('Downloads a repository into a new folder, verifies every file, and makes it a workspace.')
    .argument('<url>', 's3://BUCKET/PREFIX, dray://HOST:PORT/FOLDER, or a folder')
    .argument('[dir]', "the new folder (default: the URL's last part)")
    .option('--ref <ref>', 'a branch, a tag or a commit (default: main, or the only branch)')
    .option('--only <pattern...>', 'only these folders, files or patterns such as "*.csv" (dray help scope)')
    .addOption(createBandwidthOption())
    .action((url: string, directory: string | undefined, options: CloneOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/pull/clone.ts')).cloneWorkspace(context, {
            url,
            ...given({ directory, ref: options.ref, only: options.only }),
          }),
        view: createCloneView(options.ref),
        resumable: true,
      }),
    );
  addExamples(command, [
    ['dray clone s3://bucket/datasets/birds', 'into ./birds'],
    ['dray clone s3://bucket/datasets/birds birds-v1 --ref v1', 'the commit that tag v1 names'],
    ['dray clone s3://bucket/datasets/birds --only labels raw/2024', 'these two folders'],
  ]);
}

/** @param ref The ref to clone instead of the default branch. */
const createCloneView = (ref: string | undefined): CommandView<PullSummary> => ({
  onSummary: (summary, output, { elapsedMs }) => {
    if (summary.result === 'upToDate') {
      const { commit, workspace } = summary;
      return output.note(
        `${quotePath(workspace)} is already a clone and up to date at ${formatHash(commit!)}.`,
      );
    }
    const { added } = summary.changes;
    const what = `${formatPlural(added, 'entry', 'entries')} into ${quotePath(summary.workspace)}`;
    // A workspace with missing files has no base commit.
    if (summary.commit === null) {
      const failed = formatPlural(summary.failed, 'entry', 'entries');
      output.note(`Cloned ${what}; ${failed} failed. Run the same command again to get the missing files.`);
    } else output.note(`Cloned ${what}: ${ref ?? summary.branch} at ${formatHash(summary.commit)}.`);
    output.note(
      `${formatTransfer({ bytes: summary.downloadedBytes, elapsedMs, requests: summary.requests })}.`,
    );
  },
});
