/** How the commands of a fleet reach Temporal. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { TemporalOptions } from '../../fleet/temporal-options.ts';

export interface TemporalFlags {
  readonly temporal: string;
  readonly namespace: string;
  readonly queue: string;
  readonly tls?: true;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsServerName?: string;
  readonly apiKeyFile?: string;
  readonly payloadKey?: string;
}

export function addTemporalOptions(command: Command): void {
  command
    .optionsGroup('How to reach Temporal:')
    .addOption(
      new Option('--temporal <host:port>', "address of Temporal's frontend")
        .env('TEMPORAL_ADDRESS')
        .default('127.0.0.1:7233')
        .argParser(parseAddress),
    )
    .addOption(new Option('--namespace <name>', 'namespace').env('TEMPORAL_NAMESPACE').default('default'))
    .option('--queue <name>', 'task queue, which jobs and their workers share', 'dray-fleet')
    .option('--tls', 'encrypt; the options below, but for --payload-key, imply it')
    .option('--tls-ca <file>', "trust this authority's certificate (PEM)")
    .option('--tls-cert <file>', "this client's certificate (PEM); needs --tls-key")
    .option('--tls-key <file>', 'its key (PEM)')
    .option('--tls-server-name <name>', "name in the server's certificate, if it is not HOST")
    .option('--api-key-file <file>', 'file that holds an API key, for Temporal Cloud')
    .option(
      '--payload-key <file>',
      'encrypt all that Temporal stores with the 64 hexadecimal digits in this file',
    );
}

export function toTemporalOptions(flags: TemporalFlags, directory: string): TemporalOptions {
  const path = (file: string | undefined) => (file === undefined ? undefined : resolve(directory, file));
  return {
    address: flags.temporal,
    namespace: flags.namespace,
    queue: flags.queue,
    tls: flags.tls ?? false,
    ...given({
      caPath: path(flags.tlsCa),
      certPath: path(flags.tlsCert),
      keyPath: path(flags.tlsKey),
      serverName: flags.tlsServerName,
      apiKeyPath: path(flags.apiKeyFile),
      payloadKeyPath: path(flags.payloadKey),
    }),
  };
}

function parseAddress(text: string): string {
  const port = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/.exec(text)?.[1];
  if (port !== undefined && Number(port) <= 65_535) return text;
  throw new InvalidArgumentError('Give HOST:PORT, such as temporal.example.com:7233.');
}
