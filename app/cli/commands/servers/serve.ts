import { type Command, InvalidArgumentError } from 'commander';
import type { ServingEvent } from '../../../../engine/api/events.ts';
import { given } from '../../../../engine/api/given.ts';
import type { ServeRequest, ServeSummary } from '../../../../engine/api/jobs/peers.ts';
import { formatPlural } from '../../../../engine/api/text/numbers.ts';
import { readVersion } from '../../../../engine/base/dray-version.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { collect } from '../../options/collect.ts';
import { addExamples } from '../../options/examples.ts';
import { parseListen, parseTls } from '../../options/server-options.ts';
import type { Output } from '../../output/output.ts';
import { quotePath } from '../../output/terminal-text.ts';

interface ServeOptions {
  readonly listen?: { readonly host: string; readonly port: number };
  readonly readOnly?: boolean;
  readonly specialModes?: boolean;
  readonly tokenFile?: string;
  readonly tls?: NonNullable<ServeRequest['tls']>;
  readonly maxConnections?: number;
  readonly name?: readonly string[];
}

export function addServeCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('serve')
    .summary('share a folder with other machines')
    .description(
      'Shares a folder. Other machines use it as dray://HOST:PORT in copy, sync, check, ls, du, cat and rm, and for repositories. Clients need the token. Runs until you stop it.',
    )
    .argument('<folder>', 'the folder to share, with everything in it')
    .option(
      '--listen <host:port>',
      'address to listen on (default: 127.0.0.1:7370; all networks: 0.0.0.0:7370)',
      parseListen,
    )
    .option('--read-only', 'refuse every write')
    .option('--special-modes', 'accept set-uid, set-gid and sticky bits from clients')
    .option('--token-file <file>', 'keep the token in this file between runs; created if missing')
    .option(
      '--tls <how>',
      'auto (the default: on, with a certificate of its own), off, or CERT,KEY',
      parseTls,
    )
    .option('--max-connections <n>', 'most connections at once (default: 256)', parseCount)
    .option(
      '--name <name>',
      "a host name that clients use, in addition to this machine's; repeatable",
      collect,
    )
    .action((folder: string, options: ServeOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../../engine/jobs/one-place/serve.ts')).serve(context, {
            folder,
            software: `dray ${readVersion()}`,
            ...given({
              host: options.listen?.host,
              port: options.listen?.port,
              isReadOnly: options.readOnly,
              specialModes: options.specialModes,
              tokenPath: options.tokenFile,
              tls: options.tls,
              connectionsMax: options.maxConnections,
              names: options.name,
            }),
          }),
        view,
      }),
    );
  addExamples(command, [
    ['dray serve /data', 'to this machine only'],
    ['dray serve /data --listen 0.0.0.0:7370 --token-file ~/.dray-token', 'to the network, encrypted'],
    ['dray login server', 'on the other machine, once'],
    ['dray copy dray://server:7370/photos photos', 'after that'],
  ]);
}

const view: CommandView<ServeSummary> = {
  onEvent: (event, output) => {
    if (event.type === 'serving') printServing(event, output);
  },
  onSummary: ({ requests }, output) => output.note(`Stopped after ${formatPlural(requests, 'request')}.`),
};

function printServing({ fingerprint, folder, isReadOnly, token, url }: ServingEvent, output: Output): void {
  // The first line on standard output. Scripts wait for it.
  output.result(`Serving ${quotePath(folder)}${isReadOnly ? ', read-only,' : ''} at ${url}`);
  if (fingerprint !== undefined) output.note(`Fingerprint (SHA-256): ${fingerprint}`);
  // Printed with --quiet too: clients cannot connect without it.
  if (token === undefined) return;
  output.result(`Token, shown this once: ${token}`);
  output.result(`  export DRAY_TOKEN=${token}`);
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0 && count <= 65_535) return count;
  throw new InvalidArgumentError('Give a whole number of at least 1.');
}
