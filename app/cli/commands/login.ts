import type { Command } from 'commander';
import type { LoginSummary } from '../../../engine/api/jobs/peers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { readSecret } from '../prompts.ts';

const loadJobs = () => import('../../../engine/jobs/remotes/login.ts');

export function addLoginCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('login')
    .summary('save the token of another machine')
    .description(
      'Saves the token that "dray serve" printed on another machine. Asks for it without showing it, or reads it from standard input. Dray sends it only to this host and port.',
    )
    .argument('<host[:port]>', 'the other machine (port 7370 if none is given), or its dray:// URL')
    .action((peer: string, _options: object, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          const { login, loginAddress } = await loadJobs();
          const token = await readSecret(`Token of ${loginAddress(peer)}: `, context.signal);
          return login(context, { peer, token });
        },
        view: createView(({ address }) => `Saved the token. Dray sends it only to ${address}.`),
      }),
    );
  addExamples(command, [
    ['dray login nas', 'ask for the token'],
    ['dray login nas:7371 < token-file', 'read it from a file'],
  ]);
}

export function addLogoutCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('logout')
    .summary('forget the token of another machine')
    .description('Deletes the token that "dray login" saved.')
    .argument('<host[:port]>', 'the other machine')
    .action((peer: string, _options: object, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).logout(context, { peer }),
        view: createView(({ address }) => `Deleted the token of ${address}.`),
      }),
    );
  addExamples(command, [['dray logout nas', 'the next command asks for a token']]);
}

function createView(say: (summary: LoginSummary) => string): CommandView<LoginSummary> {
  return { onSummary: (summary, output) => output.note(say(summary)) };
}
