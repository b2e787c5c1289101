import { type Command, InvalidArgumentError } from 'commander';
import type { VerifySummary } from '../../../engine/api/jobs.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/numbers.ts';
import { type CommandHost, type CommandView, EXIT_FAILED, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { given } from '../options/given.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { printCheck } from '../output/check-lines.ts';

interface VerifyOptions {
  /** True without a number: everything. */
  readonly readData?: number | true;
}

export function addVerifyCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('verify')
    .summary('check that the remote holds what its commits name')
    .description(
      'Checks that every object that a commit needs is on the remote and has its size. With --read-data it downloads the objects, or a part of them, and checks their content as well. Ends with exit code 1 when anything is missing or damaged.',
    )
    .argument('[ref]', 'a branch, a tag or a commit (default: all that branches and tags lead back to)')
    .option('--read-data [percent]', 'read and hash so much of the data (default: 100)', parsePercent)
    .addOption(createBandwidthOption())
    .action((ref: string | undefined, options: VerifyOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/history/verify.ts')).verify(
            context,
            given({ ref, readDataPercent: options.readData === true ? 100 : options.readData }),
          ),
        view: verifyView,
      }),
    );
  addExamples(command, [
    ['dray verify', 'is everything there?'],
    ['dray verify v1 --read-data=5', 'and is a twentieth of it sound?'],
  ]);
}

function parsePercent(text: string): number {
  const percent = Number(text.replace(/%$/, ''));
  if (text !== '' && percent >= 0 && percent <= 100) return percent;
  throw new InvalidArgumentError('It must be a number from 0 to 100. A ref goes before --read-data.');
}

const verifyView: CommandView<VerifySummary> = {
  onEvent: printCheck,
  onSummary: (summary, output) => {
    const read = summary.readBytes > 0 ? `, ${formatBytes(summary.readBytes)} read and hashed` : '';
    const scope = `${formatPlural(summary.commits, 'commit')}, ${formatPlural(summary.files, 'file')}, ${formatPlural(summary.objects, 'object')}${read}`;
    if (!isBroken(summary)) {
      output.note(`Everything is there: ${scope}, ${formatPlural(summary.requests.total, 'request')}.`);
      return;
    }
    output.result(
      `${formatCount(summary.missing)} missing and ${formatCount(summary.damaged)} damaged of ${scope}: ${formatPlural(summary.affectedPaths, 'path')} cannot be had whole.`,
    );
    // An object is never written over, so a damaged one has to go first.
    const first =
      summary.damaged > 0 ? 'Delete the damaged objects from the store; then a workspace' : 'A workspace';
    output.note(`${first} that still has those files puts them back with "dray push --no-index".`);
  },
  exitCode: (summary) => (isBroken(summary) ? EXIT_FAILED : 0),
};

function isBroken({ missing, damaged }: VerifySummary): boolean {
  return missing + damaged > 0;
}
