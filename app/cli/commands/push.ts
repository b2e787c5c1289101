import { type Command, Option } from 'commander';
import type { JobEvent, QueryMode } from '../../../engine/api/events.ts';
import { given } from '../../../engine/api/given.ts';
import type { PushSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatCount, formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { formatChangeTotals, formatConflict, printChanges } from '../output/change-lines.ts';
import { formatDetached } from '../output/detached-line.ts';
import { formatNotKept } from '../output/not-kept-line.ts';
import type { Output } from '../output/output.ts';
import { formatQueryActual, formatQueryPlan } from '../output/query-plan-table.ts';
import { formatTransfer } from '../output/transfer-line.ts';

interface PushOptions {
  readonly message?: string;
  readonly dryRun?: true;
  readonly explain?: true;
  readonly query?: QueryMode;
  readonly allowEmptied?: true;
  /** False with `--no-index`. */
  readonly index: boolean;
}

export function addPushCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('push')
    .summary('store changes as a new commit')
    .description(
      'Stores changes as a new commit and moves the branch to it. If the branch has moved in the meantime, changes to different paths are merged; changes to the same path stop the push, and nothing is lost. A stopped push continues where it was.',
    )
    .option('-m, --message <text>', 'the commit message')
    .option('-n, --dry-run', 'show what would be sent, and send nothing')
    .option('--explain', 'show how Dray finds out which objects the remote has, and what that costs')
    .addOption(
      new Option('--query <how>', 'check each object, list the remote, or choose (the default)').choices([
        'each',
        'list',
        'auto',
      ]),
    )
    .option('--no-index', 'ignore the local index and ask the remote again')
    .option('--allow-emptied', 'push even if many files have become empty since the last push or pull')
    .addOption(createBandwidthOption())
    .action((options: PushOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/push/push.ts')).push(context, {
            ...given({
              message: options.message,
              dryRun: options.dryRun,
              query: options.query,
              allowEmptied: options.allowEmptied,
            }),
            ...(options.index ? {} : { noIndex: true }),
          }),
        view: createPushView(options),
        resumable: true,
      }),
    );
  addExamples(command, [
    ['dray push -m "labels corrected"', 'store the changes'],
    ['dray push --dry-run --explain', 'what would be sent, and the cost of finding out'],
    ['dray push --json', 'for programs: events and a summary, one JSON object per line'],
  ]);
}

function createPushView(options: PushOptions): CommandView<PushSummary> {
  let isPlanShown = false;
  return {
    onEvent: (event: JobEvent, output: Output) => {
      if (event.type === 'plan' && options.explain) {
        if (!isPlanShown) for (const line of formatQueryPlan(event.query)) output.result(line);
        isPlanShown = true;
        for (const line of formatQueryActual(event.query)) output.result(line);
      } else if (event.type === 'conflict') {
        output.result(formatConflict(event, output.paint));
      } else if (options.dryRun || output.verbose) {
        printChanges(event, output);
      }
    },
    onSummary: (summary, output, { elapsedMs }) => {
      if (options.explain && !isPlanShown) {
        for (const line of [...formatQueryPlan(summary.query), ...formatQueryActual(summary.query)])
          output.result(line);
      }
      output.summary(formatPushEnd(summary, elapsedMs));
    },
  };
}

function formatPushEnd(summary: PushSummary, elapsedMs: number): string[] {
  const { beforeCompression, branch, commit, changes, uploadedObjects, uploadedBytes, requests } = summary;
  const changed = formatChangeTotals(changes);
  const at = commit === null ? `${branch} has no commit` : `${branch} is at ${formatHash(commit)}`;
  switch (summary.result) {
    case 'nothingToPush':
      return [
        `Nothing to push: ${at}. ${formatPlural(requests.total, 'request')}.`,
        ...(summary.detached ? [`${formatDetached(summary.detached, branch)}.`] : []),
      ];
    case 'wouldPush':
      return [
        `Would push ${changed}: ${formatPlural(uploadedObjects, 'object')}, ${formatBytes(uploadedBytes)} to send${beforeCompression ? ' before compression' : ''}. Nothing was sent.`,
      ];
    case 'pushed': {
      const merged = summary.mergedWith
        ? ` It was merged with ${formatHash(summary.mergedWith)}; get that with "dray pull".`
        : '';
      const merges = summary.merged ? ` It records the merge of ${formatHash(summary.merged)}.` : '';
      const sent = formatTransfer({ bytes: uploadedBytes, elapsedMs, requests });
      return [
        `Pushed ${changed}: ${at}.${merges}${merged}`,
        `Sent ${formatCount(uploadedObjects)} ${uploadedObjects === 1 ? 'object' : 'objects'}, ${sent}.`,
        ...formatNotKept('in a commit', summary.notKept),
      ];
    }
  }
}
