import { type Command, InvalidArgumentError } from 'commander';
import type { ServingEvent } from '../../../engine/api/events.ts';
import { formatPlural } from '../../../engine/api/numbers.ts';
import type { ServeRequest, ServeSummary } from '../../../engine/api/peers.ts';
import { readVersion } from '../../../engine/base/dray-version.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { given } from '../options/given.ts';
import type { Output } from '../output/output.ts';
import { quotePath } from '../output/terminal-text.ts';

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
    .summary('offer a folder to other machines')
    .description(
      'Offers a folder: other machines name it as dray://HOST:PORT, in copy, sync, check, ls, du, cat and rm, and for repositories. Only who has the token may ask. It runs until it is stopped.',
    )
    .argument('<folder>', 'what is offered, with all in it')
    .option('--listen <host:port>', 'where (default: 127.0.0.1:7370; everywhere: 0.0.0.0:7370)', parseListen)
    .option('--read-only', 'refuse every write')
    .option('--special-modes', 'take set-uid, set-gid and sticky bits from clients')
    .option('--token-file <file>', 'keep the token there, from run to run; made if it is not there')
    .option(
      '--tls <how>',
      'auto (the default: on, with a certificate of its own), off, or CERT,KEY',
      parseTls,
    )
    .option('--max-connections <n>', 'at most so many at once (default: 256)', parseCount)
    .option(
      '--name <name>',
      "a name that clients may ask by, beside this machine's (may be given more than once)",
      collect,
    )
    .action((folder: string, options: ServeOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/places/serve.ts')).serve(context, {
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
    ['dray serve /data', 'to this machine alone'],
    ['dray serve /data --listen 0.0.0.0:7370 --token-file ~/.dray-token', 'to the network, encrypted'],
    ['dray login server', 'at the other end, once'],
    ['dray copy dray://server:7370/photos photos', 'from then on'],
  ]);
}

const view: CommandView<ServeSummary> = {
  onEvent: (event, output) => {
    if (event.type === 'serving') printServing(event, output);
  },
  onSummary: ({ requests }, output) => output.note(`Stopped after ${formatPlural(requests, 'request')}.`),
};

function printServing({ fingerprint, folder, isReadOnly, token, url }: ServingEvent, output: Output): void {
  // The first line on standard output: scripts wait for it.
  output.result(`${quotePath(folder)} is offered${isReadOnly ? ', to be read,' : ''} at ${url}`);
  if (fingerprint !== undefined) output.note(`Fingerprint (SHA-256): ${fingerprint}`);
  // With --quiet too: who does not know it cannot ask for anything.
  if (token === undefined) return;
  output.result(`Token, shown this once: ${token}`);
  output.result(`  export DRAY_TOKEN=${token}`);
}

function parseListen(text: string): { readonly host: string; readonly port: number } {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text);
  const port = Number(parts?.[3]);
  if (!parts || port > 65_535)
    throw new InvalidArgumentError('Write HOST:PORT, such as 0.0.0.0:7370 or [::1]:7370.');
  return { host: (parts[1] ?? parts[2])!, port };
}

function parseTls(text: string): NonNullable<ServeRequest['tls']> {
  if (text === 'auto' || text === 'off') return text;
  const [certPath, keyPath, ...rest] = text.split(',');
  if (certPath && keyPath && rest.length === 0) return { certPath, keyPath };
  throw new InvalidArgumentError('Write auto, off, or the files of certificate and key: cert.pem,key.pem.');
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0 && count <= 65_535) return count;
  throw new InvalidArgumentError('Write a whole number from 1 on.');
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
