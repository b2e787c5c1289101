import type { Command } from 'commander';
import { addExamples } from '../options/examples.ts';
import { writeAsIs } from '../output/terminal.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function addCompletionCommand(program: Command): void {
  const command = program
    .command('completion')
    .summary('print a completion script for your shell')
    .description('Prints a completion script for a shell. It knows every command, option and fixed choice.');
  command
    .addArgument(command.createArgument('<shell>', 'which shell').choices(SHELLS))
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { formatCompletionScript } = await import('../options/completion-script.ts');
      writeAsIs(formatCompletionScript(program, shell));
    });
  addExamples(command, [
    ['source <(dray completion bash)', 'in ~/.bashrc'],
    ['dray completion zsh > ~/.zfunc/_dray', 'any folder in your fpath'],
    ['dray completion fish > ~/.config/fish/completions/dray.fish', 'for good'],
  ]);
}
