import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DrayError } from '../api/error.ts';
import { connectHost } from '../api/window/host-client.ts';
import { createSandbox, type Sandbox } from '../jobs/session/job.fixture.ts';
import { type OpenHost, type OpenHostOptions, openHost } from './open-host.ts';

let sandbox: Sandbox;
let opened: OpenHost[];
beforeEach(() => {
  sandbox = createSandbox();
  opened = [];
});
afterEach(async () => {
  for (const host of opened) await host.close();
  sandbox[Symbol.dispose]();
});

function open(more: Partial<OpenHostOptions> = {}): OpenHost {
  const environment = { HOME: sandbox.folder, DRAY_CONFIG: sandbox.path('config', 'config.json') };
  const host = openHost({ environment, ...more });
  opened.push(host);
  return host;
}

/** The engine's thread, plus a message that makes it crash. */
function fragileWorker(): URL {
  const real = new URL('./host-worker.ts', import.meta.url).href;
  const code = `
    import { parentPort } from 'node:worker_threads';
    await import(${JSON.stringify(real)});
    parentPort.on('message', (message) => {
      if (message.do === 'serve') message.port.on('message', ({ crash }) => {
        if (crash) setImmediate(() => { throw new Error('on purpose'); });
      });
    });`;
  return pathToFileURL(sandbox.write('fragile-worker.mjs', code));
}

describe('an engine in a thread of its own', () => {
  it('serves many windows', async () => {
    const host = open();
    const [first, second] = [connectHost(host.openPort()), connectHost(host.openPort())];
    const url = sandbox.path('remote');
    const root = sandbox.path('work');
    writeFileSync(sandbox.path('work', 'a.txt'), 'a');
    const card = await first.ask('home.createWorkspace', { root, remoteUrl: url });
    expect(card).toMatchObject({ root, name: 'work', state: 'ready', branch: 'main' });
    expect((await second.ask('home.list', {})).workspaces).toEqual([card]);
    first.close();
    expect((await second.ask('changes.status', { root })).changes.added).toBe(1);
  });

  it('gives later jobs another environment, in a new thread too', async () => {
    const crash = Promise.withResolvers<unknown>();
    const host = open({ workerUrl: fragileWorker(), onCrash: crash.resolve });
    const hasKeys = async () =>
      (await connectHost(host.openPort()).ask('remotes.keySources', {})).hasEnvironmentKeys;
    expect(await hasKeys()).toBe(false);
    await host.setEnvironment({
      HOME: sandbox.folder,
      AWS_ACCESS_KEY_ID: 'AK',
      AWS_SECRET_ACCESS_KEY: 'secret',
    });
    expect(await hasKeys()).toBe(true);
    host.openPort().post({ crash: true });
    await crash.promise;
    expect(await hasKeys()).toBe(true);
  });

  it('forgets typed keys when its thread crashes', async () => {
    const crash = Promise.withResolvers<unknown>();
    const host = open({ workerUrl: fragileWorker(), onCrash: crash.resolve });
    const keys = { accessKeyId: 'AK', secretAccessKey: 'typed-secret' };
    await connectHost(host.openPort()).ask('keys.hold', { profile: 'lab', keys });
    // Files dropped into a browser are copied outside of the thread.
    expect(JSON.stringify(await host.readEnvironment())).toContain('typed-secret');
    host.openPort().post({ crash: true });
    await crash.promise;
    expect(JSON.stringify(await host.readEnvironment())).not.toContain('typed-secret');
    expect(await connectHost(host.openPort()).ask('keys.list', {})).toEqual({ profiles: [] });
  });

  it('applies the flags of its command to its jobs, in a new thread too', async () => {
    const crash = Promise.withResolvers<unknown>();
    const connection = { endpoint: 'http://localhost:9000', profile: 'work' };
    const host = open({ connection, workerUrl: fragileWorker(), onCrash: crash.resolve });
    const urlOf = async (name: string) => {
      const client = connectHost(host.openPort());
      await client.ask('remotes.add', { name, url: 's3://bucket' });
      const { remotes } = await client.ask('remotes.list', {});
      return remotes.find((remote) => remote.name === name)?.url;
    };
    const kept = 's3://bucket?endpoint=http://localhost:9000&profile=work';
    expect(await urlOf('before')).toBe(kept);
    host.openPort().post({ crash: true });
    await crash.promise;
    expect(await urlOf('after')).toBe(kept);
  });

  it('that crashes reports to its windows and is restarted', async () => {
    const crash = Promise.withResolvers<readonly [DrayError, boolean]>();
    const host = open({
      workerUrl: fragileWorker(),
      onCrash: (error, isGivenUp) => crash.resolve([error, isGivenUp]),
    });
    const port = host.openPort();
    const client = connectHost(port);
    await client.ask('home.list', {});
    const watching = client.ask('transfers.watch', {});
    port.post({ crash: true });
    await expect(watching).rejects.toMatchObject({ code: 'unreachable' });
    const [error, isGivenUp] = await crash.promise;
    expect(error.message).toContain('on purpose');
    expect(isGivenUp).toBe(false);
    const next = connectHost(host.openPort());
    expect(await next.ask('home.list', {})).toEqual({ workspaces: [] });
    // The crashed thread held the queue's lock.
    const { id } = await next.ask('transfers.start', {
      kind: 'copy',
      source: '/nowhere',
      destination: '/nothing',
    });
    expect(readFileSync(sandbox.path('config', 'transfers.json'), 'utf8')).toContain(id);
  });

  it('is given up if it keeps crashing', async () => {
    const codes: boolean[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const workerUrl = pathToFileURL(sandbox.write('broken.mjs', 'throw new Error("broken");'));
    const host = open({
      workerUrl,
      onCrash: (_error, isGivenUp) => {
        codes.push(isGivenUp);
        if (isGivenUp) resolve();
      },
    });
    await promise;
    expect(codes).toEqual([false, false, false, false, true]);
    expect(() => host.openPort()).toThrow(/will not restart/);
  });
});
