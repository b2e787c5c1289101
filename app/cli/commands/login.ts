import type { Command } from 'commander';
import type { LoginSummary } from '../../../engine/api/peers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { readSecret } from '../prompts.ts';

const loadJobs = () => import('../../../engine/jobs/remotes/login.ts');

export function addLoginCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('login')
    .summary('keep the token of another machine')
    .description(
      'Keeps the token that "dray serve" showed on another machine. Asks for it without showing it, or reads it from standard input. It is sent to this host and port alone.',
    )
    .argument('<host[:port]>', 'the other machine (port 7370 if none is given), or its dray:// URL')
    .action((peer: string, _options: object, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          const { login, loginAddress } = await loadJobs();
          const token = await readSecret(`Token of ${loginAddress(peer)}: `, context.signal);
          return login(context, { peer, token });
        },
        view: createView(({ address }) => `The token is kept, and sent to ${address} alone.`),
      }),
    );
  addExamples(command, [
    ['dray login nas', 'asks for the token'],
    ['dray login nas:7371 < token-file', 'takes it from a file'],
  ]);
}

export function addLogoutCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('logout')
    .summary('forget the token of another machine')
    .description('Forgets the token that "dray login" kept.')
    .argument('<host[:port]>', 'the other machine')
    .action((peer: string, _options: object, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).logout(context, { peer }),
        view: createView(({ address }) => `The token of ${address} is forgotten.`),
      }),
    );
  addExamples(command, [['dray logout nas', 'the next command asks for a token again']]);
}

function createView(say: (summary: LoginSummary) => string): CommandView<LoginSummary> {
  return { onSummary: (summary, output) => output.note(say(summary)) };
}
