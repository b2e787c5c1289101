import type { Command } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { PullSummary } from '../../../engine/api/jobs/jobs.ts';
import type { ArrivingCommit } from '../../../engine/api/jobs/pending-merge.ts';
import { formatCount, formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { addSideOptions, chooseSide, type SideOptions } from '../options/side-options.ts';
import { formatChangeTotals, formatConflict, printChanges } from '../output/change-lines.ts';
import { formatCopies, formatKept } from '../output/kept-line.ts';
import { formatTransfer } from '../output/transfer-line.ts';

interface PullOptions extends SideOptions {
  readonly dryRun?: true;
}

export function addPullCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('pull')
    .summary('update the workspace to a commit')
    .description(
      'Updates the workspace to the newest commit of the branch (or another ref) and keeps local changes. If both sides changed the same path, nothing is changed and the command ends with exit code 5, unless --ours, --theirs or --both decides. Local files that it overwrites are kept for 30 days ("dray kept").',
    )
    .argument('[ref]', 'a branch, a tag or a commit (default: the current branch)')
    .option('-n, --dry-run', 'show what would change, and change nothing');
  addSideOptions(command)
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
      const look = summary.detached
        ? [`Detached: the branch ${branch} stays where it is. "dray pull" goes back to it.`]
        : [];
      const end = summary.arriving ? formatArriving(summary.arriving, { what, commit }) : `: ${at}.`;
      return [
        `Pulled ${formatChangeTotals(changes)}${end}${sides}`,
        ...look,
        `Received ${formatTransfer({ bytes: downloadedBytes, elapsedMs, requests })}.`,
        ...formatCopies(summary.copies),
        ...formatKept(summary.kept),
      ];
    }
  }
}

/** Of a run that did not bring everything. */
function formatArriving(
  { command, commit, missing }: ArrivingCommit,
  base: { readonly what: string; readonly commit: string | null },
): string {
  const until = base.commit === null ? '' : ` Until then ${base.what} stays at ${formatHash(base.commit)}.`;
  const are = missing === 1 ? 'is' : 'are';
  return ` of ${formatHash(commit)}; ${formatCount(missing)} ${are} missing. Get the rest with "${command}".${until}`;
}
