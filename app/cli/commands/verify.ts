import { type Command, InvalidArgumentError } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { VerifySummary } from '../../../engine/api/jobs.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/numbers.ts';
import { type CommandHost, type CommandView, EXIT_FAILED, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { printCheck } from '../output/check-lines.ts';

interface VerifyOptions {
  /** True if given without a number: read everything. */
  readonly readData?: number | true;
}

export function addVerifyCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('verify')
    .summary('check that the remote has everything its commits need')
    .description(
      'Checks that every object that a commit needs is on the remote with the right size. --read-data downloads all or some of the objects and verifies their content too. Exit code 1: something is missing or damaged.',
    )
    .argument('[ref]', 'a branch, a tag or a commit (default: all commits of all branches and tags)')
    .option('--read-data [percent]', 'percentage of the data to read and hash (default: 100)', parsePercent)
    .addOption(createBandwidthOption())
    .action((ref: string | undefined, options: VerifyOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/history/last-verified.ts')).verifyAndRecord(
            context,
            given({ ref, readDataPercent: options.readData === true ? 100 : options.readData }),
          ),
        view: verifyView,
      }),
    );
  addExamples(command, [
    ['dray verify', 'is everything there?'],
    ['dray verify v1 --read-data=5', 'and is a twentieth of it intact?'],
  ]);
}

export function parsePercent(text: string): number {
  const percent = Number(text.replace(/%$/, ''));
  if (text !== '' && percent >= 0 && percent <= 100) return percent;
  throw new InvalidArgumentError('Give a number from 0 to 100. Put a ref before --read-data.');
}

const verifyView: CommandView<VerifySummary> = {
  onEvent: printCheck,
  onSummary: (summary, output) => {
    const read = summary.readBytes > 0 ? `, ${formatBytes(summary.readBytes)} read and hashed` : '';
    const left = summary.forgotten > 0 ? ` (without ${formatCount(summary.forgotten)} forgotten)` : '';
    const scope = `${formatPlural(summary.commits, 'commit')}${left}, ${formatPlural(summary.files, 'file')}, ${formatPlural(summary.objects, 'object')}${read}`;
    if (!isBroken(summary)) {
      output.note(`Everything is there: ${scope}, ${formatPlural(summary.requests.total, 'request')}.`);
      return;
    }
    output.result(
      `${formatCount(summary.missing)} missing and ${formatCount(summary.damaged)} damaged of ${scope}: ${formatPlural(summary.affectedPaths, 'path')} cannot be restored in full.`,
    );
    // Dray never overwrites an object, so a damaged one must be deleted first.
    const first =
      summary.damaged > 0 ? 'Delete the damaged objects from the store. Then a workspace' : 'A workspace';
    output.note(`${first} that still has those files uploads them again with "dray push --no-index".`);
  },
  exitCode: (summary) => (isBroken(summary) ? EXIT_FAILED : 0),
};

function isBroken({ missing, damaged }: VerifySummary): boolean {
  return missing + damaged > 0;
}
