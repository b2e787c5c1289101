import { type Command, Option } from 'commander';
import { DrayError } from '../../../../engine/api/error.ts';
import { given } from '../../../../engine/api/given.ts';
import type { FleetRequest } from '../../../../engine/api/jobs/fleet.ts';
import type { CommandHost } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createBandwidthOption } from '../../options/global-options.ts';
import { addTemporalOptions } from '../../options/temporal-options.ts';
import {
  addPairOptions,
  type PairArguments,
  type PairOptions,
  toPairRequest,
} from '../../options/tree-options.ts';
import { addJobOptions, dividedBy, type JobOptions, startJob } from './start-job.ts';

interface FleetPushOptions extends PairOptions, JobOptions {
  readonly message?: string;
  readonly branch?: string;
  readonly into?: string;
  readonly workers?: readonly string[];
  readonly byWorker?: true;
}

export function addFleetPush(fleet: Command, host: CommandHost): void {
  const command = fleet
    .command('push')
    .description(
      'Stores the objects of a bucket, or with --workers the folders of workers, as one commit of a repository. They replace what the branch has, or one folder of it with --into. If the branch moves meanwhile, changes to other paths are merged; changes to the same path leave it as it is (exit code 5). Nothing is committed if a file failed, or if two workers have different files at one path (exit code 5). Follows the job until it ends.',
    )
    .usage('[options] <source> <repository>, or [options] --workers <names> <repository>')
    .argument('<source>', 's3://BUCKET/PREFIX, or NAME:PREFIX of a named remote; absent with --workers')
    .argument(
      '[repository]',
      'the same; the first push makes it. It also holds the state of the job, below .dray-fleet/',
    )
    .option('-m, --message <text>', 'the commit message')
    .option('--branch <name>', 'the branch (default: main)')
    .option('--into <folder>', 'replace only this folder of the dataset')
    .addOption(
      new Option(
        '--workers <names>',
        'push the folders of these workers ("dray fleet worker --name NAME --folder FOLDER"), such as a,b,c. Their files share one tree of paths; equal files at one path count once',
      ).argParser((text: string) => text.split(',')),
    )
    .option('--by-worker', 'put the files of each worker into a folder with its name')
    .option(
      '--checksum',
      'read all files or objects, not only those with another size or time than in the last commit',
    )
    .addOption(createBandwidthOption());
  addJobOptions(command);
  addPairOptions(command);
  addTemporalOptions(command);
  command.action((source: string, repository: string | undefined, options: FleetPushOptions, self: Command) =>
    startJob(host, self, {
      ...{ kind: 'push', options },
      toRequest: (context) => toRequest({ places: [source, repository], options }, context),
    }),
  );
  addExamples(command, [
    ['dray fleet push s3://bucket/raw s3://bucket/birds -m "all of June"', 'the whole dataset'],
    ['dray fleet push s3://bucket/june s3://bucket/birds --into 2026/06', 'one folder of it'],
    ['dray fleet push --workers a,b,c s3://bucket/birds', 'what three machines have on their disks'],
  ]);
}

interface PushArguments {
  readonly places: readonly [string, string | undefined];
  readonly options: FleetPushOptions;
}

/** @throws `usage` */
function toRequest(
  { options, places: [first, second] }: PushArguments,
  context: PairArguments['context'],
): FleetRequest {
  const { branch, byWorker, into, message, workers } = options;
  if (workers && second !== undefined)
    throw new DrayError('usage', 'With --workers there is no source: name the repository alone.');
  if (!workers && second === undefined)
    throw new DrayError('usage', 'The repository is missing.', {
      advice: 'Name source and repository, or give --workers.',
    });
  if (byWorker && !workers) throw new DrayError('usage', '--by-worker needs --workers.');
  const pair = toPairRequest(
    { source: first, destination: second ?? first, context },
    { ...options, index: true },
  );
  return {
    kind: 'push',
    ...pair,
    ...(workers && { source: pair.destination }),
    ...given({ message, branch, workers, byWorker, into: into?.replace(/\/+$/, '') }),
    ...dividedBy(options),
  };
}
