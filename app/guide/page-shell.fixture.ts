/**
 * Runs the commands of a guide page in a folder of its own, with the real command and a real S3 server. The
 * page says `/tmp/demo`, `server:7370` and ports 7371, 7233 and 9400; the commands use a folder and ports of
 * the test's own instead.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, type ToolName, toolPath } from '../../e2e/servers/tools.ts';
import { COMMAND } from '../cli/command.fixture.ts';
import type { ShownCommand } from './page-blocks.fixture.ts';

const SAMPLE = fileURLToPath(new URL('./sample.fixture.ts', import.meta.url));
const SHOWN_FOLDER = '/tmp/demo';
const SHOWN_ADDRESS = 'server:7370';
const SHOWN_STORE = 's3.example.com';
const SHOWN_WINDOW_PORT = '7371';
const SHOWN_TEMPORAL_PORT = '7233';
const SHOWN_GATEWAY_PORT = '9400';
/** These run until the page ends. */
const SERVERS = /^(?:dray (?:serve|gateway|ui|fleet worker)|temporal server)\b/;

/** Each command finds the folder, the variables and the exit code that the one before it left. */
const SCRIPT = `
trap 'code=$?; pwd > "$STATE/pwd"; export -p > "$STATE/env"; echo $code > "$STATE/code"' EXIT
. "$STATE/env"
cd "$(cat "$STATE/pwd")"
(exit "$(cat "$STATE/code")")
. "$STATE/command" 2>&1
`;

export interface CommandResult {
  readonly exitCode: number | null;
  /** Both streams, with the folder and the address that the page shows. */
  readonly output: string;
}

export interface PageShell extends AsyncDisposable {
  run(command: ShownCommand): Promise<CommandResult>;
}

/**
 * @param environment How to reach the S3 server.
 * @param tools Of the tests' own, that the page runs.
 */
export async function openPageShell(
  environment: Readonly<Record<string, string>>,
  tools: readonly ToolName[] = [],
): Promise<PageShell> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'dray-guide-')));
  const folder = join(base, 'demo');
  const address = `127.0.0.1:${await freePort()}`;
  const windowPort = `${await freePort()}`;
  const temporalPort = `${await freePort()}`;
  const gatewayPort = `${await freePort()}`;
  mkdirSync(folder);
  writeScript(join(base, 'dray'), COMMAND);
  writeScript(join(base, 'make-sample'), SAMPLE);
  makePackage(join(base, 'node_modules/dray'));
  for (const tool of tools) symlinkSync(await toolPath(tool), join(base, tool));
  const servers: ChildProcess[] = [];
  const facts = { token: '', fingerprint: '' };

  const toReal = (text: string) =>
    text
      .replaceAll(SHOWN_FOLDER, folder)
      .replaceAll(SHOWN_WINDOW_PORT, windowPort)
      .replaceAll(SHOWN_TEMPORAL_PORT, temporalPort)
      .replaceAll(SHOWN_GATEWAY_PORT, gatewayPort)
      .replace(/\b(?:0\.0\.0\.0|server):7370\b/g, address)
      .replaceAll('FINGERPRINT', facts.fingerprint);
  const toShown = (text: string) =>
    text
      .replaceAll(folder, SHOWN_FOLDER)
      .replaceAll(address, SHOWN_ADDRESS)
      .replaceAll(new URL(environment.AWS_ENDPOINT_URL!).host, SHOWN_STORE)
      .replaceAll(`:${windowPort}`, `:${SHOWN_WINDOW_PORT}`)
      .replaceAll(`:${temporalPort}`, `:${SHOWN_TEMPORAL_PORT}`)
      .replaceAll(`:${gatewayPort}`, `:${SHOWN_GATEWAY_PORT}`);

  const start = ({ command, machine }: ShownCommand): ChildProcess => {
    const state = openState(join(base, `machine-${machine}`), folder);
    writeFileSync(join(state, 'command'), `${toReal(command)}\n`);
    const child = spawn('bash', ['-c', SCRIPT], {
      env: childEnvironment({ ...environment, TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}` }, base, state),
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    // Only `dray login` reads it: the token of the page's server.
    child.stdin!.on('error', () => {}).end(`${facts.token}\n`);
    return child;
  };

  return {
    async run(command) {
      const child = start(command);
      let output = '';
      child.stdout!.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
      if (!SERVERS.test(command.command)) {
        const [exitCode] = (await once(child, 'close')) as [number | null];
        return { exitCode, output: toShown(output) };
      }
      servers.push(child);
      const isReady = () => output.split('\n').length > command.shown.length;
      while (!isReady() && child.exitCode === null)
        await Promise.race([once(child.stdout!, 'data'), once(child, 'close')]);
      facts.token = /^Token, .*: (\S+)$/m.exec(output)?.[1] ?? facts.token;
      facts.fingerprint = /^Fingerprint \(SHA-256\): (\S+)$/m.exec(output)?.[1] ?? facts.fingerprint;
      return { exitCode: child.exitCode ?? 0, output: toShown(output) };
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) {
        if (server.exitCode !== null) continue;
        const closed = once(server, 'close');
        // The whole group: bash and the command that it runs.
        process.kill(-server.pid!, 'SIGTERM');
        await closed;
      }
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** The library, as `npm install dray` puts it. */
function makePackage(folder: string): void {
  mkdirSync(folder, { recursive: true });
  symlinkSync(dirname(COMMAND), join(folder, 'dist'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module","exports":"./dist/library.js"}');
}

/** Makes one machine's state: a home of its own, and what its last command left. */
function openState(state: string, folder: string): string {
  if (existsSync(state)) return state;
  mkdirSync(join(state, 'home'), { recursive: true });
  writeFileSync(join(state, 'pwd'), folder);
  writeFileSync(join(state, 'env'), '');
  writeFileSync(join(state, 'code'), '0');
  return state;
}

function childEnvironment(
  environment: Readonly<Record<string, string>>,
  binaries: string,
  state: string,
): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _, NO_COLOR: __, ...inherited } = process.env;
  return {
    ...inherited,
    ...environment,
    PATH: `${binaries}:${process.env.PATH}`,
    HOME: join(state, 'home'),
    XDG_CONFIG_HOME: join(state, 'home/.config'),
    XDG_CACHE_HOME: join(state, 'home/.cache'),
    DRAY_AUTHOR: 'ada@lab',
    STATE: state,
  };
}

function writeScript(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
  chmodSync(path, 0o755);
}
