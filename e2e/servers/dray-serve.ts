/** A `dray serve` of its own process, over a folder, as scripts start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../app/cli/main.ts', import.meta.url));

export interface Serving {
  readonly process: ChildProcess;
  /** As it says itself. */
  readonly url: string;
  readonly port: number;
  /** Of its certificate, with TLS. */
  readonly fingerprint?: string;
}

export interface ServeOptions {
  readonly folder: string;
  readonly tokenFile: string;
  /** Further parameters; `--tls` among them wins. */
  readonly more?: readonly string[];
  /** Whom it runs as, by number. Default: who runs the tests. */
  readonly user?: { readonly uid?: number; readonly gid?: number };
}

/** On a port of its own on the loopback, in plain. Resolves when it is ready. */
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
  const server = spawn(process.execPath, [MAIN, ...parameters], {
    ...user,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready: Buffer = await new Promise((resolve) => server.stdout!.once('data', resolve));
  const { fingerprint, url } = JSON.parse(String(ready)) as { url: string; fingerprint?: string };
  const port = Number(new URL(url).port);
  return { process: server, url, port, ...(fingerprint === undefined ? {} : { fingerprint }) };
}

/** In good order. Resolves when it has ended. */
export async function stopServing(server: Serving): Promise<void> {
  const ended = new Promise((resolve) => server.process.once('exit', resolve));
  server.process.kill('SIGTERM');
  await ended;
}
