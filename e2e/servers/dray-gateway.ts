/** Runs `dray gateway` in its own process, as people start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import type { GatewayEvent } from '../../engine/api/events.ts';

export interface GatewayProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly port: number;
  readonly url: string;
  /** The first start with a settings folder tells the secret key. */
  readonly event: GatewayEvent;
  /** All that it has printed, one JSON document a line. */
  printed(): string;
  stderr(): string;
}

export interface GatewayStart {
  /** Repositories and options. */
  readonly parameters: readonly string[];
  /** Its settings and caches are below. */
  readonly home: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
}

/** On a free loopback port. Resolves when it is ready. @throws Error if it ends instead */
export async function startDrayGateway({
  environment = {},
  home,
  nodeOptions = [],
  parameters,
}: GatewayStart): Promise<GatewayProcess> {
  const args = [...nodeOptions, COMMAND, 'gateway', '--listen', '127.0.0.1:0', '--json', ...parameters];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, XDG_CONFIG_HOME: `${home}/config`, DRAY_CACHE: `${home}/cache`, ...environment },
  });
  let stdout = '';
  let stderr = '';
  let isReady = false;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const event = await new Promise<GatewayEvent>((resolve, reject) => {
    void ended.then(() => reject(new Error(`The gateway ended: ${stdout}${stderr}`)));
    child.stdout.on('data', (text) => {
      stdout += text;
      if (isReady) return;
      const line = stdout.split('\n').find((each) => each.includes('"type":"gateway"'));
      if (!line?.endsWith('}')) return;
      isReady = true;
      resolve(JSON.parse(line));
    });
  });
  return {
    child,
    event,
    url: event.url,
    port: Number(new URL(event.url).port),
    printed: () => stdout,
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
