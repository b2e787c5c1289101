import type { Command } from 'commander';
import { DrayError } from '../../../../engine/api/error.ts';
import { given } from '../../../../engine/api/given.ts';
import type { RepairSummary } from '../../../../engine/api/jobs/repair.ts';
import {
  formatAffected,
  formatBytes,
  formatCount,
  formatPlural,
} from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, EXIT_FAILED, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createBandwidthOption } from '../../options/global-options.ts';
import { printCheck } from '../../output/check-lines.ts';
import { addDataOptions, type DataOptions, dataRequestOf } from './verify.ts';

interface RepairOptions extends DataOptions {
  readonly branch?: string;
  readonly dryRun?: true;
  readonly endHistory?: string;
}

export function addRepairCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('repair')
    .summary('rebuild what the remote has lost')
    .description(
      'Finds what is missing or damaged on the remote, as verify does, and puts back what this workspace still has. A damaged object is never overwritten: its content gets a new key, and a commit on top of the branch names it. It lists commits that no branch leads to; with --branch it makes a branch again at one of them. Exit code 1: something is still missing or damaged.',
    )
    .argument('[commit]', 'for --branch: the commit (default: the one that this workspace has)')
    .option('--branch <name>', 'make this branch again, if it is missing or damaged')
    .option(
      '--end-history <commit>',
      'if nobody has the record of this old commit any more: history begins after it',
    )
    .option('-n, --dry-run', 'show what is missing or damaged, and write nothing');
  addDataOptions(command);
  command
    .addOption(createBandwidthOption())
    .action((commit: string | undefined, options: RepairOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          const { branch, dryRun, endHistory } = options;
          if (endHistory !== undefined && branch !== undefined)
            throw new DrayError('usage', 'Give either --branch or --end-history.');
          if (commit !== undefined && branch === undefined)
            throw new DrayError('usage', 'A commit needs --branch NAME, the branch to make.');
          return (await import('../../../../engine/jobs/repair/repair.ts')).repair(context, {
            ...given({ branch, commit, dryRun, endHistory }),
            ...dataRequestOf(options),
          });
        },
        view: repairView,
        resumable: true,
      }),
    );
  addExamples(command, [
    ['dray repair --dry-run', 'what is missing, and which commits have lost their branch?'],
    ['dray repair --branch main 3f9c21ab', 'the branch is gone: make it again'],
    ['dray repair --end-history 3f9c21ab', 'an old commit is lost for good: history begins after it'],
    ['dray repair --read-data', 'find damaged bytes too, and store that content again'],
  ]);
}

const repairView: CommandView<RepairSummary> = {
  onEvent: (event, output) => {
    printCheck(event, output);
    if (event.type !== 'commit') return;
    const { author, commit, files, message, time } = event;
    output.result(
      `no branch  ${commit.slice(0, 12)}  ${time}  ${formatPlural(files, 'file')}  ${author}: ${message.split('\n')[0]}`,
    );
  },
  onSummary: (summary, output) => {
    for (const line of resultLines(summary)) output.result(line);
    if (summary.unnamed > 0 && summary.result !== 'ended' && summary.result !== 'wouldEnd')
      output.note(
        `${formatPlural(summary.unnamed, 'commit')} without a branch or a tag, newest first. "dray repair --branch NAME COMMIT" makes a branch of one.`,
      );
  },
  exitCode: ({ left }) => (left > 0 ? EXIT_FAILED : 0),
};

/** One after the other is ended: behind one there may be another. */
const LOST_SHOWN_MAX = 5;

function endLines({ commit = '', left, result, unnamed }: RepairSummary): string[] {
  const short = commit.slice(0, 10);
  const lines = [
    result === 'ended'
      ? `History ends at ${short}, which is lost. Its content goes with the next "dray gc".`
      : `Would end history at ${short}, which is lost.`,
  ];
  if (unnamed > 0)
    lines.push(
      '"dray gc" also removes the commits above. "dray branch NAME COMMIT" keeps one, and those before it.',
    );
  if (left > 0) lines.push(`${formatPlural(left, 'lost commit')} left.`);
  return lines;
}

function resultLines(summary: RepairSummary): string[] {
  const { affectedPaths, branch, commit, found, left, leftInBranch, result } = summary;
  const cannot = formatAffected(affectedPaths);
  const { uploadedBytes, uploadedObjects } = summary;
  if (result === 'nothingToRepair') return ['Nothing to repair.'];
  if (result === 'ended' || result === 'wouldEnd') return endLines(summary);
  const lines: string[] = [];
  const short = commit?.slice(0, 10) ?? '';
  if (result === 'wouldRepair' && branch === undefined)
    return [`${formatCount(found)} missing or damaged: ${cannot}. Nothing was written.`];
  if (result === 'wouldRepair') lines.push(`Would make the branch ${branch} at ${short}.`);
  else if (result === 'notRepaired' && summary.lostRefs > 0)
    lines.push('Nothing was repaired yet: first make the branches and tags again that are gone or damaged.');
  else if (result === 'notRepaired')
    lines.push('Nothing could be repaired from this workspace. Another one may still have the files.');
  else if (uploadedObjects === 0 && branch !== undefined) lines.push(`${branch} is at ${short}.`);
  else
    lines.push(
      `Repaired ${formatCount(found - left)} of ${formatCount(found)}: ${formatPlural(uploadedObjects, 'object')} stored again (${formatBytes(uploadedBytes)})${branch === undefined ? '' : `, ${branch} is at ${short}`}.`,
    );
  if (left === 0) return lines;
  const { lostCommits = [] } = summary;
  const where =
    lostCommits.length > 0
      ? ''
      : leftInBranch === 0
        ? '. Only older commits, or other branches and tags, are affected: "dray forget" lets them go'
        : `: ${cannot}`;
  lines.push(`${formatCount(left)} still missing or damaged${where}.`);
  for (const hash of lostCommits.slice(0, LOST_SHOWN_MAX)) {
    const short = hash.slice(0, 10);
    lines.push(
      `Nobody knows what came before ${short}. If no other workspace can repair it, "dray repair --end-history ${short}" lets history begin after it.`,
    );
  }
  return lines;
}
