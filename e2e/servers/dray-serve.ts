/** Runs `dray serve` over a folder in its own process, as scripts start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { COMMAND } from '../../app/cli/command.fixture.ts';

export interface Serving {
  readonly process: ChildProcess;
  /** The URL that the server prints. */
  readonly url: string;
  readonly port: number;
  /** The fingerprint of its certificate, with TLS. */
  readonly fingerprint?: string;
}

export interface ServeOptions {
  readonly folder: string;
  readonly tokenFile: string;
  /** Further parameters; a `--tls` among them overrides the default. */
  readonly more?: readonly string[];
  /** The user that it runs as, by number. Default: the user of the tests. */
  readonly user?: { readonly uid?: number; readonly gid?: number };
}

/** Starts a server without TLS on a free loopback port. Resolves when it is ready. */
export async function startServing({ folder, more = [], tokenFile, user }: ServeOptions): Promise<Serving> {
  const parameters = [
    'serve',
    folder,
    '--listen',
    '127.0.0.1:0',
    '--token-file',
    tokenFile,
    '--tls',
    'off',
    '--json',
    ...more,
  ];
  const server = spawn(process.execPath, [COMMAND, ...parameters], {
    ...user,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready: Buffer = await new Promise((resolve) => server.stdout!.once('data', resolve));
  const { fingerprint, url } = JSON.parse(String(ready)) as { url: string; fingerprint?: string };
  const port = Number(new URL(url).port);
  return { process: server, url, port, ...(fingerprint === undefined ? {} : { fingerprint }) };
}

/** Stops the server regularly. Resolves when it has ended. */
export async function stopServing(server: Serving): Promise<void> {
  const ended = new Promise((resolve) => server.process.once('exit', resolve));
  server.process.kill('SIGTERM');
  await ended;
}
