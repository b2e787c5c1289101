import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { ComparedEvent } from '../../../../engine/api/events.ts';
import { given } from '../../../../engine/api/given.ts';
import type { CheckTreesSummary } from '../../../../engine/api/jobs/trees.ts';
import { formatBytes, formatCount, formatPlural } from '../../../../engine/api/text/numbers.ts';
import {
  type CommandHost,
  type CommandView,
  EXIT_DIFFERENCES,
  EXIT_SOME_FILES_FAILED,
  runCommand,
} from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createBandwidthOption } from '../../options/global-options.ts';
import { addPairOptions, type PairOptions, toPairRequest } from '../../options/tree-options.ts';
import type { Output } from '../../output/output.ts';
import { quotePath } from '../../output/terminal-text.ts';
import { formatRequests } from '../../output/transfer-line.ts';

interface CheckOptions extends PairOptions {
  readonly download?: true;
  readonly links?: true;
  readonly oneWay?: true;
  readonly report?: string;
}

export function addCheckCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('check')
    .summary('compare the content of two places')
    .description(
      'Compares two places file by file and changes nothing. Uses the checksums that stores keep; reads local files, and downloads nothing unless you give --download. With -v or --report it says how each file was compared. Exit code 3: differences were found. Exit code 4: something could not be compared.',
    )
    .argument('<source>', 'the folder or file to compare')
    .argument('<destination>', 'the folder or file to compare it with')
    .option('--download', 'read all content of both sides')
    .option('--links', 'compare symbolic links too, as NAME.rclonelink objects')
    .option('--size-only', 'compare sizes only; read no content')
    // The default, for people who like to say so.
    .addOption(new Option('--checksum').conflicts('sizeOnly').hideHelp())
    .addOption(new Option('--no-index').hideHelp())
    .option('--one-way', 'ignore files that only the destination has')
    .option('--report <file>', 'write the full result to this file as JSON')
    .addOption(createBandwidthOption());
  addPairOptions(command);
  command.action((source: string, destination: string, options: CheckOptions, self: Command) =>
    runCommand(host, self, {
      check: (context) => toPairRequest({ source, destination, context }, options),
      start: async (context) =>
        (await import('../../../../engine/jobs/trees/check/check-trees.ts')).checkTrees(context, {
          ...toPairRequest({ source, destination, context }, options),
          ...given({
            download: options.download,
            links: options.links,
            oneWay: options.oneWay,
            reportPath: options.report === undefined ? undefined : resolve(context.directory, options.report),
          }),
        }),
      view,
    }),
  );
  addExamples(command, [
    ['dray check photos s3://bucket/photos', 'before you delete the originals'],
    ['dray check s3://bucket/a s3://other/a --report check.json', 'write a report'],
  ]);
}

const RESULTS: Readonly<Record<ComparedEvent['result'], string>> = {
  same: 'same',
  differs: 'DIFFERS',
  onlyInSource: 'only in source',
  onlyInDestination: 'only in destination',
  uncertain: 'uncertain',
};

const METHODS: Readonly<Record<ComparedEvent['by'], string>> = {
  sizes: 'size',
  crc64nvme: 'CRC64NVME',
  crc32: 'CRC32',
  sha256: 'SHA-256',
  md5: 'MD5',
  md5OfParts: 'MD5 of parts',
  content: 'content read on both sides',
  presence: 'name',
};

const view: CommandView<CheckTreesSummary> = {
  onEvent: (event, output) => {
    if (event.type === 'compared') printCompared(event, output);
  },
  onSummary: (summary, output) => {
    output.summary(formatCheckEnd(summary));
  },
  exitCode: ({ differing, onlyInDestination, onlyInSource, uncertain }) => {
    if (differing + onlyInDestination + onlyInSource > 0) return EXIT_DIFFERENCES;
    return uncertain > 0 ? EXIT_SOME_FILES_FAILED : 0;
  },
};

function printCompared({ by, differsAt, path, result }: ComparedEvent, output: Output): void {
  if (result === 'same' && !output.verbose) return;
  const color = result === 'same' ? 'green' : result === 'uncertain' ? 'yellow' : 'red';
  const where = differsAt === undefined ? '' : `, first at byte ${formatCount(differsAt)}`;
  output.result(`${output.paint(color, RESULTS[result])}  ${quotePath(path)}  (${METHODS[by]}${where})`);
}

function formatCheckEnd(summary: CheckTreesSummary): string[] {
  const {
    destination,
    differing,
    failed,
    onlyInDestination,
    onlyInSource,
    readBytes,
    requests,
    same,
    source,
    uncertain,
  } = summary;
  const took = `${formatBytes(readBytes)} read${formatRequests(requests)}`;
  const differences = [
    ...(differing > 0 ? [`${formatPlural(differing, 'file differs', 'files differ')}`] : []),
    ...(onlyInSource > 0 ? [`${formatCount(onlyInSource)} only in the source`] : []),
    ...(onlyInDestination > 0 ? [`${formatCount(onlyInDestination)} only in the destination`] : []),
    ...(uncertain > 0 ? [`${formatCount(uncertain)} of equal size without a checksum to compare`] : []),
    ...(failed > 0 ? [`${formatCount(failed)} could not be compared`] : []),
  ];
  if (differences.length === 0)
    return [`${source} and ${destination} hold the same ${formatPlural(same, 'file')}; ${took}.`];
  return [`${source} and ${destination}: ${differences.join(', ')}; ${formatCount(same)} the same; ${took}.`];
}
