import type { Command } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type { CollectSummary } from '../../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatDollars, formatPlural } from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { parsePause, UNIT_MS } from '../../options/parse-pause.ts';
import type { Output } from '../../output/output.ts';

interface CollectOptions {
  readonly dryRun?: true;
  /** Milliseconds. */
  readonly grace?: number;
}

const GRACE_BOUNDS = { minMs: 0, maxMs: 10_000 * UNIT_MS.d! };

export function addCollectCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('gc')
    .summary('remove what no commit needs any more')
    .description(
      'Removes from the repository what no commit that is kept needs: content of forgotten commits, and what killed pushes left. Others may push and pull meanwhile. A stopped collection goes on with the next one, by anybody.',
    )
    .option('-n, --dry-run', 'show what would be removed, and write nothing')
    .option('--grace <duration>', 'keep what is younger (default: 24h)', (text) =>
      parsePause(text, GRACE_BOUNDS),
    )
    .action((options: CollectOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../../engine/jobs/collect/collect.ts')).collectGarbage(
            context,
            given({
              dryRun: options.dryRun,
              graceSeconds: options.grace === undefined ? undefined : options.grace / 1_000,
            }),
          ),
        view: collectView,
        resumable: true,
      }),
    );
  addExamples(command, [
    ['dray gc --dry-run', 'how much would it free?'],
    ['dray gc', 'remove what is older than a day'],
  ]);
}

const collectView: CommandView<CollectSummary> = {
  onEvent: () => {},
  onSummary: (summary, output) => {
    const { bytes, forecast, objects, removedBytes, removedObjects, requests, result } = summary;
    const held = `${formatPlural(objects, 'object')}, ${formatBytes(bytes)}`;
    const sent = formatPlural((forecast ?? requests).total, 'request');
    if (removedObjects === 0) {
      output.note(`Nothing to remove of ${held}.${youngOf(summary)} ${sent}.`);
      return;
    }
    const gone = `${formatPlural(removedObjects, 'object')}, ${formatBytes(removedBytes)}${savedOf(summary)}`;
    const end = `${gone}, of ${held}.${youngOf(summary)}`;
    if (result === 'collected') output.note(`Removed ${end}`);
    else output.result(`Would remove ${end}`);
    output.note(`${formatPlural(summary.commits, 'commit')} kept; ${sent}${priceOf(summary)}.`);
    noteRepacked(summary, output);
  },
};

function noteRepacked({ repackedBytes, repackedPacks, result }: CollectSummary, output: Output): void {
  if (repackedPacks === 0) return;
  const isForecast = result === 'wouldCollect';
  const packs = formatPlural(repackedPacks, 'pack');
  const freed = `${formatBytes(repackedBytes)} of it`;
  output.note(
    `${isForecast ? 'Would write' : 'Wrote'} ${packs} anew, which ${isForecast ? 'frees' : 'freed'} ${freed}.`,
  );
}

function youngOf({ youngBytes, youngObjects }: CollectSummary): string {
  if (youngObjects === 0) return '';
  const objects = `${formatPlural(youngObjects, 'object')} (${formatBytes(youngBytes)})`;
  return ` ${objects} that no commit needs ${youngObjects === 1 ? 'is' : 'are'} younger than --grace.`;
}

function savedOf({ savedDollarsPerMonth = 0 }: CollectSummary): string {
  return savedDollarsPerMonth === 0 ? '' : ` (${formatDollars(savedDollarsPerMonth)} a month)`;
}

function priceOf({ forecast, requests }: CollectSummary): string {
  const { dollars } = forecast ?? requests;
  return dollars === 0 ? '' : `, about ${formatDollars(dollars)}`;
}
