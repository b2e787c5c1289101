import { type Command, InvalidArgumentError, Option } from 'commander';
import { formatBytes } from '../../../engine/api/numbers.ts';
import type {
  DeltaBenchmarkSummary,
  DeltaRequest,
  DeltaSummary,
  DeltaTiming,
} from '../../../engine/api/peers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { given } from '../options/given.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { formatTable } from '../output/table.ts';

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
    .summary('make one huge file like another, sending what differs')
    .description(
      'Makes DST like SRC, both files here or at a peer (dray://HOST:PORT/PATH). Both ends read and sign their blocks in parallel, and only blocks that differ travel. The new file takes its name when every block of it is known to be right.',
    )
    .argument('<src>', 'a file, here or at a peer')
    .argument('<dst>', 'where it goes: its new name, or a folder that ends in "/"')
    .option(
      '--block-size <size>',
      'of the blocks that are compared: 4K, 1MiB, or plain bytes (default: 64K)',
      parseBlockSize,
    )
    .addOption(
      new Option('--hash <name>', 'the digest that compares blocks')
        .choices(['xxh3', 'sha256'])
        .default('xxh3'),
    )
    .option('--cdc', 'cut by content: finds what moved, such as all behind an inserted byte')
    .option('-W, --whole-file', 'send all of it, without comparing')
    .option('-c, --concurrency <n>', 'segments under way at once (default: 4)', parseConcurrency)
    .option('-n, --dry-run', 'tell how alike they are, and change nothing')
    .option('--inplace', 'overwrite the file itself; run again after a crash')
    .option(
      '--benchmark <n>',
      'measure n rows, from 0 to 100 % changed, on a copy of SRC beside DST; with rsync beside it where that is installed',
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
              (await import('../../../engine/jobs/delta/delta-file.ts')).deltaFile(context, request),
            view,
            resumable: true,
          })
        : runCommand(host, self, {
            start: async (context) => {
              if (options.dryRun) throw usageError('A benchmark writes: leave out --dry-run or --benchmark.');
              const { benchmarkDelta } = await import('../../../engine/jobs/delta/delta-benchmark.ts');
              return benchmarkDelta(context, { ...request, rows: benchmark });
            },
            view: benchmarkView,
          });
    });
  addExamples(command, [
    ['dray delta disk.img dray://server:7370/disk.img --inplace', 'to a peer, over the old one'],
    ['dray delta dray://server:7370/base.db base.db', 'from a peer'],
    ['dray delta a.tar b.tar --dry-run --cdc', 'how much of them is the same'],
    ['dray delta disk.img /mnt/copies/ --benchmark 11', 'how fast it is here, in steps of 10 %'],
  ]);
}

const view: CommandView<DeltaSummary> = {
  onSummary: ({ destination, keptBytes, result, sentBytes, sizeBytes }, output, { elapsedMs }) => {
    const share = sizeBytes === 0 ? 100 : (keptBytes / sizeBytes) * 100;
    const seconds = (elapsedMs / 1000).toFixed(2);
    const alike = `${share.toFixed(1)} % of ${formatBytes(sizeBytes)} was there`;
    switch (result) {
      case 'upToDate':
        return output.note(
          `${destination} is the same already: ${formatBytes(sizeBytes)} compared in ${seconds} s.`,
        );
      case 'wouldCopy':
        return output.note(`${alike}; ${formatBytes(sentBytes)} would be sent to ${destination}.`);
      case 'copied':
        return output.note(
          `${destination} is made: ${alike}, ${formatBytes(sentBytes)} sent, in ${seconds} s.`,
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
      `${formatBytes(sizeBytes)} in blocks of ${formatBytes(blockBytes)}${rival}; each row was compared and is equal.`,
    );
  },
};

const MIB = 1024 ** 2;
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2 };

function parseBlockSize(text: string): number {
  const parts = /^(\d{1,9})\s*([km]?)(?:i?b)?$/i.exec(text);
  const bytes = Number(parts?.[1]) * (UNITS[(parts?.[2] ?? '').toLowerCase()] ?? Number.NaN);
  if (bytes >= 512 && bytes <= 16 * 1024 * 1024) return bytes;
  throw new InvalidArgumentError('Write a size from 512 bytes to 16 MiB, such as 4K or 1MiB.');
}

function parseRows(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 2 && count <= 101) return count;
  throw new InvalidArgumentError('Write a whole number from 2 to 101.');
}

function parseConcurrency(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 64) return count;
  throw new InvalidArgumentError('Write a whole number from 1 to 64.');
}
