import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { connectHost } from './host-client.ts';
import { fromMessagePort, fromWebSocket, type HostPort, type WebSocketLike } from './host-port.ts';

type Listener = (event: { readonly data?: unknown }) => void;

/** Two ends of a socket that deliver text in order and asynchronously, as real ones do. */
function createSocketPair() {
  const ends = [createEnd(), createEnd()] as const;
  function createEnd() {
    const listeners = new Map<string, Listener[]>();
    const end = {
      readyState: 0,
      dispatch(type: string, data?: unknown) {
        for (const listener of listeners.get(type) ?? []) listener({ data });
      },
      addEventListener(type: string, listener: Listener) {
        listeners.set(type, [...(listeners.get(type) ?? []), listener]);
      },
      send(text: string) {
        if (end.readyState !== 1) throw new Error('It is not open.');
        setImmediate(() => otherOf(end).dispatch('message', text));
      },
      close() {
        for (const each of ends) {
          each.readyState = 3;
          setImmediate(() => each.dispatch('close'));
        }
      },
    };
    return end;
  }
  const otherOf = (end: unknown) => (end === ends[0] ? ends[1] : ends[0]);
  return {
    ends: ends as readonly [WebSocketLike, WebSocketLike],
    open() {
      for (const end of ends) {
        end.readyState = 1;
        end.dispatch('open');
      }
    },
    sendRaw: (data: unknown) => ends[0].dispatch('message', data),
  };
}

const carriers = {
  'a MessagePort': () => {
    const { port1, port2 } = new MessageChannel();
    return [fromMessagePort(port1), fromMessagePort(port2)] as const;
  },
  'a WebSocket': () => {
    const pair = createSocketPair();
    setImmediate(pair.open);
    const [first, second] = pair.ends;
    return [fromWebSocket(first), fromWebSocket(second)] as const;
  },
} satisfies Record<string, () => readonly [HostPort, HostPort]>;

describe.each(Object.entries(carriers))('%s', (_name, connect) => {
  it('carries messages in order, both ways, even those posted before the listener is set', async () => {
    const [near, far] = connect();
    for (let at = 0; at < 100; at += 1) near.post({ at });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const heard: unknown[] = [];
    const all = Promise.withResolvers<void>();
    far.onMessage((message) => {
      heard.push(message);
      if (heard.length === 100) all.resolve();
    });
    await all.promise;
    expect(heard).toEqual(Array.from({ length: 100 }, (_, at) => ({ at })));
    const back = new Promise((resolve) => near.onMessage(resolve));
    far.post('back');
    expect(await back).toBe('back');
    near.close();
  });

  it('notifies both sides of its closing once and drops later messages', async () => {
    const [near, far] = connect();
    let times = 0;
    near.onMessage(() => {});
    far.onMessage(() => {});
    near.onClose(() => {
      times += 1;
    });
    const closed = new Promise<void>((resolve) => far.onClose(resolve));
    near.close();
    near.close();
    await closed;
    near.post('late');
    far.post('late');
    expect(times).toBe(1);
    await new Promise<void>((resolve) => near.onClose(resolve));
  });

  it('delivers each answer to its request and drops unrequested answers', async () => {
    const [near, far] = connect();
    const client = connectHost(near);
    const asked: { id: number; name: string; input: unknown }[] = [];
    const two = Promise.withResolvers<void>();
    far.onMessage((message) => {
      asked.push(message as (typeof asked)[number]);
      if (asked.length === 2) two.resolve();
    });
    const events: unknown[] = [];
    const first = client.ask('home.list', {}, { onEvents: (batch) => events.push(...batch) });
    const second = client.ask('settings.get', {});
    await two.promise;
    far.post({ is: 'answer', id: 99, answer: 'for nobody' });
    far.post({ is: 'events', id: asked[0]!.id, events: [{ type: 'phase', phase: 'scan' }] });
    const error = { code: 'damaged', message: 'Broken.', retry: 'no', data: { path: 'x' } };
    far.post({ is: 'failed', id: asked[1]!.id, error });
    far.post({ is: 'answer', id: asked[0]!.id, answer: { workspaces: [] } });
    await expect(second).rejects.toMatchObject(error);
    expect(await first).toEqual({ workspaces: [] });
    expect(events).toEqual([{ type: 'phase', phase: 'scan' }]);
    near.close();
  });
});

describe('a WebSocket message that is not JSON', () => {
  it('arrives as undefined', () => {
    const pair = createSocketPair();
    const port = fromWebSocket(pair.ends[0]);
    const heard: unknown[] = [];
    port.onMessage((message) => heard.push(message));
    for (const data of ['{', '', new Uint8Array(3), 'null']) pair.sendRaw(data);
    expect(heard).toEqual([undefined, undefined, undefined, null]);
  });
});
