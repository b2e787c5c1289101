import type { Command } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type { CommandHost } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createBandwidthOption } from '../../options/global-options.ts';
import { addTemporalOptions } from '../../options/temporal-options.ts';
import { parsePercent } from '../care/verify.ts';
import { addJobOptions, dividedBy, type JobOptions, startJob } from './start-job.ts';

interface FleetVerifyOptions extends JobOptions {
  /** True if given without a number: read everything. */
  readonly readData?: number | true;
}

export function addFleetVerify(fleet: Command, host: CommandHost): void {
  const command = fleet
    .command('verify')
    .description(
      'Checks with all workers that every object that the commits of a repository need is there with the right size. --read-data downloads all or some of the objects and verifies their content too. Follows the job until it ends. Exit code 1: something is missing or damaged.',
    )
    .argument(
      '<repository>',
      's3://BUCKET/PREFIX, or NAME: of a named remote; it also holds the state of the job',
    )
    .argument('[ref]', 'a branch, a tag or a commit (default: all commits of all branches and tags)')
    .option('--read-data [percent]', 'percentage of the data to read and hash (default: 100)', parsePercent)
    .addOption(createBandwidthOption());
  addJobOptions(command);
  addTemporalOptions(command);
  command.action(
    (repository: string, ref: string | undefined, options: FleetVerifyOptions, self: Command) => {
      const readDataPercent = options.readData === true ? 100 : options.readData;
      const place = { place: repository };
      return startJob(host, self, {
        ...{ kind: 'verify', options },
        toRequest: () => ({
          ...{ kind: 'verify', source: place, destination: place },
          ...given({ ref, readDataPercent }),
          ...dividedBy(options),
        }),
      });
    },
  );
  addExamples(command, [
    ['dray fleet verify s3://bucket/birds', 'is everything there?'],
    ['dray fleet verify s3://bucket/birds main --read-data=5', 'and is a twentieth of it intact?'],
  ]);
}
