import { type Command, InvalidArgumentError } from 'commander';
import type { WindowEvent } from '../../../../engine/api/events.ts';
import { given } from '../../../../engine/api/given.ts';
import { formatPlural } from '../../../../engine/api/text/numbers.ts';
import { fleetLinkUrl } from '../../../fleet/fleet-link-url.ts';
import type { WindowSummary } from '../../../web/run-window.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import type { Output } from '../../output/output.ts';
import { ownCommand } from '../saved/job-serve.ts';

/** The engine's transfers come to rest first; each may be in the middle of a request. */
const GRACE_MS = 10_000;

interface UiOptions {
  readonly port?: number;
  readonly open: boolean;
}

export function addUiCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('ui')
    .summary('open the window in a browser')
    .description(
      'Opens the window in a browser: workspaces, changes, transfers, history and remotes. Only this machine can reach it, and the link opens one browser, once. Also starts due jobs ("dray help job"). Runs until you stop it.',
    )
    .option(
      '--port <n>',
      'port (default: 7371, or any free port if that is taken; 0: any free port)',
      parsePort,
    )
    .option('--no-open', 'print the link without opening it')
    .action((options: UiOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../web/run-window.ts')).runWindow(context, {
            opensBrowser: options.open,
            jobCommand: ownCommand(),
            fleetLinkUrl,
            ...given({
              port: options.port,
              // Enter prints another link. Only at a terminal: other input has no such meaning.
              linkRequests: process.stdin.isTTY ? process.stdin : undefined,
            }),
          }),
        view,
        graceMs: GRACE_MS,
      }),
    );
  addExamples(command, [
    ['dray ui', 'opens it'],
    ['dray ui --no-open --port 7371', 'on a server; here: ssh -L 9000:127.0.0.1:7371 SERVER'],
  ]);
}

const view: CommandView<WindowSummary> = {
  onEvent: (event, output) => {
    if (event.type === 'window') printLink(event, output);
  },
  onSummary: ({ opened }, output) =>
    output.note(`Stopped. ${formatPlural(opened, 'browser')} had opened it.`),
};

function printLink({ url }: WindowEvent, output: Output): void {
  // The only line on standard output. Scripts wait for it.
  output.result(url);
  if (process.stdin.isTTY)
    output.note('The link opens one browser, once. Enter prints another link, Ctrl-C stops.');
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Give a port from 1 to 65535, or 0 for any free port.');
}
