import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { DrayError } from '../../engine/api/error.ts';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import { PORT_END } from '../../engine/api/window/desktop-bridge.ts';
import { openHost } from '../../engine/host/open-host.ts';
import { PORT_CHANNEL } from './channels.ts';
import { createFakeElectron } from './electron.fixture.ts';
import { type FakePort, FakeWebContents } from './electron-window.fixture.ts';
import { createFakeEngine, transfer, until } from './engine.fixture.ts';
import { type EngineHostOptions, openEngineHost } from './engine-host.ts';

async function open(engine = createFakeEngine(), more: Partial<EngineHostOptions> = {}) {
  const { electron } = createFakeElectron({ userData: tmpdir() });
  const received: (readonly Transfer[])[] = [];
  const crashes: { readonly error: DrayError; readonly isGivenUp: boolean }[] = [];
  const host = await openEngineHost(electron, {
    openHost: engine.openHost,
    environment: async () => ({}),
    runDray: () => Promise.reject(new Error('No job runs here.')),
    isLogin: false,
    onJobs: () => {},
    onTransfers: (transfers) => received.push(transfers),
    onCrash: (error, isGivenUp) => crashes.push({ error, isGivenUp }),
    ...more,
  });
  const contents = new FakeWebContents();
  const ports = () =>
    contents.sent.filter(({ channel }) => channel === PORT_CHANNEL).map(({ ports: [port] }) => port!);
  return {
    engine,
    host,
    received,
    crashes,
    contents,
    ports,
    askForPort: () => host.handPort(contents as never),
  };
}

/** The page's side of a port. */
function speak(port: FakePort) {
  const heard: unknown[] = [];
  const line = { heard, isClosed: false, ask: (message: unknown) => port.postMessage(message) };
  port.on('message', ({ data }) => heard.push(data));
  port.on('close', () => {
    line.isClosed = true;
  });
  port.start();
  return line;
}

describe('the port of a page', () => {
  it('carries requests and answers', async () => {
    const { askForPort, ports } = await open(createFakeEngine({ 'home.list': () => ({ workspaces: [] }) }));
    askForPort();
    const line = speak(ports()[0]!);
    line.ask({ do: 'ask', id: 7, name: 'home.list', input: {} });
    await until(() => line.heard.length > 0);
    expect(line.heard).toEqual([{ is: 'answer', id: 7, answer: { workspaces: [] } }]);
  });

  it('closes when the page asks for another one, as it does after a reload', async () => {
    const { askForPort, ports } = await open();
    askForPort();
    const first = speak(ports()[0]!);
    askForPort();
    await until(() => first.isClosed);
    expect(ports()).toHaveLength(2);
  });

  it('is not handed to a page that is gone', async () => {
    const { contents, askForPort } = await open();
    contents.destroy();
    askForPort();
    expect(contents.sent).toEqual([]);
  });
});

describe('an engine that crashes', () => {
  it('closes the port of the page, is reported, and answers on the next port', async () => {
    const { engine, askForPort, ports, crashes } = await open(
      createFakeEngine({ 'settings.get': () => ({ theme: 'dark' }) }),
    );
    askForPort();
    const first = speak(ports()[0]!);
    engine.crash();
    await until(() => first.isClosed);
    expect(first.heard).toEqual([PORT_END]);
    expect(crashes).toMatchObject([{ isGivenUp: false }]);
    askForPort();
    const second = speak(ports()[1]!);
    second.ask({ do: 'ask', id: 1, name: 'settings.get', input: {} });
    await until(() => second.heard.length > 0);
    expect(second.heard).toEqual([{ is: 'answer', id: 1, answer: { theme: 'dark' } }]);
  });

  it('is followed again after its restart, so that progress continues', async () => {
    const { engine, received } = await open();
    const watched = () => engine.asked.filter(({ name }) => name === 'transfers.watch').length;
    await until(() => watched() === 1);
    engine.crash();
    await until(() => watched() === 2);
    engine.emitTransfers([transfer({ id: 'a', state: 'running' })]);
    await until(() => received.length > 0);
    expect(received[0]).toMatchObject([{ id: 'a' }]);
  });

  it('makes a page wait after the restarts end, and serves it when the user restarts it', async () => {
    const { engine, host, askForPort, ports, crashes } = await open();
    engine.crash(true);
    await until(() => crashes.length > 0);
    askForPort();
    expect(ports()).toHaveLength(0);
    await host.startAnew();
    expect(ports()).toHaveLength(1);
    expect(engine.counts).toEqual({ open: 2, closed: 1 });
  });

  it('as the real thread is restarted, reported, and given up after five crashes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dray-desktop-'));
    try {
      const script = join(folder, 'crash.mjs');
      writeFileSync(script, 'throw new Error("out of luck");');
      const { crashes, host } = await open(undefined, {
        openHost: (options) => openHost({ ...options, workerUrl: pathToFileURL(script) }),
      });
      await until(() => crashes.some(({ isGivenUp }) => isGivenUp));
      expect(crashes).toHaveLength(5);
      expect(crashes[0]!.error.message).toContain('out of luck');
      await host.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('an engine that is restarted', () => {
  it('has the current environment', async () => {
    const engine = createFakeEngine();
    const environments = [{ DRAY_TOKEN: 'old' }, { DRAY_TOKEN: 'new' }];
    const { host, askForPort, ports } = await open(engine, {
      environment: async () => environments.shift()!,
    });
    askForPort();
    const line = speak(ports()[0]!);
    await host.startAnew();
    await until(() => line.isClosed);
    expect(line.heard).toEqual([PORT_END]);
    expect(engine.environments).toEqual([{ DRAY_TOKEN: 'old' }, { DRAY_TOKEN: 'new' }]);
  });
});

describe('the real engine', () => {
  it('answers a page over the ports of Electron and of Node', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dray-desktop-'));
    const { host, askForPort, ports } = await open(undefined, {
      openHost,
      environment: async () => ({ DRAY_CONFIG: join(folder, 'config.json'), PATH: process.env.PATH }),
    });
    try {
      askForPort();
      const line = speak(ports()[0]!);
      line.ask({ do: 'ask', id: 1, name: 'home.list', input: {} });
      line.ask({ do: 'ask', id: 2, name: 'no.such', input: {} });
      await until(() => line.heard.length >= 2);
      expect(line.heard).toContainEqual({ is: 'answer', id: 1, answer: { workspaces: [] } });
      expect(line.heard).toContainEqual(expect.objectContaining({ is: 'failed', id: 2 }));
    } finally {
      await host.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
