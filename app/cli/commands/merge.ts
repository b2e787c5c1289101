import { type Command, Option } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { MergeSummary } from '../../../engine/api/jobs/merge.ts';
import { formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption, parseCount } from '../options/global-options.ts';
import { addSideOptions, chooseSide, type SideOptions } from '../options/side-options.ts';
import { countChanges, formatChangeTotals, formatConflict, printChanges } from '../output/change-lines.ts';
import { formatCopies, formatKept } from '../output/kept-line.ts';
import { formatTransfer } from '../output/transfer-line.ts';

interface MergeOptions extends SideOptions {
  readonly dryRun?: true;
  readonly abort?: true;
  readonly parent?: number;
}

const PARENTS_MAX = 16;

export function addMergeCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('merge')
    .summary('bring what another branch changed into the workspace')
    .description(
      'Brings what a branch, a tag or a commit changed since it parted from this branch into the workspace, and keeps local changes. The next push records it as a merge. If both sides changed the same path, nothing is changed and the command ends with exit code 5, unless --ours, --theirs or --both decides.',
    )
    .argument('[ref]', 'a branch, a tag or a commit');
  addCommonOptions(command, 'merge').action(
    (ref: string | undefined, options: MergeOptions, self: Command) => {
      checkRef('merge', ref, options);
      return runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/merge/merge.ts')).merge(context, toRequest(ref, options)),
        view: createMergeView(options),
        resumable: options.abort !== true,
      });
    },
  );
  addExamples(command, [
    ['dray merge relabel', 'what relabel changed, as changes here'],
    ['dray push', 'record the merge'],
    ['dray merge relabel --dry-run', 'what would change here'],
    ['dray merge --abort', 'take it back before it is pushed'],
  ]);
}

export function addRevertCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('revert')
    .summary('take back what a commit changed')
    .description(
      'Takes back what one commit changed, as changes in the workspace. Later changes to other paths stay. The next push records it. If a later change touched the same path, nothing is changed and the command ends with exit code 5, unless --ours, --theirs or --both decides.',
    )
    .argument('[commit]', 'a commit, such as @ for the last one or @~1 for the one before')
    .option(
      '--parent <n>',
      'of a merge: keep this one of its parents, and take back what came from the others',
      (text) => parseCount(text, { min: 1, max: PARENTS_MAX }),
    );
  addCommonOptions(command, 'revert').action(
    (ref: string | undefined, options: MergeOptions, self: Command) => {
      checkRef('revert', ref, options);
      return runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/merge/revert.ts')).revert(context, {
            ...toRequest(ref, options),
            ...given({ parent: options.parent }),
          }),
        view: createMergeView(options),
        resumable: options.abort !== true,
      });
    },
  );
  addExamples(command, [
    ['dray revert @', 'take back the last commit'],
    ['dray revert main~2', 'take back an earlier one'],
    ['dray push', 'record that'],
  ]);
}

function addCommonOptions(command: Command, what: 'merge' | 'revert'): Command {
  command.option('-n, --dry-run', 'show what would change, and change nothing');
  addSideOptions(command);
  return command
    .addOption(
      new Option(
        '--abort',
        `take back a ${what} that is not pushed yet; what you changed since stays`,
      ).conflicts(['dryRun', 'ours', 'theirs', 'both']),
    )
    .addOption(createBandwidthOption());
}

function toRequest(ref: string | undefined, options: MergeOptions) {
  return given({ ref, abort: options.abort, dryRun: options.dryRun, conflicts: chooseSide(options) });
}

function checkRef(what: 'merge' | 'revert', ref: string | undefined, { abort }: MergeOptions): void {
  if (abort && ref !== undefined) throw usageError(`--abort takes no name. Write: dray ${what} --abort.`);
  if (!abort && ref === undefined)
    throw usageError(`Name what to ${what}. Write: dray ${what} ${what === 'merge' ? 'BRANCH' : 'COMMIT'}.`);
}

function createMergeView({ dryRun }: MergeOptions): CommandView<MergeSummary> {
  return {
    onEvent: (event, output) => {
      if (event.type === 'conflict') output.result(formatConflict(event, output.paint));
      else if (dryRun || output.verbose) printChanges(event, output);
    },
    onSummary: (summary, output, { elapsedMs }) => {
      output.summary(formatMergeEnd(summary, elapsedMs));
    },
  };
}

function formatMergeEnd(summary: MergeSummary, elapsedMs: number): string[] {
  const {
    branch,
    changes,
    decided,
    downloadedBytes,
    failed,
    stayed = 0,
    other,
    ref,
    requests,
    result,
  } = summary;
  const what = other.startsWith(ref) ? formatHash(other) : `${ref} (${formatHash(other)})`;
  const changed = countChanges(changes) === 0 ? 'nothing changes here' : formatChangeTotals(changes);
  switch (result) {
    case 'upToDate':
      return [`Nothing to merge: ${branch} has ${what} already. ${formatPlural(requests.total, 'request')}.`];
    case 'wouldMerge':
      return [`Would merge ${what}: ${changed}. Nothing was changed.`];
    case 'wouldRevert':
      return [`Would take back ${what}: ${changed}. Nothing was changed.`];
    case 'aborted':
      return [
        `Took back the changes of ${what}: ${changed}.`,
        ...(stayed > 0 ? [`${formatPlural(stayed, 'path')} changed here since, and stayed.`] : []),
        ...formatKept(summary.kept),
      ];
    case 'merged':
    case 'reverted': {
      const sides = decided > 0 ? ` Resolved ${formatPlural(decided, 'conflict')}.` : '';
      const next = failed > 0 ? '' : ' Record it with "dray push".';
      return [
        `${result === 'merged' ? 'Merged' : 'Took back'} ${what}: ${changed}.${sides}${next}`,
        `Received ${formatTransfer({ bytes: downloadedBytes, elapsedMs, requests })}.`,
        ...formatCopies(summary.copies),
        ...formatKept(summary.kept),
      ];
    }
  }
}
