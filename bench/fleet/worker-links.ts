/** The way of one worker to both stores: its own bandwidth and the latency of answers. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BadNetwork, startToxiproxy } from '../../e2e/servers/toxiproxy.ts';
import type { FleetMachine } from './fleet-machine.ts';
import type { LinkAnswer, LinkRequest } from './link-process.ts';

export interface WorkerLinks extends AsyncDisposable {
  /** Has the profiles `source` and `destination`, which name this way. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface LinkOptions {
  readonly latencyMs: number;
  readonly bytesPerSecond: number;
}

export async function openLinks(
  machine: FleetMachine,
  name: string,
  { bytesPerSecond, latencyMs }: LinkOptions,
): Promise<WorkerLinks> {
  const stores = [machine.source, machine.destination];
  const proxies = await Promise.all(
    stores.map(({ endpoint }) => startToxiproxy({ upstream: endpoint, latencyMs })),
  );
  const child = fork(fileURLToPath(new URL('link-process.ts', import.meta.url)));
  const request: LinkRequest = { upstreamPorts: proxies.map(portOf), bytesPerSecond };
  child.send(request);
  const [ports] = (await once(child, 'message')) as [LinkAnswer];
  const file = join(machine.folder, `aws-${name}`);
  writeFileSync(file, formatProfiles(machine, ports));
  return {
    environment: { AWS_CONFIG_FILE: file },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await Promise.all([ended, ...proxies.map((proxy) => proxy.stop())]);
    },
  };
}

function portOf({ endpoint }: BadNetwork): number {
  return Number(new URL(endpoint).port);
}

function formatProfiles({ source }: FleetMachine, ports: readonly number[]): string {
  return ['source', 'destination']
    .map((name, at) =>
      [
        `[profile ${name}]`,
        `aws_access_key_id = ${source.accessKeyId}`,
        `aws_secret_access_key = ${source.secretAccessKey}`,
        `region = ${source.region}`,
        `endpoint_url = http://127.0.0.1:${ports[at]}`,
      ].join('\n'),
    )
    .join('\n\n');
}
