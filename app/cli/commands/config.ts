import type { Command } from 'commander';
import { type CommandHost, type CommandView, runCommand, usageError } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { given } from '../options/given.ts';

export function addConfigCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('config')
    .summary('settings of this workspace, and your own')
    .description(
      "Without a name: lists this workspace's settings. With a name: prints one. With a value: sets it. With --user: your own, which hold in every folder. The only one is safe.directory: workspaces of other users that you trust.",
    )
    .argument('[name]', 'the setting')
    .argument('[value]', 'its new value')
    .option('--user', 'your own settings; safe.directory PATH adds a workspace, * stands for all')
    .option('--unset', 'remove the setting, so that its default holds again')
    .action(
      (
        name: string | undefined,
        value: string | undefined,
        options: { readonly unset?: true; readonly user?: true },
        self: Command,
      ) =>
        runCommand(host, self, {
          start: async (context) => {
            if (options.unset && (name === undefined || value !== undefined)) {
              throw usageError('--unset takes a name and no value: dray config NAME --unset.');
            }
            const { config, userConfig } = await import('../../../engine/jobs/remotes/config.ts');
            return (options.user ? userConfig : config)(context, {
              ...given({ name, value }),
              ...(options.unset ? { value: null } : {}),
            });
          },
          view: createConfigView(name !== undefined),
        }),
    );
  addExamples(command, [
    ['dray config', 'every setting'],
    ['dray config --user safe.directory /srv/team', 'obey the workspace there, whoever owns it'],
    ['dray config author "Ada <ada@example.org>"', 'who new commits are by'],
  ]);
}

function createConfigView(isOne: boolean): CommandView<{ readonly settings: number }> {
  return {
    onEvent: (event, output) => {
      if (event.type === 'setting') output.result(isOne ? event.value : `${event.name}=${event.value}`);
    },
    onSummary: ({ settings }, output) => {
      if (settings > 0) return;
      if (!isOne) return output.note('No settings: defaults hold.');
      // Not on standard output, where its value would be.
      if (!output.quiet) output.problem('plain', 'Not set.');
    },
  };
}
