/**
 * Stops or kills `dray ui` while a transfer runs, and checks what the next `dray ui` does with it. Speaks
 * over its WebSocket, as a window does.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { openLink } from '../../app/web/ask-once.fixture.ts';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import type { AnswerOf, HostMessage, HostRequestName, InputOf } from '../../engine/api/host.ts';
import { protocolsOf } from '../../engine/api/window/window-key.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { isUpload, startRequestGate } from '../servers/request-gate.ts';
import { startVersitygw } from '../servers/versitygw.ts';
import { type RunningUi, startUi } from './open-window.ts';

const MIB = 1024 * 1024;
/** Long enough for a busy machine. */
const WAIT = { timeout: 120_000, interval: 50 };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-stop-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SIGNALS = runBudget<readonly NodeJS.Signals[]>({
  short: ['SIGKILL'],
  long: ['SIGINT', 'SIGTERM', 'SIGKILL'],
});

describe('A running transfer', () => {
  it.each(SIGNALS)('runs again after %s, and completes', async (signal) => {
    await using server = await startVersitygw();
    await using gate = await startRequestGate(server.endpoint);
    const home = join(folder, 'home');
    mkdirSync(home);
    const environment = {
      ...server.environment,
      AWS_ENDPOINT_URL: gate.endpoint,
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
    };
    const root = join(folder, 'data');
    mkdirSync(root);
    const names = Array.from({ length: 8 }, (_, at) => `${at}.bin`);
    for (const name of names) writeFileSync(join(root, name), Buffer.alloc(4 * MIB, `content of ${name} `));

    await using first = await startUi({ environment });
    const before = await connect(first);
    await before.ask('home.createWorkspace', { root, remoteUrl: `s3://${server.bucket}/stopped` });
    gate.hold(isUpload, 2);
    await before.ask('transfers.start', { kind: 'push', root });
    await expect.poll(() => before.transfers()[0]?.bytesDone ?? 0, WAIT).toBeGreaterThan(0);
    process.kill(first.engine.processId!, signal);
    await expect.poll(() => first.engine.isRunning(), WAIT).toBe(false);
    const isInOrder = /"type":"summary","command":"ui","exitCode":0/.test(first.engine.output());
    expect(isInOrder).toBe(signal !== 'SIGKILL');

    await using second = await startUi({ environment });
    const after = await connect(second);
    await expect.poll(() => after.transfers()[0]?.state, WAIT).toBe('running');
    gate.release();
    await expect.poll(() => after.transfers()[0]?.state, WAIT).toBe('done');
    const url = `s3://${server.bucket}/stopped`;
    const cloned = await runCli(['clone', url, 'back'], {
      cwd: folder,
      environment: { ...(server.environment as Record<string, string>), HOME: home },
    });
    expect(cloned.exitCode, cloned.stderr).toBe(0);
    for (const name of names)
      expect(readFileSync(join(folder, 'back', name)).equals(readFileSync(join(root, name)))).toBe(true);
  });
});

interface Asking {
  readonly ask: <N extends HostRequestName>(name: N, input: InputOf<N>) => Promise<AnswerOf<N>>;
  /** The last received state. */
  readonly transfers: () => readonly Transfer[];
}

async function connect({ link }: RunningUi): Promise<Asking> {
  const { cookie, key, origin } = await openLink(link);
  const url = `${origin.replace('http', 'ws')}/host`;
  const socket = new WebSocket(url, [...protocolsOf(key)], { origin, headers: { cookie } });
  const answers = new Map<number, (message: HostMessage) => void>();
  let transfers: readonly Transfer[] = [];
  socket.on('message', (data) => {
    const message: HostMessage = JSON.parse(String(data));
    if (message.is !== 'events') return answers.get(message.id)?.(message);
    const newest = message.events.findLast((event) => event.type === 'transfers');
    if (newest?.type === 'transfers') transfers = newest.transfers;
  });
  await once(socket, 'open');
  // The connection breaks when its server is killed.
  socket.on('error', () => {});
  let id = 0;
  const ask: Asking['ask'] = (name, input) => {
    id += 1;
    const own = id;
    socket.send(JSON.stringify({ do: 'ask', id: own, name, input }));
    return new Promise((resolve, reject) => {
      answers.set(own, (message) => {
        if (message.is === 'answer') resolve(message.answer as never);
        else if (message.is === 'failed') reject(new Error(`${name}: ${message.error.message}`));
      });
    });
  };
  void ask('transfers.watch', {});
  return { ask, transfers: () => transfers };
}
