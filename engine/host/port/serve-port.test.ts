import { MessageChannel } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostEvent } from '../../api/host.ts';
import { fromMessagePort } from '../../api/window/host-port.ts';
import { createHostFixture, type HostFixture } from '../host.fixture.ts';
import { createEventOutbox } from './event-outbox.ts';
import { servePort } from './serve-port.ts';

let fixture: HostFixture;
beforeEach(() => {
  fixture = createHostFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

describe('a port of the engine', () => {
  it('answers concurrent requests, each with its own answer', async () => {
    const { client } = fixture;
    const [list, settings, folders] = await Promise.all([
      client.ask('home.list', {}),
      client.ask('settings.get', {}),
      client.ask('home.listFolders', { folder: fixture.sandbox.folder }),
    ]);
    expect(list).toEqual({ workspaces: [] });
    expect(settings.theme).toBe('system');
    expect(folders.folder).toBe(fixture.sandbox.folder);
  });

  it('keeps the code and the data of an error', async () => {
    const root = fixture.sandbox.path('nowhere');
    await expect(fixture.client.ask('changes.status', { root })).rejects.toMatchObject({
      name: 'DrayError',
      code: 'notAWorkspace',
      data: { path: root },
    });
  });

  it('refuses invalid inputs, naming the field', async () => {
    const ask = fixture.client.ask as (name: string, input: unknown) => Promise<unknown>;
    const refused = [
      ['changes.rows', { root: '/', list: 'x', offset: 0, limit: 501, view: {} }, 'limit'],
      ['changes.rows', { root: '/', list: 'x', offset: -1, limit: 5, view: {} }, 'offset'],
      ['changes.status', { root: 'relative' }, 'root'],
      ['changes.status', { root: '/a\0b' }, 'root'],
      ['transfers.start', { kind: 'push', root: '/', environment: {} }, 'environment'],
      ['home.list', { extra: 1 }, 'extra'],
    ] as const;
    for (const [name, input, field] of refused)
      await expect(ask(name, input)).rejects.toMatchObject({ code: 'usage', data: { name, field } });
  });

  it('accepts only requests of the contract', async () => {
    const ask = fixture.client.ask as (name: string, input: unknown) => Promise<unknown>;
    for (const name of ['__proto__', 'constructor', 'home.nothing', 'toString'])
      await expect(ask(name, {})).rejects.toMatchObject({ code: 'usage' });
  });

  it('drops undefined values, as JSON does', async () => {
    const view = { filter: undefined } as unknown as { filter: string };
    const asked = fixture.client.ask('changes.rows', { root: '/', list: 'gone', offset: 0, limit: 1, view });
    await expect(asked).rejects.toMatchObject({ code: 'notFound' });
  });

  it('closes at an invalid message', async () => {
    for (const message of [
      undefined,
      'text',
      { do: 'ask' },
      { do: 'stop', id: 'x' },
      [],
      { do: 'ask', id: 0.5 },
    ]) {
      const { port1, port2 } = new MessageChannel();
      servePort(fromMessagePort(port2), fixture.host);
      const closed = new Promise((resolve) => port1.once('close', resolve));
      port1.postMessage(message);
      await closed;
    }
  });

  it('stops a request at the host, and its client sees it at once', async () => {
    const stopping = new AbortController();
    const first = Promise.withResolvers<void>();
    const watching = fixture.client.ask(
      'transfers.watch',
      {},
      { signal: stopping.signal, onEvents: () => first.resolve() },
    );
    await first.promise;
    stopping.abort();
    await expect(watching).rejects.toMatchObject({ code: 'aborted' });
    expect(await fixture.client.ask('home.list', {})).toEqual({ workspaces: [] });
  });

  it('fails running requests when the port closes, and later requests', async () => {
    const watching = fixture.client.ask('transfers.watch', {});
    fixture.client.close();
    await expect(watching).rejects.toMatchObject({ code: 'unreachable' });
    await expect(fixture.client.ask('home.list', {})).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('bounds how many requests run at once', async () => {
    const stopping = new AbortController();
    const outcomes = Array.from({ length: 300 }, () =>
      fixture.client.ask('transfers.watch', {}, { signal: stopping.signal }).catch((error) => error.code),
    );
    const early = outcomes.slice(256);
    expect(new Set(await Promise.all(early))).toEqual(new Set(['slowDown']));
    stopping.abort();
    expect(new Set(await Promise.all(outcomes.slice(0, 256)))).toEqual(new Set(['aborted']));
  });
});

describe('the outbox of a request', () => {
  const progress = (filesDone: number): HostEvent => ({
    type: 'progress',
    phase: 'scan',
    filesDone,
    bytesDone: 0,
    requests: 0,
  });

  it('keeps only the newest progress of each phase, in its place', () => {
    const sent: (readonly HostEvent[])[] = [];
    const outbox = createEventOutbox((events) => sent.push(events));
    outbox.add({ type: 'phase', phase: 'scan' });
    for (let files = 1; files <= 1000; files += 1) outbox.add(progress(files));
    outbox.add({ type: 'phase', phase: 'upload' });
    outbox.add(progress(7));
    expect(sent).toEqual([]);
    outbox.flush();
    expect(sent).toEqual([
      [{ type: 'phase', phase: 'scan' }, progress(1000), { type: 'phase', phase: 'upload' }, progress(7)],
    ]);
  });

  it('sends a full batch at once', () => {
    const sizes: number[] = [];
    const outbox = createEventOutbox((events) => sizes.push(events.length));
    for (let at = 0; at < 5000; at += 1) outbox.add({ type: 'warning', warning: 'x', message: `${at}` });
    outbox.flush();
    expect(sizes).toEqual([2000, 2000, 1000]);
  });
});
