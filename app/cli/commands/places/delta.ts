import { type Command, InvalidArgumentError, Option } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type {
  DeltaBenchmarkSummary,
  DeltaRequest,
  DeltaSummary,
  DeltaTiming,
} from '../../../../engine/api/jobs/peers.ts';
import { formatBytes } from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createBandwidthOption } from '../../options/global-options.ts';
import { formatTable } from '../../output/table.ts';

interface DeltaOptions {
  readonly blockSize?: number;
  readonly hash?: NonNullable<DeltaRequest['hash']>;
  readonly wholeFile?: boolean;
  readonly cdc?: boolean;
  readonly concurrency?: number;
  readonly dryRun?: boolean;
  readonly inplace?: boolean;
  readonly benchmark?: number;
}

export function addDeltaCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('delta')
    .summary('update one huge file from another, sending only changed blocks')
    .description(
      'Makes DST equal to SRC. Each is a local file or a file at a peer (dray://HOST:PORT/PATH). Both ends hash their blocks in parallel, and only blocks that differ are sent. The new file replaces DST after every block is verified.',
    )
    .argument('<src>', 'a local file, or a file at a peer')
    .argument('<dst>', 'the file to update or create, or a folder that ends in "/"')
    .option('--block-size <size>', 'block size: 4K, 1MiB, or plain bytes (default: 64K)', parseBlockSize)
    .addOption(
      new Option('--hash <name>', 'the hash of each block').choices(['xxh3', 'sha256']).default('xxh3'),
    )
    .option('--cdc', 'content-defined blocks: finds data that moved, for example after an inserted byte')
    .option('-W, --whole-file', 'send the whole file without comparing')
    .option('-c, --concurrency <n>', 'segments in flight (default: 4)', parseConcurrency)
    .option('-n, --dry-run', 'report how much they share, and change nothing')
    .option('--inplace', 'overwrite DST in place; after a crash, run the command again')
    .option(
      '--benchmark <n>',
      'measure n steps from 0 to 100 % changed, on a copy of SRC beside DST; compares with rsync if it is installed',
      parseRows,
    )
    .addOption(createBandwidthOption())
    .action((source: string, destination: string, options: DeltaOptions, self: Command) => {
      const request: DeltaRequest = {
        source: { place: source },
        destination: { place: destination },
        ...given({
          blockBytes: options.blockSize,
          hash: options.hash,
          mode: options.wholeFile ? 'whole' : options.cdc ? 'content' : undefined,
          concurrency: options.concurrency,
          isDryRun: options.dryRun,
          isInPlace: options.inplace,
        }),
      };
      const { benchmark } = options;
      return benchmark === undefined
        ? runCommand(host, self, {
            start: async (context) =>
              (await import('../../../../engine/jobs/delta/delta-file.ts')).deltaFile(context, request),
            view,
            resumable: true,
          })
        : runCommand(host, self, {
            start: async (context) => {
              if (options.dryRun)
                throw usageError(
                  '--benchmark writes files, so it cannot be combined with --dry-run. Leave one out.',
                );
              const { benchmarkDelta } = await import('../../../../engine/jobs/delta/delta-benchmark.ts');
              return benchmarkDelta(context, { ...request, rows: benchmark });
            },
            view: benchmarkView,
          });
    });
  addExamples(command, [
    ['dray delta disk.img dray://server:7370/disk.img --inplace', 'to a peer, in place'],
    ['dray delta dray://server:7370/base.db base.db', 'from a peer'],
    ['dray delta a.tar b.tar --dry-run --cdc', 'how much they share'],
    ['dray delta disk.img /mnt/copies/ --benchmark 11', 'speed on this machine, in steps of 10 %'],
  ]);
}

const view: CommandView<DeltaSummary> = {
  onSummary: ({ destination, keptBytes, result, sentBytes, sizeBytes }, output, { elapsedMs }) => {
    const share = sizeBytes === 0 ? 100 : (keptBytes / sizeBytes) * 100;
    const seconds = (elapsedMs / 1000).toFixed(2);
    const alike = `${share.toFixed(1)} % of ${formatBytes(sizeBytes)} already present`;
    switch (result) {
      case 'upToDate':
        return output.note(
          `${destination} is already equal: compared ${formatBytes(sizeBytes)} in ${seconds} s.`,
        );
      case 'wouldCopy':
        return output.note(`${alike}; ${formatBytes(sentBytes)} to send to ${destination}.`);
      case 'copied':
        return output.note(
          `Wrote ${destination}: ${alike}, ${formatBytes(sentBytes)} sent, in ${seconds} s.`,
        );
    }
  },
};

const benchmarkView: CommandView<DeltaBenchmarkSummary> = {
  onSummary: ({ blockBytes, rows, rsyncVersion, sizeBytes }, output) => {
    const timing = ({ elapsedMs, sentBytes }: DeltaTiming) => [
      formatBytes(sentBytes),
      `${(elapsedMs / 1000).toFixed(2)} s`,
      elapsedMs > 0 ? (sizeBytes / MIB / (elapsedMs / 1000)).toFixed(0) : '',
    ];
    const columns = (name: string) => [`${name} sent`, 'time', 'MiB/s'];
    const table = [
      ['changed', ...columns('dray'), ...(rsyncVersion === undefined ? [] : columns('rsync'))],
      ...rows.map(({ changedShare, dray, rsync }) => [
        `${(changedShare * 100).toFixed(0)} %`,
        ...timing(dray),
        ...(rsync ? timing(rsync) : []),
      ]),
    ];
    for (const line of formatTable(table, Array<'right'>(table[0]!.length).fill('right')))
      output.result(line);
    const rival = rsyncVersion === undefined ? '' : `, rsync ${rsyncVersion}`;
    output.note(
      `${formatBytes(sizeBytes)} in blocks of ${formatBytes(blockBytes)}${rival}; every result was verified as equal.`,
    );
  },
};

const MIB = 1024 ** 2;
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2 };

function parseBlockSize(text: string): number {
  const parts = /^(\d{1,9})\s*([km]?)(?:i?b)?$/i.exec(text);
  const bytes = Number(parts?.[1]) * (UNITS[(parts?.[2] ?? '').toLowerCase()] ?? Number.NaN);
  if (bytes >= 512 && bytes <= 16 * 1024 * 1024) return bytes;
  throw new InvalidArgumentError('Give a size from 512 bytes to 16 MiB, such as 4K or 1MiB.');
}

function parseRows(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 2 && count <= 101) return count;
  throw new InvalidArgumentError('Give a whole number from 2 to 101.');
}

function parseConcurrency(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 64) return count;
  throw new InvalidArgumentError('Give a whole number from 1 to 64.');
}
