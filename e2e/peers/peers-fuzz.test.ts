/**
 * Requests that no client would send, pipelined over raw sockets. The server refuses each
 * one or answers it correctly, never fails, and its memory stays bounded. Nothing is read or changed without
 * the token. The seed is fixed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { conversation, FUZZ_TOKEN, SECRET, UNWELCOME } from './peers-fuzz-requests.ts';
import { converse } from './peers-fuzz-socket.ts';

const SEED = 20_261_121;
const REQUESTS = runBudget({ short: 2_000, long: 100_000 });
const LANES = 8;
/** Bodies may take 192 MiB. The rest is what the allocator keeps, even without any leak. */
const RSS_MIB_MAX = 400;
const TIMEOUT_MS = 300_000;
/** 501 and 503 are refusals that the protocol defines. Any other status from 500 on is a failure. */
const REFUSALS_FROM_500 = new Set([501, 503]);

let sandbox: Sandbox;
const servers: { readonly child: ChildProcess; readonly port: number; stderr: string; stdout: string }[] = [];

async function startServer(folder: string, ...more: readonly string[]) {
  const child = spawn(
    process.execPath,
    [
      COMMAND,
      'serve',
      folder,
      '--listen',
      '127.0.0.1:0',
      '--token-file',
      sandbox.path('token'),
      '--tls',
      'off',
      '--json',
      ...more,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, DRAY_CACHE: sandbox.path('cache') } },
  );
  const server = { child, port: 0, stderr: '', stdout: '' };
  child.stderr.on('data', (text) => {
    server.stderr += text;
  });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The server ended: ${server.stderr}`)));
    child.stdout.on('data', (text) => {
      server.stdout += text;
      if (server.stdout.includes('\n')) resolve();
    });
  });
  server.port = Number(/127\.0\.0\.1:(\d+)/.exec(server.stdout)![1]);
  servers.push(server);
  return server;
}

beforeEach(() => {
  sandbox = createSandbox();
  writeFileSync(sandbox.path('token'), FUZZ_TOKEN, { mode: 0o600 });
  sandbox.write('outside/secret', SECRET);
  for (const root of ['offered', 'still']) {
    for (let index = 0; index < 30; index += 1) sandbox.write(`${root}/kept/${index}`, `content ${index}`);
    mkdirSync(sandbox.path(`${root}/play`));
    symlinkSync('../outside', sandbox.path(`${root}/way-out`));
    symlinkSync('../outside/secret', sandbox.path(`${root}/secret`));
  }
});
afterEach(async () => {
  for (const { child } of servers.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
  sandbox?.[Symbol.dispose]();
});

it(
  `${REQUESTS.toLocaleString('en')} malformed requests harm neither the server nor the folder`,
  async () => {
    const writable = await startServer(sandbox.path('offered'));
    const readOnly = await startServer(sandbox.path('still'), '--read-only');
    const outside = describeTree(sandbox.path('outside'));
    const kept = describeTree(sandbox.path('offered/kept'));
    const still = describeTree(sandbox.path('still'));
    const statuses = new Map<number, number>();
    let answered = 0;
    let next = 0;
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        const { port } = lane % 4 === 3 ? readOnly : writable;
        while (answered < REQUESTS) {
          const requests = conversation(SEED + next++);
          for (const { answer, request } of await converse(port, requests)) {
            answered += 1;
            statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
            const shown = () =>
              `${request.bytes.toString('latin1').slice(0, 600)}\n-> ${answer.status} ${answer.body.toString('latin1').slice(0, 300)}`;
            if (answer.status >= 500 && !REFUSALS_FROM_500.has(answer.status)) expect.fail(shown());
            if (answer.status < 300 && !request.hasToken) expect.fail(shown());
            if (answer.body.includes(SECRET)) expect.fail(shown());
          }
        }
      }),
    );
    const rssMib = [writable, readOnly].map(({ child }) => rssPeakMib(child.pid!));
    const shown = [...statuses]
      .sort(([left], [right]) => left - right)
      .map(([status, count]) => `${status}: ${count}`);
    console.log(
      `peer fuzz: ${answered.toLocaleString('en')} requests, seed ${SEED}, ${next.toLocaleString('en')} connections, at most ${Math.max(...rssMib)} MiB; ${shown.join(', ')}`,
    );
    expect(answered).toBeGreaterThanOrEqual(REQUESTS);
    for (const { child, port, stdout } of [writable, readOnly]) {
      expect(child.exitCode).toBeNull();
      expect(stdout).not.toContain('requestFailed');
      const response = await fetch(`http://127.0.0.1:${port}/v1/content?path=kept/7`, {
        headers: { authorization: `Bearer ${FUZZ_TOKEN}` },
      });
      expect([response.status, await response.text()]).toEqual([200, 'content 7']);
    }
    for (const mib of rssMib) expect(mib).toBeLessThan(RSS_MIB_MAX);
    expect(describeTree(sandbox.path('outside'))).toEqual(outside);
    expect(describeTree(sandbox.path('offered/kept'))).toEqual(kept);
    expect(describeTree(sandbox.path('still'))).toEqual(still);
    expect(readdirSync(sandbox.folder).sort()).toEqual(
      ['cache', 'offered', 'outside', 'still', 'token'].filter((name) =>
        existsSync(`${sandbox.folder}/${name}`),
      ),
    );
    expect(describeTree(sandbox.path('offered')).filter((line) => line.includes(UNWELCOME))).toEqual([]);
    // A server that refuses everything must not pass: holders of the token can write.
    expect(readdirSync(sandbox.path('offered/play')).length).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

/** The peak memory of the process, or 0 where the system does not report it. */
function rssPeakMib(pid: number): number {
  try {
    const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kib) / 1024);
  } catch {
    return 0;
  }
}
