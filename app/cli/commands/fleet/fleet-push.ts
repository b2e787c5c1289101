import type { Command } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type { CommandHost } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createBandwidthOption } from '../../options/global-options.ts';
import { addTemporalOptions } from '../../options/temporal-options.ts';
import { addPairOptions, type PairOptions, toPairRequest } from '../../options/tree-options.ts';
import { addJobOptions, dividedBy, type JobOptions, startJob } from './start-job.ts';

interface FleetPushOptions extends PairOptions, JobOptions {
  readonly message?: string;
  readonly branch?: string;
  readonly into?: string;
}

export function addFleetPush(fleet: Command, host: CommandHost): void {
  const command = fleet
    .command('push')
    .description(
      'Stores the objects of a bucket as one commit of a repository, with all workers. The objects replace what the branch has, or one folder of it with --into. If the branch moves meanwhile, changes to other paths are merged; changes to the same path leave it as it is. Nothing is committed if an object failed. Follows the job until it ends.',
    )
    .argument('<source>', 's3://BUCKET/PREFIX, or NAME:PREFIX of a named remote')
    .argument(
      '<repository>',
      'the same; the first push makes it. It also holds the state of the job, below .dray-fleet/',
    )
    .option('-m, --message <text>', 'the commit message')
    .option('--branch <name>', 'the branch (default: main)')
    .option('--into <folder>', 'replace only this folder of the dataset')
    .option(
      '--checksum',
      'read all objects, not only those with another size or time than in the last commit',
    )
    .addOption(createBandwidthOption());
  addJobOptions(command);
  addPairOptions(command);
  addTemporalOptions(command);
  command.action((source: string, repository: string, options: FleetPushOptions, self: Command) =>
    startJob(host, self, {
      ...{ kind: 'push', options },
      toRequest: (context) => ({
        kind: 'push',
        ...toPairRequest({ source, destination: repository, context }, { ...options, index: true }),
        ...given({
          message: options.message,
          branch: options.branch,
          into: options.into?.replace(/\/+$/, ''),
        }),
        ...dividedBy(options),
      }),
    }),
  );
  addExamples(command, [
    ['dray fleet push s3://bucket/raw s3://bucket/birds -m "all of June"', 'the whole dataset'],
    ['dray fleet push s3://bucket/june s3://bucket/birds --into 2026/06', 'one folder of it'],
  ]);
}
