import { type Command, InvalidArgumentError } from 'commander';
import type { WindowEvent } from '../../../engine/api/events.ts';
import { formatPlural } from '../../../engine/api/numbers.ts';
import type { WindowSummary } from '../../web/run-window.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { given } from '../options/given.ts';
import type { Output } from '../output/output.ts';

/** The transfers of its engine come to rest first, each in the middle of some request. */
const GRACE_MS = 10_000;

interface UiOptions {
  readonly port?: number;
  readonly open: boolean;
}

export function addUiCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('ui')
    .summary('the window, in a browser')
    .description(
      'Opens the window in a browser: workspaces, changes, transfers, history and remotes. It is served to this machine alone, and the link opens one browser, once. It runs until it is stopped.',
    )
    .option('--port <n>', 'where (default: 7371, or any that is free; 0: any that is free)', parsePort)
    .option('--no-open', 'only print the link')
    .action((options: UiOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../web/run-window.ts')).runWindow(context, {
            opensBrowser: options.open,
            ...given({
              port: options.port,
              // Enter gives a further link. Only of a terminal: input from elsewhere means nothing here.
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
  // The one line on standard output: scripts wait for it.
  output.result(url);
  if (process.stdin.isTTY)
    output.note('The link opens one browser, once. Enter gives one more, Ctrl-C stops.');
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Write a port from 1 to 65535, or 0 for any that is free.');
}
