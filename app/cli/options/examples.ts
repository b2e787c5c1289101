import type { Command } from 'commander';

/** A command line and its meaning. */
export type Example = readonly [line: string, meaning: string];

/** Adds examples at the end of a command's help. */
export function addExamples(command: Command, examples: readonly Example[]): Command {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, meaning]) => `  ${line.padEnd(width)}  ${meaning}`);
  return command.addHelpText(
    'after',
    `\nThe global options of "dray --help" work here too.\n\nExamples:\n${lines.join('\n')}`,
  );
}
