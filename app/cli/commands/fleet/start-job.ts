/** Starts a job of a fleet and follows it, for the commands of every kind. */
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { exitCodeOf } from '../../../../engine/api/error.ts';
import { given } from '../../../../engine/api/given.ts';
import type { FleetKind, FleetRequest } from '../../../../engine/api/jobs/fleet.ts';
import type { FleetEndSummary } from '../../../fleet/follow-job.ts';
import {
  type CommandHost,
  type CommandView,
  EXIT_DIFFERENCES,
  EXIT_FAILED,
  runCommand,
} from '../../command-host.ts';
import type { FilterContext } from '../../options/filter-options.ts';
import { parseCount, parseSizeOption, readGlobalOptions } from '../../options/global-options.ts';
import { parsePause } from '../../options/parse-pause.ts';
import { type TemporalFlags, toTemporalOptions } from '../../options/temporal-options.ts';
import { formatFleetEnd } from '../../output/fleet-lines.ts';

export interface JobOptions extends TemporalFlags {
  readonly id?: string;
  readonly detach?: true;
  readonly partFiles?: number;
  readonly partBytes?: number;
  readonly ranges?: number;
  readonly parallel?: number;
  readonly attempts?: number;
  readonly maxRequests?: number;
  readonly deadAfter?: number;
}

const loadFleet = () => import('../../../fleet/fleet.ts');

export function addJobOptions(command: Command): void {
  command
    .optionsGroup('The job:')
    .option('--id <name>', 'its name (default: a new one)')
    .option('--detach', 'start it, print its name, and do not follow it')
    .addOption(
      count('--ranges <n>', 'cut the work into about so many ranges of keys (default: about 64)', 10_000),
    )
    .addOption(
      count('--part-files <n>', 'files in a part; one worker does a part (default: 20,000)', 1_000_000),
    )
    .addOption(size('--part-bytes <size>', 'bytes in a part, at most (default: 64GiB)'))
    .addOption(count('--parallel <n>', 'parts of one range at the same time (default: 16)', 1_000))
    .addOption(
      new Option(
        '--dead-after <time>',
        'give the parts of a silent worker to others after this time (default: 20s)',
      ).argParser((text: string) => parsePause(text, { minMs: 5_000, maxMs: 3_600_000 })),
    )
    .addOption(count('--max-requests <n>', 'requests per second, of all workers together', 1_000_000))
    .addOption(
      count('--attempts <n>', 'set a part aside after it failed this often as a whole (default: 5)', 100),
    );
}

const count = (flags: string, text: string, max: number) =>
  new Option(flags, text).argParser((value: string) => parseCount(value, { min: 1, max }));
export const size = (flags: string, text: string) => new Option(flags, text).argParser(parseSizeOption);

export interface Start {
  readonly kind: FleetKind;
  readonly options: JobOptions;
  /** Called again when the job starts. */
  readonly toRequest: (context: FilterContext) => FleetRequest;
}

export function startJob(
  host: CommandHost,
  self: Command,
  { kind, options, toRequest }: Start,
): Promise<void> {
  const id = options.id ?? `${kind}-${randomBytes(4).toString('hex')}`;
  let isStarted = false;
  return runCommand(host, self, {
    check: (context) => toRequest(context),
    start: async (context) => {
      const { startAndFollow } = await loadFleet();
      const bytesPerSecond = readGlobalOptions(self).connection.bandwidthBytesPerSecond;
      return startAndFollow(context, {
        id,
        request: toRequest(context),
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
        ? `The job ${id} continues without this command. See it with "dray fleet status ${id}", end it with "dray fleet cancel ${id}".`
        : 'stopping...',
    view,
  });
}

/** The part of a request that says how the work is divided. */
export function dividedBy({ partBytes, partFiles, ranges }: JobOptions) {
  return given({ rangesWanted: ranges, partFilesMax: partFiles, partBytesMax: partBytes });
}

const view: CommandView<FleetEndSummary> = {
  onSummary: (summary, output, { elapsedMs }) => output.summary(formatFleetEnd(summary, elapsedMs)),
  exitCode: exitCodeOfFleet,
};

function exitCodeOfFleet({ counts, kind, refused, result }: FleetEndSummary): number {
  if (result === 'started') return 0;
  if (result === 'stopped' || refused?.code === 'tooManyDeletes') return EXIT_FAILED;
  if (refused) return exitCodeOf(refused.code);
  if (kind === 'verify') return counts.missing + counts.damaged > 0 ? EXIT_FAILED : 0;
  if (kind !== 'check') return 0;
  const { differing, onlyInDestination, onlyInSource } = counts;
  return differing + onlyInDestination + onlyInSource > 0 ? EXIT_DIFFERENCES : 0;
}
