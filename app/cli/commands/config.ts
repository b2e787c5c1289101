import type { Command } from 'commander';
import { given } from '../../../engine/api/given.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';

export function addConfigCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('config')
    .summary('show or change settings of this workspace, or your own')
    .description(
      "Without a name: lists this workspace's settings. With a name: prints one. With a value: sets it. --user uses your own settings, which apply in every folder. The only user setting is safe.directory: workspaces owned by other users that you trust.",
    )
    .argument('[name]', 'the setting')
    .argument('[value]', 'its new value')
    .option('--user', 'use your own settings; safe.directory PATH adds a workspace, * trusts all')
    .option('--unset', 'remove the setting and return to its default')
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
              throw usageError('--unset takes a name and no value. Write: dray config NAME --unset.');
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
    ['dray config --user safe.directory /srv/team', 'trust that workspace, whoever owns it'],
    ['dray config author "Ada <ada@example.org>"', 'the author of new commits'],
  ]);
}

function createConfigView(isOne: boolean): CommandView<{ readonly settings: number }> {
  return {
    onEvent: (event, output) => {
      if (event.type === 'setting') output.result(isOne ? event.value : `${event.name}=${event.value}`);
    },
    onSummary: ({ settings }, output) => {
      if (settings > 0) return;
      if (!isOne) return output.note('No settings. All have their defaults.');
      // Printed to stderr: scripts read the value from stdout.
      if (!output.quiet) output.problem('plain', 'Not set.');
    },
  };
}
