/** `dray fleet copy`, `sync` and `check`: start a job and follow it. */
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { FleetKind, FleetRequest } from '../../../../engine/api/fleet.ts';
import { given } from '../../../../engine/api/given.ts';
import type { FleetEndSummary } from '../../../fleet/follow-job.ts';
import {
  type CommandHost,
  type CommandView,
  EXIT_DIFFERENCES,
  EXIT_FAILED,
  runCommand,
} from '../../command-host.ts';
import { addExamples, type Example } from '../../options/examples.ts';
import { parseCount, parseSizeOption, readGlobalOptions } from '../../options/global-options.ts';
import { parsePause } from '../../options/parse-pause.ts';
import { addTemporalOptions, type TemporalFlags, toTemporalOptions } from '../../options/temporal-options.ts';
import {
  addPairOptions,
  addWriteOptions,
  type CopyOptions,
  createMaxDeleteOption,
  type PairArguments,
  toCopyRequest,
} from '../../options/tree-options.ts';
import { formatFleetEnd } from '../../output/fleet-lines.ts';

interface StartOptions extends CopyOptions, TemporalFlags {
  readonly id?: string;
  readonly detach?: true;
  readonly partFiles?: number;
  readonly partBytes?: number;
  readonly ranges?: number;
  readonly parallel?: number;
  readonly attempts?: number;
  readonly maxRequests?: number;
  readonly deadAfter?: number;
  readonly largeSize?: number;
  readonly download?: true;
  readonly oneWay?: true;
}

const loadFleet = () => import('../../../fleet/fleet.ts');

const STARTS: Readonly<
  Record<
    FleetKind,
    { readonly text: string; readonly add: (command: Command) => void; readonly examples: readonly Example[] }
  >
> = {
  copy: {
    text: 'Copies new and changed objects from one bucket to another with all workers, and deletes nothing.',
    add: addCopyOptions,
    examples: [['dray fleet copy s3://old/data s3://new/data', 'Ctrl-C stops following, not the job']],
  },
  sync: {
    text: 'Makes the destination identical to the source with all workers. Deletes last, and only if nothing failed.',
    add: (command) => addCopyOptions(command).addOption(createMaxDeleteOption()),
    examples: [
      ['dray fleet sync s3://old/data s3://new/data --max-delete 1000', 'delete nothing if it would be more'],
    ],
  },
  check: {
    text: 'Compares the content of two buckets with all workers and changes nothing. Exit code 3: differences were found.',
    add: (command) =>
      command
        .option('--download', 'read all content of both sides')
        .option('--size-only', 'compare sizes only')
        .option('--one-way', 'ignore files that only the destination has'),
    examples: [['dray fleet check s3://old/data s3://new/data', 'before you delete the old ones']],
  },
};

export function addFleetStarts(fleet: Command, host: CommandHost): void {
  for (const [kind, { add, examples, text }] of Object.entries(STARTS)) {
    const command = fleet
      .command(kind)
      .description(`${text} Follows the job until it ends; exit codes are those of "dray ${kind}".`)
      .argument('<source>', 's3://BUCKET/PREFIX, or NAME:PREFIX of a named remote')
      .argument('<destination>', 'the same; it also holds the state of the job, below .dray-fleet/');
    add(command);
    addJobOptions(command);
    addPairOptions(command);
    addTemporalOptions(command);
    command.action((source: string, destination: string, options: StartOptions, self: Command) =>
      start(host, self, { kind: kind as FleetKind, source, destination, options }),
    );
    addExamples(command, examples);
  }
}

function addCopyOptions(command: Command): Command {
  command
    .option('-u, --update', 'skip files that are newer at the destination')
    .option('--no-confirm', 'do not check afterwards that the store has the objects')
    .option('--immutable', 'never change an existing file; report one that differs as failed');
  addWriteOptions(command);
  return command;
}

function addJobOptions(command: Command): void {
  command
    .optionsGroup('The job:')
    .option('--id <name>', 'its name (default: a new one)')
    .option('--detach', 'start it, print its name, and do not follow it')
    .addOption(count('--ranges <n>', 'ranges of keys to cut the work into (default: about 64)', 10_000))
    .addOption(
      count('--part-files <n>', 'files in a part, which one worker does (default: 20,000)', 1_000_000),
    )
    .addOption(size('--part-bytes <size>', 'bytes in a part, at most (default: 64GiB)'))
    .addOption(
      size('--large-size <size>', 'objects from this size on are copied by several workers (default: 5GiB)'),
    )
    .addOption(count('--parallel <n>', 'parts of one range at the same time (default: 16)', 1_000))
    .addOption(
      new Option(
        '--dead-after <time>',
        'give the parts of a worker to others after such a silence (default: 20s)',
      ).argParser((text: string) => parsePause(text, { minMs: 5_000, maxMs: 3_600_000 })),
    )
    .addOption(count('--max-requests <n>', 'requests per second, of all workers together', 1_000_000))
    .addOption(count('--attempts <n>', 'set a part aside that fails so often as a whole (default: 5)', 100));
}

const count = (flags: string, text: string, max: number) =>
  new Option(flags, text).argParser((value: string) => parseCount(value, { min: 1, max }));
const size = (flags: string, text: string) => new Option(flags, text).argParser(parseSizeOption);

interface Start {
  readonly kind: FleetKind;
  readonly source: string;
  readonly destination: string;
  readonly options: StartOptions;
}

function start(host: CommandHost, self: Command, asked: Start): Promise<void> {
  const { kind, options } = asked;
  const id = options.id ?? `${kind}-${randomBytes(4).toString('hex')}`;
  let isStarted = false;
  return runCommand(host, self, {
    check: (context) => toRequest(asked, context),
    start: async (context) => {
      const { startAndFollow } = await loadFleet();
      const bytesPerSecond = readGlobalOptions(self).connection.bandwidthBytesPerSecond;
      return startAndFollow(context, {
        id,
        request: toRequest(asked, context),
        temporal: toTemporalOptions(options, context.directory),
        limits: given({ bytesPerSecond, requestsPerSecond: options.maxRequests }),
        settings: given({
          partsAtOnce: options.parallel,
          attemptsMax: options.attempts,
          silenceMaxMs: options.deadAfter,
        }),
        isDetached: options.detach === true,
        onStarted: () => {
          isStarted = true;
        },
      });
    },
    stopMessage: () =>
      isStarted
        ? `The job ${id} goes on without this command. See it with "dray fleet status ${id}", end it with "dray fleet cancel ${id}".`
        : 'stopping...',
    view,
  });
}

function toRequest(
  { destination, kind, options, source }: Start,
  context: PairArguments['context'],
): FleetRequest {
  // A worker remembers nothing of a pair, so nothing is left out by these.
  const all = { ...options, confirm: options.confirm !== false, checkDest: true, index: true };
  return {
    kind,
    ...toCopyRequest({ source, destination, context }, all),
    ...given({
      download: options.download,
      oneWay: options.oneWay,
      rangesWanted: options.ranges,
      partFilesMax: options.partFiles,
      partBytesMax: options.partBytes,
      largeBytes: options.largeSize,
    }),
  };
}

const view: CommandView<FleetEndSummary> = {
  onSummary: (summary, output, { elapsedMs }) => output.summary(formatFleetEnd(summary, elapsedMs)),
  exitCode: exitCodeOfFleet,
};

function exitCodeOfFleet({ counts, kind, refused, result }: FleetEndSummary): number {
  if (result === 'started') return 0;
  if (result === 'stopped' || refused?.code === 'tooManyDeletes') return EXIT_FAILED;
  if (kind !== 'check') return 0;
  const { differing, onlyInDestination, onlyInSource } = counts;
  return differing + onlyInDestination + onlyInSource > 0 ? EXIT_DIFFERENCES : 0;
}
