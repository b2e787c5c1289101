import type { Command } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type { JobContext } from '../../../../engine/api/jobs/jobs.ts';
import type { TransferSummary } from '../../../../engine/api/jobs/trees.ts';
import {
  formatBytes,
  formatCount,
  formatDollars,
  formatPlural,
} from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { readGlobalOptions } from '../../options/global-options.ts';
import {
  addCopyOptions,
  type CopyFlags,
  createMaxDeleteOption,
  toCopyRequest,
} from '../../options/tree-options.ts';
import { printChanges } from '../../output/change-lines.ts';
import { formatLookup } from '../../output/lookup-table.ts';
import { formatNotKept } from '../../output/not-kept-line.ts';
import { formatTransfer } from '../../output/transfer-line.ts';
import { withStreams } from '../../standard-streams.ts';

const PLACES =
  'A place is a local path, s3://BUCKET/PREFIX or NAME:PREFIX of a named remote. Copying a folder copies its contents. A single file goes into the destination if that is a folder or ends in "/"; otherwise it takes the destination as its new name.';

export function addCopyCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('copy')
    .summary('copy files between any two places')
    .description(
      `Copies new and changed files from one place to another and deletes nothing. ${PLACES} Use "-" for standard input or output.`,
    )
    .argument('<source>', 'a folder, a file, or "-"')
    .argument('<destination>', 'the place to copy to');
  addCopyOptions(command);
  command.action((source: string, destination: string, options: CopyFlags, self: Command) => {
    const toOutput = destination === '-';
    return runCommand(host, self, {
      check: (context) => toCopyRequest({ source, destination, context }, options),
      start: async (context) => {
        if (toOutput && readGlobalOptions(self).json)
          throw usageError(
            '--json cannot be used when the destination is "-": both write to standard output.',
          );
        const request = toCopyRequest({ source, destination, context }, options);
        return (await loadJob()).copyTree(withStreams(context), request);
      },
      view: createView(options, { isSilent: toOutput }),
      resumable: source !== '-' && !toOutput,
    });
  });
  addExamples(command, [
    ['dray copy photos s3://bucket/photos', 'a folder to a bucket'],
    ['dray copy s3://bucket/photos s3://other/photos --dest-endpoint https://...', 'to another provider'],
    ['dray copy model.bin s3://bucket/models/', 'one file'],
    ['dray copy s3://public-bucket/set set --anonymous', 'without keys'],
    ['tar c . | dray copy - s3://bucket/all.tar', 'a stream'],
  ]);
}

export function addSyncCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('sync')
    .summary('make one place identical to another')
    .description(
      `Makes the destination identical to the source. Copies new and changed files. If no copy failed, deletes files that the source does not have. ${PLACES}`,
    )
    .argument('<source>', 'a folder')
    .argument('<destination>', 'the place to change');
  addCopyOptions(command);
  command.addOption(createMaxDeleteOption());
  command.action((source: string, destination: string, options: CopyFlags, self: Command) =>
    runCommand(host, self, {
      check: (context) => toCopyRequest({ source, destination, context }, options),
      start: async (context) => {
        const request = toCopyRequest({ source, destination, context }, options);
        return (await loadJob()).syncTree(context, request);
      },
      view: createView(options, { isSilent: false }),
      resumable: true,
    }),
  );
  addExamples(command, [
    ['dray sync photos s3://bucket/photos --dry-run', 'show what would happen'],
    ['dray sync s3://bucket/photos photos', 'a bucket to a folder'],
    ['dray sync photos backup:photos --backup-dir backup:old', 'keep replaced and deleted files'],
  ]);
}

interface ExportFlags extends CopyFlags {
  readonly path?: string;
  readonly from?: string;
}

export function addExportCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('export')
    .summary('copy a version to a folder or a bucket')
    .description(
      'Copies the files of a branch, a tag or a commit to a place, without a clone. Deletes nothing. The same as "dray copy REMOTE@REF:PATH DESTINATION".',
    )
    .argument('<ref>', 'a branch, a tag or a commit')
    .argument('<destination>', 'the place to copy to')
    .option('--path <path>', 'only this folder or file of the version')
    .option(
      '--from <repository>',
      "a repository's URL or the name of a remote (default: the workspace's remote)",
    );
  addCopyOptions(command);
  command.action((ref: string, destination: string, options: ExportFlags, self: Command) => {
    const toRequest = (context: Pick<JobContext, 'directory' | 'emit'>) => {
      const { source: _, ...copy } = toCopyRequest({ source: '', destination, context }, options);
      return { ref, ...copy, ...given({ path: options.path, from: options.from }) };
    };
    return runCommand(host, self, {
      check: toRequest,
      start: async (context) => {
        const { exportVersion } = await import('../../../../engine/jobs/trees/export-version.ts');
        return exportVersion(context, toRequest(context));
      },
      view: createView(options, { isSilent: false }),
      resumable: true,
    });
  });
  addExamples(command, [
    ['dray export v1 /data/birds-v1', 'a tag to a folder'],
    ['dray export main s3://public/birds --path images', 'a part of a branch to plain objects'],
    ['dray export v1 . --from s3://bucket/birds', 'of a repository that has no workspace here'],
  ]);
}

const loadJob = () => import('../../../../engine/jobs/trees/copy-tree.ts');

function createView(
  options: CopyFlags,
  { isSilent }: { readonly isSilent: boolean },
): CommandView<TransferSummary> {
  return {
    onEvent: (event, output) => {
      if (event.type === 'lookup' && options.explain)
        for (const line of formatLookup(event.lookup)) output.result(line);
      else if ((options.dryRun || output.verbose) && !isSilent) printChanges(event, output);
    },
    onSummary: (summary, output, { elapsedMs }) => {
      if (isSilent) return;
      output.summary(formatTransferEnd(summary, elapsedMs));
    },
  };
}

function formatTransferEnd(summary: TransferSummary, elapsedMs: number): string[] {
  const { copiedBytes, destination, failed, forecast, requests, skippedFiles, unchangedFiles } = summary;
  const rest = [
    ...(unchangedFiles > 0 ? [`${formatCount(unchangedFiles)} unchanged`] : []),
    ...(skippedFiles > 0 ? [`${formatCount(skippedFiles)} skipped`] : []),
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
  ].join(', ');
  const others = rest === '' ? '' : ` ${capitalize(rest)}.`;
  const asked = requests.total > 0 ? ` ${formatPlural(requests.total, 'request')}.` : '';
  switch (summary.result) {
    case 'upToDate':
      if (skippedFiles + failed > 0) return [`Nothing was copied to ${destination}.${others}${asked}`];
      return [
        `Nothing to do: ${formatPlural(unchangedFiles, 'file')} at ${destination} ${unchangedFiles === 1 ? 'is' : 'are'} the same.${asked}`,
      ];
    case 'wouldCopy':
      return [
        `Would ${formatWork(summary, 'dry')}.${others} Nothing was changed.`,
        ...formatNotKept('there', summary.notKept),
        ...(forecast && forecast.total + requests.total > 0
          ? [
              `It would take ${formatForecast(forecast)}; this dry run took ${formatPlural(requests.total, 'request')}.`,
            ]
          : []),
      ];
    case 'copied':
      return [
        `${formatWork(summary, 'done')}.${others}`,
        `Moved ${formatTransfer({ bytes: copiedBytes, elapsedMs, requests })}${formatTravelled(summary)}.`,
        ...formatNotKept('there', summary.notKept),
      ];
  }
}

/** `Copied 12 files (3.4 MiB) to PLACE, deleted 2 files there`; for a dry run, `copy 12 files ...`. */
function formatWork(summary: TransferSummary, tense: 'dry' | 'done'): string {
  const { copiedBytes, copiedFiles, deletedFiles, destination, touchedFiles, touchedFolders } = summary;
  const isDone = tense === 'done';
  const parts = [
    ...(copiedFiles > 0
      ? [`${isDone ? 'copied' : 'copy'} ${formatPlural(copiedFiles, 'file')} (${formatBytes(copiedBytes)})`]
      : []),
    ...(touchedFiles > 0 ? [`set the time of ${formatPlural(touchedFiles, 'file')}`] : []),
    ...(touchedFolders > 0 ? [`set the time or mode of ${formatPlural(touchedFolders, 'folder')}`] : []),
    ...(deletedFiles > 0 ? [`${isDone ? 'deleted' : 'delete'} ${formatPlural(deletedFiles, 'file')}`] : []),
  ];
  const [first, ...rest] = parts;
  const place = `${copiedFiles > 0 ? 'to' : 'at'} ${destination}`;
  const text = [`${first} ${place}`, ...rest].join(', ') + (rest.length > 0 ? ' there' : '');
  return isDone ? capitalize(text) : text;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Shown when fewer bytes travelled than were copied: copies inside the store, or deltas. */
function formatTravelled({ copiedBytes, copiedInStore, receivedBytes, sentBytes }: TransferSummary): string {
  const travelled = Math.max(sentBytes, receivedBytes);
  if (copiedInStore > 0 && travelled === 0) return ', all of it inside the store';
  if (travelled >= copiedBytes || travelled + copiedInStore === 0) return '';
  return `, of which ${formatBytes(travelled)} travelled`;
}

function formatForecast({ dollars, receivedBytes, sentBytes, total }: TransferSummary['requests']): string {
  const bytes = [
    ...(sentBytes > 0 ? [`${formatBytes(sentBytes)} to send`] : []),
    ...(receivedBytes > 0 ? [`${formatBytes(receivedBytes)} to receive`] : []),
  ];
  const price = dollars > 0 ? `, about ${formatDollars(dollars)}` : '';
  return `${[formatPlural(total, 'request'), ...bytes].join(', ')}${price}`;
}
