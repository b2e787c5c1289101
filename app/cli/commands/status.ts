import type { Command } from 'commander';
import type { StatusSummary } from '../../../engine/api/jobs/jobs.ts';
import type { PendingMerge } from '../../../engine/api/jobs/pending-merge.ts';
import { formatBytes, formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, EXIT_DIFFERENCES, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { countChanges, formatChangeTotals, printChanges } from '../output/change-lines.ts';
import { formatDetached } from '../output/detached-line.ts';
import { formatOutside } from '../output/outside-line.ts';
import { quotePath } from '../output/terminal-text.ts';

interface StatusOptions {
  readonly remote?: string | true;
  readonly exitCode?: true;
}

export function addStatusCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('status')
    .summary('list local changes since the last push or pull')
    .description(
      'Lists changes in the workspace since its commit: A added, M modified, D deleted, R renamed, m executable bit. Does not contact the remote unless you give --remote.',
    )
    .option('--remote [name]', 'also show whether the remote branch has moved')
    .option('--exit-code', 'exit with 3 if anything differs; add -q to print nothing')
    .action((options: StatusOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/working-copy/status.ts')).status(
            context,
            options.remote === undefined ? {} : { remote: true },
          ),
        view: createStatusView(options),
      }),
    );
  addExamples(command, [
    ['dray status', 'local changes'],
    ['dray status --remote', 'and compare the branch with the remote'],
    ['dray status --exit-code -q || dray push', 'for scripts'],
  ]);
}

function createStatusView(options: StatusOptions): CommandView<StatusSummary> {
  return {
    // With --quiet and --exit-code, the exit code is the only result.
    onEvent: (event, output) => {
      if (!(options.exitCode && output.quiet)) printChanges(event, output);
    },
    onSummary: (summary, output) => {
      output.note(formatLocalState(summary));
      if (summary.merging) output.note(formatMerging(summary.merging));
      if (summary.scope) for (const line of formatScope(summary.scope)) output.note(line);
      if (summary.upstream) output.note(formatUpstream(summary, summary.upstream));
    },
    exitCode: ({ changes, upstream }) => {
      const differs = countChanges(changes) > 0 || (upstream !== undefined && upstream.state !== 'same');
      return options.exitCode && differs ? EXIT_DIFFERENCES : 0;
    },
  };
}

function formatLocalState(summary: StatusSummary): string {
  const { branch, bytes, changes, detached, files } = summary;
  const base = detached ? formatDetached(detached, branch) : `On ${formatBase(summary)}`;
  if (countChanges(changes) > 0) {
    const next = detached
      ? `Take it along with "dray switch ${branch}" or "dray switch -c NAME".`
      : 'Store it with "dray push".';
    return `${base}: ${formatChangeTotals(changes)}. ${next}`;
  }
  return `${base}: nothing changed in ${formatPlural(files, 'file')}, ${formatBytes(bytes)}.`;
}

function formatMerging({ commit, isUnfinished, kind, ref }: PendingMerge): string {
  const what = commit.startsWith(ref) ? formatHash(commit) : `${ref} (${formatHash(commit)})`;
  const begun = kind === 'merge' ? `A merge of ${what}` : `A revert of ${what}`;
  if (!isUnfinished)
    return `${begun} is in these changes: "dray push" records it, "dray ${kind} --abort" takes it back.`;
  return `${begun} did not write all files: run it again, or "dray ${kind} --abort".`;
}

function formatBase({ arriving, branch, commit }: StatusSummary): string {
  const base = commit === null ? branch : `${branch} at ${formatHash(commit)}`;
  if (arriving !== undefined && arriving !== commit) return `${base}, with a part of ${formatHash(arriving)}`;
  return commit === null ? `${branch}, which has no commit yet` : base;
}

function formatScope({ only, outside }: NonNullable<StatusSummary['scope']>): readonly string[] {
  const held = `This workspace holds ${only.map(quotePath).join(', ')}.`;
  return outside.count > 0 ? [held, formatOutside(outside)] : [held];
}

function formatUpstream({ branch }: StatusSummary, upstream: NonNullable<StatusSummary['upstream']>): string {
  const there = upstream.commit === null ? '' : ` (${formatHash(upstream.commit)})`;
  const moved = `The remote's ${branch} has moved${there}: ${formatChangeTotals(upstream.changes)}.`;
  switch (upstream.state) {
    case 'same':
      return `The remote's ${branch} is at the same commit.`;
    case 'absent':
      return `The remote has no branch ${branch} yet.`;
    case 'behind':
      return `${moved} Get it with "dray pull".`;
    case 'diverged':
      return `${moved} "dray pull" merges it with the changes here.`;
  }
}
