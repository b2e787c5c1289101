import { type Command, Option } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { ConflictSide, PullSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { formatChangeTotals, formatConflict, printChanges } from '../output/change-lines.ts';
import { formatKept } from '../output/kept-line.ts';
import { quotePath } from '../output/terminal-text.ts';
import { formatTransfer } from '../output/transfer-line.ts';

interface PullOptions {
  readonly dryRun?: true;
  readonly theirs?: true;
  readonly ours?: true;
  readonly both?: true;
}

export function addPullCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('pull')
    .summary('update the workspace to a commit')
    .description(
      'Updates the workspace to the newest commit of the branch (or another ref) and keeps local changes. If both sides changed the same path, nothing is changed and the command ends with exit code 5, unless --ours, --theirs or --both decides. Local files that it overwrites are kept for 30 days ("dray kept").',
    )
    .argument('[ref]', 'a branch, a tag or a commit (default: the current branch)')
    .option('-n, --dry-run', 'show what would change, and change nothing')
    .addOption(
      new Option('--theirs', "on a conflict, take theirs: the remote's version").conflicts(['ours', 'both']),
    )
    .addOption(new Option('--ours', 'on a conflict, keep mine: the local version').conflicts('both'))
    .addOption(new Option('--both', 'on a conflict, keep both: mine gets a second name'))
    .addOption(createBandwidthOption())
    .action((ref: string | undefined, options: PullOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/pull/pull.ts')).pull(
            context,
            given({ ref, dryRun: options.dryRun, conflicts: chooseSide(options) }),
          ),
        view: createPullView(options, ref),
        resumable: true,
      }),
    );
  addExamples(command, [
    ['dray pull', 'the newest commit of this branch'],
    ['dray pull v1', 'the files as tag v1 has them'],
    ['dray pull --dry-run', 'what would change here'],
  ]);
}

function chooseSide({ both, theirs, ours }: PullOptions): ConflictSide | undefined {
  if (both) return 'both';
  if (theirs) return 'theirs';
  return ours ? 'ours' : undefined;
}

function createPullView(options: PullOptions, ref: string | undefined): CommandView<PullSummary> {
  return {
    onEvent: (event, output) => {
      if (event.type === 'conflict') output.result(formatConflict(event, output.paint));
      else if (options.dryRun || output.verbose) printChanges(event, output);
    },
    onSummary: (summary, output, { elapsedMs }) => {
      output.summary(formatPullEnd(summary, elapsedMs, ref));
    },
  };
}

/**
 * Shared with `switch`, which also pulls. @param ref The ref to pull instead of the branch, which then stays
 * where it is.
 */
export function formatPullEnd(
  summary: PullSummary,
  elapsedMs: number,
  ref: string = summary.branch,
): string[] {
  const { branch, commit, changes, downloadedBytes, requests, decided } = summary;
  const what = ref === branch ? branch : 'this workspace';
  const at = commit === null ? `${what} has no commit` : `${what} is at ${formatHash(commit)}`;
  switch (summary.result) {
    case 'upToDate':
      return [`Up to date: ${at}. ${formatPlural(requests.total, 'request')}.`];
    case 'wouldPull':
      return [`Would pull ${formatChangeTotals(changes)}. Nothing was changed.`];
    case 'pulled': {
      const sides = decided > 0 ? ` Resolved ${formatPlural(decided, 'conflict')}.` : '';
      return [
        `Pulled ${formatChangeTotals(changes)}: ${at}.${sides}`,
        `Received ${formatTransfer({ bytes: downloadedBytes, elapsedMs, requests })}.`,
        ...(summary.copies ?? []).map(
          ({ copy, path }) => `Kept both of ${quotePath(path)}: yours is ${quotePath(copy)}.`,
        ),
        ...formatKept(summary.kept),
      ];
    }
  }
}
