import type { Command } from 'commander';
import type { GatewayAnswerEvent, GatewayEvent } from '../../../../engine/api/events.ts';
import { given } from '../../../../engine/api/given.ts';
import type { GatewayRequest, GatewaySummary } from '../../../../engine/api/jobs/peers.ts';
import { formatBytes, formatPlural } from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { parseSizeOption } from '../../options/global-options.ts';
import { parseListen, parseTls } from '../../options/server-options.ts';
import type { Output } from '../../output/output.ts';
import { quotePath } from '../../output/terminal-text.ts';

interface GatewayOptions {
  readonly listen?: { readonly host: string; readonly port: number };
  readonly tls?: NonNullable<GatewayRequest['tls']>;
  readonly insecure?: true;
  readonly anonymous?: true;
  readonly cacheSize?: number;
  readonly explain?: true;
}

export function addGatewayCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('gateway')
    .summary('read any version by S3, without a checkout')
    .description(
      'Serves repositories to S3 clients, which can only read. A repository is a bucket, and a key is REF/PATH, where REF is a branch, a tag or a commit: s3://birds/v1/images/1.jpg. Encrypted repositories are served decrypted. Runs until you stop it.',
    )
    .argument(
      '[repository...]',
      "URLs or names of remotes, each as PLACE or NAME=PLACE (default: the workspace's remote)",
    )
    .option('--listen <host:port>', 'address to listen on (default: 127.0.0.1:9400)', parseListen)
    .option('--tls <how>', 'off (the default), auto, or CERT,KEY', parseTls)
    .option('--insecure', 'allow plain HTTP on an address that other machines reach')
    .option('--anonymous', 'answer without signatures, on loopback only')
    .option(
      '--cache-size <size>',
      'disk space for what was read, for each repository (default: 1GiB; 0: none)',
      parseSizeOption,
    )
    .option('--explain', 'print a line for each answer, with the requests that it took')
    .action((repositories: string[], options: GatewayOptions, self: Command) =>
      runCommand<GatewaySummary>(host, self, {
        start: async (context) =>
          (await import('../../../../engine/gateway/run-gateway.ts')).runGateway(context, {
            repositories,
            ...given({
              host: options.listen?.host,
              port: options.listen?.port,
              tls: options.tls,
              isInsecure: options.insecure,
              isAnonymous: options.anonymous,
              cacheBytes: options.cacheSize,
              explain: options.explain,
            }),
          }),
        view: VIEW,
      }),
    );
  addExamples(command, [
    ['dray gateway', 'the repository of this workspace'],
    ['dray gateway birds=s3://bucket/birds cells=/data/cells', 'two repositories as two buckets'],
    ['aws s3 ls s3://birds/v1/ --endpoint-url http://127.0.0.1:9400', 'in another terminal'],
  ]);
}

const VIEW: CommandView<GatewaySummary> = {
  onEvent: (event, output) => {
    if (event.type === 'gateway') printGateway(event, output);
    if (event.type === 'gatewayAnswer') output.note(formatAnswer(event));
  },
  onSummary: ({ requests }, output) => output.note(`Stopped after ${formatPlural(requests, 'request')}.`),
};

function printGateway(event: GatewayEvent, output: Output): void {
  const { accessKeyId, buckets, fingerprint, keptIn, secretAccessKey, url } = event;
  // The first line on standard output. Scripts wait for it.
  output.result(`Serving ${formatPlural(buckets.length, 'repository', 'repositories')} at ${url}`);
  for (const { name, url: place } of buckets) output.result(`  s3://${name}/REF/PATH  ${quotePath(place)}`);
  if (fingerprint !== undefined) output.note(`Fingerprint (SHA-256): ${fingerprint}`);
  if (accessKeyId === undefined) return;
  output.result(`  export AWS_ACCESS_KEY_ID=${accessKeyId}`);
  if (secretAccessKey !== undefined) output.result(`  export AWS_SECRET_ACCESS_KEY=${secretAccessKey}`);
  else output.note(`The secret key is in ${quotePath(keptIn!)}.`);
}

function formatAnswer({ bytes, method, ms, path, status, upstream }: GatewayAnswerEvent): string {
  const took = formatPlural(upstream, 'request');
  return `${method} ${quotePath(path)}  ${status}  ${formatBytes(bytes)}  ${ms.toFixed(1)} ms  ${took} to the store`;
}
