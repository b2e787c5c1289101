/** `dray ui` as a user starts it: the real engine behind the real server. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HostMessage } from '../../engine/api/host.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { askOnce, openLink } from '../web/ask-once.fixture.ts';
import { runCli } from './run-cli.fixture.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox?.[Symbol.dispose]());

interface Given {
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal?: 'SIGINT' | 'SIGTERM';
}

/** Starts it, runs the given function once the link is printed, and stops it. */
function ui(
  parameters: readonly string[],
  onLink: (link: string, errors: () => string) => Promise<void>,
  { environment, signal = 'SIGINT' }: Given = {},
) {
  const home = sandbox.path('home');
  let work: Promise<void> | undefined;
  let output = '';
  let errors = '';
  const result = runCli(['ui', ...parameters], {
    cwd: sandbox.folder,
    environment: { HOME: home, XDG_CONFIG_HOME: `${home}/config`, ...environment },
    onStarted: (child) => {
      child.stderr!.on('data', (text) => {
        errors += text;
      });
      child.stdout!.on('data', (text) => {
        output += text;
        const link = LINK.exec(output)?.[0];
        if (link === undefined || work) return;
        work = onLink(link, () => errors).finally(() => child.kill(signal));
      });
    },
  });
  return result.then(async (ended) => {
    await work;
    return ended;
  });
}

/** Fake desktop programs that record their arguments. */
function writeDesktop(defaultBrowser: string): string {
  const bin = sandbox.path('bin');
  mkdirSync(bin, { recursive: true });
  const programs = {
    'xdg-settings': `echo ${defaultBrowser}`,
    'xdg-open': `echo "$@" > '${sandbox.path('opened.tmp')}'; mv '${sandbox.path('opened.tmp')}' '${sandbox.path('opened')}'; while [ -d '${bin}' ]; do sleep 1; done`,
  };
  for (const [name, does] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
  return `${bin}:${process.env.PATH}`;
}

/** The folder where `dray ui` puts the pages that it hands to other programs. */
function temporary(): string {
  const folder = sandbox.path('tmp');
  mkdirSync(folder, { recursive: true });
  return folder;
}

const WAIT = { timeout: 120_000, interval: 50 };
const LINK = /http:\/\/127\.0\.0\.1:\d+\/\?t=[\w-]{43}/;

describe('dray ui', () => {
  it('prints a link, serves the engine through it, and stops at Ctrl-C', async () => {
    let answer: HostMessage | undefined;
    const { exitCode, stderr, stdout } = await ui(['--no-open', '--port', '0'], async (link) => {
      const opened = await openLink(link);
      const page = await fetch(opened.origin, { headers: { cookie: opened.cookie } });
      expect(await page.text()).toContain('<title>Dray</title>');
      answer = await askOnce(opened);
    });
    expect(answer).toEqual({ is: 'answer', id: 1, answer: { workspaces: [] } });
    expect(stdout).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/\?t=[\w-]{43}\nStopped\. 1 browser had opened it\.\n$/,
    );
    expect({ exitCode, stderr: stderr.replace(/^Building the window.*\n/, '') }).toEqual({
      exitCode: 0,
      stderr: 'stopping...\n',
    });
  });

  it('applies its flags to every request that comes through the window', async () => {
    let answer: HostMessage | undefined;
    const flags = ['--endpoint', 'http://localhost:9000', '--profile', 'work'];
    await ui(['--no-open', '--port', '0', ...flags], async (link) => {
      const opened = await openLink(link);
      const mine = { name: 'mine', url: 's3://bucket' };
      await askOnce(opened, { name: 'remotes.add', input: mine });
      answer = await askOnce(opened, { name: 'remotes.list' });
    });
    const url = 's3://bucket?endpoint=http://localhost:9000&profile=work';
    expect(answer).toMatchObject({ answer: { remotes: [{ name: 'mine', url }] } });
  });

  it('with --json says that it is ready in one JSON line', async () => {
    const { exitCode, stdout } = await ui(['--no-open', '--port', '0', '--json'], async () => {});
    const [ready, summary] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type !== 'warning');
    expect(ready).toEqual({ type: 'window', url: expect.any(String), port: expect.any(Number) });
    expect(summary).toMatchObject({ type: 'summary', command: 'ui', port: ready.port, opened: 0 });
    expect(exitCode).toBe(0);
  });

  // macOS uses the same way through another program. On Windows nobody sees another user's command lines.
  it.runIf(process.platform === 'linux').each([
    ['firefox.desktop', 'tmp'],
    ['firefox_firefox.desktop', 'home/snap/firefox/common'],
  ])('hands %s a page that only its user can read, with a link of its own', async (browser, folder) => {
    mkdirSync(sandbox.path('home/snap/firefox/common'), { recursive: true });
    const environment = { PATH: writeDesktop(browser), TMPDIR: temporary() };
    let path = '';
    const work = async (printed: string) => {
      await vi.waitFor(() => expect(existsSync(sandbox.path('opened'))).toBe(true), WAIT);
      path = readFileSync(sandbox.path('opened'), 'utf8').trim();
      expect(dirname(dirname(path))).toBe(sandbox.path(folder));
      expect([statSync(dirname(path)).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
      const link = LINK.exec(readFileSync(path, 'utf8'))![0];
      expect(link).not.toBe(printed);
      for (const each of [link, printed])
        expect((await fetch(each)).headers.get('set-cookie')).toContain('dray-window-');
      // The link is used up.
      await vi.waitFor(() => expect(existsSync(path)).toBe(false), WAIT);
    };
    // The browser opener still runs at the stop. `dray ui` does not wait for it.
    const { exitCode, stdout } = await ui(['--port', '0'], work, { environment, signal: 'SIGTERM' });
    expect([exitCode, stdout.split('\n')[1]]).toEqual([0, 'Stopped. 2 browsers had opened it.']);
  });

  it('removes a page that nobody opened, and says so when there is no browser', async () => {
    const environment = { PATH: dirname(process.execPath), TMPDIR: temporary() };
    const { exitCode } = await ui(
      ['--port', '0'],
      (_link, errors) =>
        vi.waitFor(() => expect(errors()).toContain('No browser could be started here'), WAIT),
      { environment },
    );
    const left = readdirSync(temporary()).filter((name) => name.startsWith('dray-ui-'));
    expect([exitCode, left]).toEqual([0, []]);
  });

  it('uses another port when its usual one is taken, and says so', async () => {
    const taken = createServer();
    // The program that holds the port.
    await new Promise<void>((resolve) => {
      taken.once('error', () => resolve());
      taken.listen(7371, '127.0.0.1', resolve);
    });
    try {
      const { exitCode, stderr, stdout } = await ui(['--no-open'], async (link) => {
        expect((await fetch(link)).status).toBe(200);
      });
      const port = new URL(LINK.exec(stdout)![0]).port;
      expect(port).not.toBe('7371');
      expect(stderr).toContain(
        `Port 7371 is taken, most likely by another "dray ui". This window uses port ${port}.`,
      );
      expect(exitCode).toBe(0);
    } finally {
      taken.close();
    }
  });

  it('refuses a port that is taken or invalid', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    try {
      const { exitCode, stderr } = await ui(['--no-open', '--port', String(port)], async () => {});
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`Port ${port} cannot be used: another program uses it.`);
    } finally {
      taken.close();
    }
    expect(await ui(['--no-open', '--port', '65536'], async () => {})).toMatchObject({ exitCode: 2 });
  });
});
