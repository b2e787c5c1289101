import type { Command } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { DiffSummary } from '../../../engine/api/jobs/diff.ts';
import { formatHash } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, EXIT_DIFFERENCES, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { countChanges, formatChangeTotals, printChanges } from '../output/change-lines.ts';

interface DiffOptions {
  readonly exitCode?: true;
}

export function addDiffCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('diff')
    .summary('list differences between two commits, or a commit and the workspace')
    .description(
      "Lists differences. Without arguments: between the workspace's commit and its files. With one ref: between that commit and the files. With two: between the first and the second.",
    )
    .argument('[a]', 'a branch, a tag or a commit')
    .argument('[b]', 'another one')
    .option('--exit-code', 'exit with 3 if anything differs; add -q to print nothing')
    .action((from: string | undefined, to: string | undefined, options: DiffOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/working-copy/diff.ts')).diff(context, given({ from, to })),
        view: createDiffView(options),
      }),
    );
  addExamples(command, [
    ['dray diff', 'what "dray push" would store'],
    ['dray diff v1 main', 'what changed on main since tag v1'],
    ['dray diff v1 --exit-code', 'does the workspace still hold v1?'],
  ]);
}

function createDiffView(options: DiffOptions): CommandView<DiffSummary> {
  return {
    // With --quiet and --exit-code, the exit code is the only result.
    onEvent: (event, output) => {
      if (!(options.exitCode && output.quiet)) printChanges(event, output);
    },
    onSummary: ({ from, to, changes }, output) => {
      output.note(`${shorten(from)} to ${shorten(to)}: ${formatChangeTotals(changes)}.`);
    },
    exitCode: ({ changes }) => (options.exitCode && countChanges(changes) > 0 ? EXIT_DIFFERENCES : 0),
  };
}

function shorten(side: string): string {
  return /^[0-9a-f]{64}$/.test(side) ? formatHash(side) : side;
}
