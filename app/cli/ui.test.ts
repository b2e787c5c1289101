/** `dray ui` as a user starts it: the real engine behind the real server. */
import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { HostMessage } from '../../engine/api/host.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/job-fixture.ts';
import { runCli } from './run-cli.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox?.[Symbol.dispose]());

function ui(parameters: readonly string[], onLink: (link: string, child: ChildProcess) => Promise<void>) {
  const home = sandbox.path('home');
  let work: Promise<void> | undefined;
  let output = '';
  const result = runCli(['ui', '--no-open', ...parameters], {
    cwd: sandbox.folder,
    environment: { HOME: home, XDG_CONFIG_HOME: `${home}/config` },
    onStarted: (child) => {
      child.stdout!.on('data', (text) => {
        output += text;
        const link = /http:\/\/127\.0\.0\.1:\d+\/\?t=[\w-]{43}/.exec(output)?.[0];
        if (link === undefined || work) return;
        work = onLink(link, child).finally(() => child.kill('SIGINT'));
      });
    },
  });
  return result.then(async (ended) => {
    await work;
    return ended;
  });
}

describe('dray ui', () => {
  it('prints a link, lets the engine be asked through it, and stops at Ctrl-C', async () => {
    let answer: HostMessage | undefined;
    const { exitCode, stderr, stdout } = await ui(['--port', '0'], async (link) => {
      const opened = await fetch(link, { redirect: 'manual' });
      expect(opened.status).toBe(303);
      const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
      const { origin } = new URL(link);
      const page = await fetch(origin, { headers: { cookie } });
      expect(await page.text()).toContain('<title>Dray</title>');
      answer = await askOnce(origin, cookie);
    });
    expect(answer).toEqual({ is: 'answer', id: 1, answer: { workspaces: [] } });
    expect(stdout).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/\?t=[\w-]{43}\nStopped\. 1 browser had opened it\.\n$/,
    );
    expect({ exitCode, stderr: stderr.replace(/^.*built first.*\n/, '') }).toEqual({
      exitCode: 0,
      stderr: 'stopping...\n',
    });
  });

  it('says it is ready in one JSON line with --json', async () => {
    const { exitCode, stdout } = await ui(['--port', '0', '--json'], async () => {});
    const [ready, summary] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type !== 'warning');
    expect(ready).toEqual({ type: 'window', url: expect.any(String), port: expect.any(Number) });
    expect(summary).toMatchObject({ type: 'summary', command: 'ui', port: ready.port, opened: 0 });
    expect(exitCode).toBe(0);
  });

  it('refuses a port that is taken or none', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    try {
      const { exitCode, stderr } = await ui(['--port', String(port)], async () => {});
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`Port ${port} cannot be used: another program uses it.`);
    } finally {
      taken.close();
    }
    expect(await ui(['--port', '65536'], async () => {})).toMatchObject({ exitCode: 2 });
  });
});

function askOnce(origin: string, cookie: string): Promise<HostMessage> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/host`, { origin, headers: { cookie } });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => socket.send('{"do":"ask","id":1,"name":"home.list","input":{}}'));
    socket.on('message', (data) => {
      resolve(JSON.parse(String(data)));
      socket.close();
    });
  });
}
