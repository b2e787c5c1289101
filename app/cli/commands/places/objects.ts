/** Commands on one place: `rm`, `cat`, `du`. */
import type { Command } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type {
  ReadPlaceSummary,
  RemovePlaceSummary,
  UsageSummary,
} from '../../../../engine/api/jobs/trees.ts';
import { formatBytes, formatCount, formatPlural } from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { addFilterOptions, type FilterOptions, toFilter } from '../../options/filter-options.ts';
import {
  createBandwidthOption,
  parseCount,
  parseSizeOption,
  readGlobalOptions,
} from '../../options/global-options.ts';
import { createAllowRepositoryOption } from '../../options/tree-options.ts';
import { printChanges } from '../../output/change-lines.ts';
import { quotePath } from '../../output/terminal-text.ts';
import { formatRequests } from '../../output/transfer-line.ts';
import { withStreams } from '../../standard-streams.ts';

interface RemoveOptions extends FilterOptions {
  readonly recursive?: true;
  readonly dryRun?: true;
  readonly allowRepository?: true;
}

export function addRemoveCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('rm')
    .summary('remove objects')
    .description(
      'Removes an object, or with --recursive everything below a prefix. This cannot be undone, unless the bucket keeps versions.',
    )
    .argument('<place>', 's3://BUCKET/KEY or NAME:KEY')
    .option('-r, --recursive', 'remove everything below it')
    .option('-n, --dry-run', 'show what would be removed, and remove nothing')
    .addOption(createAllowRepositoryOption());
  addFilterOptions(command);
  command.action((place: string, options: RemoveOptions, self: Command) =>
    runCommand(host, self, {
      start: async (context) =>
        (await import('../../../../engine/jobs/one-place/remove-place.ts')).removePlace(context, {
          place,
          ...given({
            recursive: options.recursive,
            dryRun: options.dryRun,
            allowRepositories: options.allowRepository,
            filter: toFilter(options, context),
          }),
        }),
      view: createRemoveView(options),
    }),
  );
  addExamples(command, [
    ['dray rm s3://bucket/old.tar', 'one object'],
    ['dray rm -r s3://bucket/tmp/ --older 30d --dry-run', 'what a clean-up would remove'],
  ]);
}

function createRemoveView({ dryRun }: RemoveOptions): CommandView<RemovePlaceSummary> {
  return {
    onEvent: (event, output) => {
      if (dryRun || output.verbose) printChanges(event, output);
    },
    onSummary: ({ bytes, failed, place, removed, requests }, output) => {
      const failures = failed > 0 ? `, ${formatCount(failed)} failed` : '';
      const what = `${formatPlural(removed, 'object')}, ${formatBytes(bytes)}, at ${place}${failures}`;
      if (dryRun) output.note(`Would remove ${what}. Nothing was removed.`);
      else if (removed > 0) output.note(`Removed ${what}${formatRequests(requests)}.`);
      else output.note(`Nothing was removed at ${place}${failures}${formatRequests(requests)}.`);
    },
  };
}

interface CatOptions {
  readonly from?: string;
  readonly offset?: number;
  readonly length?: number;
}

export function addCatCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('cat')
    .summary("write an object's content to standard output")
    .description(
      'Writes the content of an object or a file to standard output; with --from, of a file of a commit. An object that is read whole is verified against the checksum that its store keeps, a file of a commit against its hash.',
    )
    .argument('<place>', 's3://BUCKET/KEY, NAME:KEY or a file')
    .option('--from <ref>', "read the file of this commit, branch or tag; @ is the workspace's commit");
  command.option('--offset <size>', 'start at this byte', parseSizeOption);
  command.option('--length <size>', 'write at most this many bytes', parseSizeOption);
  command.addOption(createBandwidthOption());
  command.action((place: string, options: CatOptions, self: Command) =>
    runCommand<ReadPlaceSummary>(host, self, {
      start: async (context) => {
        if (readGlobalOptions(self).json)
          throw usageError('"cat" writes file content, not JSON. Leave out --json.');
        const { standardOutput } = withStreams(context);
        const part = given({ offsetBytes: options.offset, lengthBytes: options.length });
        const { from } = options;
        if (from !== undefined) {
          const { readCommitted } = await import('../../../../engine/jobs/history/read-committed.ts');
          return readCommitted(context, { from, path: place, ...part }, standardOutput);
        }
        const { readPlace } = await import('../../../../engine/jobs/one-place/read-place.ts');
        return readPlace(context, { place, ...part }, standardOutput);
      },
      view: { onSummary: () => {} },
    }),
  );
  addExamples(command, [
    ['dray cat s3://bucket/table.csv | head', 'the first lines'],
    ['dray cat s3://bucket/disk.img --offset 1M --length 512', 'a part of it'],
    ['dray cat --from v1 labels.csv | diff - labels.csv', 'what changed since tag v1'],
  ]);
}

interface UsageOptions extends FilterOptions {
  readonly depth?: number;
}

export function addUsageCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('du')
    .summary('show sizes of folders')
    .description('Adds up files and bytes below a place, per folder.')
    .argument('<place>', 's3://BUCKET/PREFIX, NAME:PREFIX or a folder')
    .option('-d, --depth <n>', 'levels of folders to show (default: 1)', (text) =>
      parseCount(text, { min: 0, max: 100 }),
    );
  addFilterOptions(command);
  command.action((place: string, options: UsageOptions, self: Command) =>
    runCommand(host, self, {
      start: async (context) =>
        (await import('../../../../engine/jobs/one-place/disk-usage.ts')).usage(context, {
          place,
          ...given({ depth: options.depth, filter: toFilter(options, context) }),
        }),
      view: usageView,
    }),
  );
  addExamples(command, [['dray du s3://bucket --depth 2', 'what takes the space']]);
}

const usageView: CommandView<UsageSummary> = {
  onEvent: (event, output) => {
    if (event.type !== 'usage') return;
    const size = formatBytes(event.bytes).padStart(9);
    output.result(
      `${size}  ${formatCount(event.files).padStart(9)}  ${quotePath(event.path === '' ? '.' : event.path)}`,
    );
  },
  onSummary: ({ bytes, files, place, requests }, output) => {
    output.note(
      `${formatPlural(files, 'file')}, ${formatBytes(bytes)} at ${place}${formatRequests(requests)}.`,
    );
  },
};
