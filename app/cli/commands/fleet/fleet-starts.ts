/** `dray fleet copy`, `sync` and `check`: start a job and follow it. */
import type { Command } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type { FleetKind, FleetRequest } from '../../../../engine/api/jobs/fleet.ts';
import type { CommandHost } from '../../command-host.ts';
import { addExamples, type Example } from '../../options/examples.ts';
import { addTemporalOptions } from '../../options/temporal-options.ts';
import {
  addPairOptions,
  addWriteOptions,
  type CopyFlags,
  createMaxDeleteOption,
  type PairArguments,
  toCopyRequest,
} from '../../options/tree-options.ts';
import { addJobOptions, dividedBy, type JobOptions, size, startJob } from './start-job.ts';

interface StartOptions extends CopyFlags, JobOptions {
  readonly largeSize?: number;
  readonly download?: true;
  readonly oneWay?: true;
}

type PairKind = Extract<FleetKind, 'copy' | 'sync' | 'check'>;

const STARTS: Readonly<
  Record<
    PairKind,
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
      startJob(host, self, {
        ...{ kind: kind as PairKind, options },
        toRequest: (context) => toRequest({ kind: kind as PairKind, source, destination, options }, context),
      }),
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
  command
    .optionsGroup('Large objects:')
    .addOption(
      size(
        '--large-size <size>',
        'several workers share the copy of an object from this size on (default: 5GiB)',
      ),
    );
  return command;
}

interface Pair {
  readonly kind: PairKind;
  readonly source: string;
  readonly destination: string;
  readonly options: StartOptions;
}

function toRequest(
  { destination, kind, options, source }: Pair,
  context: PairArguments['context'],
): FleetRequest {
  // A worker has no index of a pair of places, so these options have no effect.
  const all = { ...options, confirm: options.confirm !== false, checkDest: true, index: true };
  return {
    kind,
    ...toCopyRequest({ source, destination, context }, all),
    ...given({
      download: options.download,
      oneWay: options.oneWay,
      largeBytes: options.largeSize,
    }),
    ...dividedBy(options),
  };
}
