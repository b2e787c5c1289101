import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DrayError } from '../../engine/api/error.ts';
import type { HostPort } from '../../engine/api/window/host-port.ts';
import { createReconnectingHost, type OpeningPort } from './reconnecting-host.ts';

interface FakePort {
  readonly opening: OpeningPort;
  readonly isClosed: () => boolean;
  readonly open: () => void;
  /** The engine never answered. */
  readonly refuse: (error: DrayError) => void;
  /** The engine answered, then went away. */
  readonly end: () => void;
}

function fakePort(): FakePort {
  const opened = Promise.withResolvers<void>();
  opened.promise.catch(() => {});
  let isClosed = false;
  const listeners: (() => void)[] = [];
  const end = () => {
    if (isClosed) return;
    isClosed = true;
    for (const listener of listeners) listener();
  };
  const port: HostPort = {
    post: () => {},
    onMessage: () => {},
    onClose: (listener) => listeners.push(listener),
    close: end,
  };
  return {
    opening: { port, opened: opened.promise },
    isClosed: () => isClosed,
    open: () => opened.resolve(),
    refuse: (error) => opened.reject(error),
    end,
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const GONE = new DrayError('unreachable', 'The engine is not running.');

describe('the connection to the engine', () => {
  it('reopens after a pause each time it is lost', async () => {
    const ports = [fakePort(), fakePort()];
    let asked = 0;
    const host = createReconnectingHost(async () => ports[asked++]!.opening);
    ports[0]!.open();
    await vi.advanceTimersByTimeAsync(0);
    expect(host.state()).toBe('open');
    ports[0]!.end();
    expect(host.state()).toBe('away');
    await vi.advanceTimersByTimeAsync(250);
    ports[1]!.open();
    await vi.advanceTimersByTimeAsync(0);
    expect({ asked, state: host.state() }).toEqual({ asked: 2, state: 'open' });
  });

  it('closes a port that hangs when the user retries, and then ignores its end', async () => {
    const ports = [fakePort(), fakePort(), fakePort()];
    let asked = 0;
    const host = createReconnectingHost(async () => ports[asked++]!.opening);
    await vi.advanceTimersByTimeAsync(0);
    ports[0]!.refuse(GONE);
    ports[0]!.end();
    await vi.advanceTimersByTimeAsync(250);
    host.retry();
    await vi.advanceTimersByTimeAsync(0);
    expect(ports[1]!.isClosed()).toBe(true);
    ports[1]!.refuse(GONE);
    ports[2]!.open();
    await vi.advanceTimersByTimeAsync(60_000);
    expect({ asked, state: host.state() }).toEqual({ asked: 3, state: 'open' });
  });

  it('asks for one port at a time, even if the user retries while a desktop engine restarts', async () => {
    const given = Promise.withResolvers<OpeningPort>();
    const [first, second] = [fakePort(), fakePort()];
    let asked = 0;
    const host = createReconnectingHost(() => {
      asked += 1;
      return asked === 1 ? Promise.resolve(first.opening) : given.promise;
    });
    await vi.advanceTimersByTimeAsync(0);
    first.open();
    await vi.advanceTimersByTimeAsync(0);
    first.end();
    await vi.advanceTimersByTimeAsync(250);
    host.retry();
    host.retry();
    second.open();
    given.resolve(second.opening);
    await vi.advanceTimersByTimeAsync(60_000);
    expect({ asked, state: host.state() }).toEqual({ asked: 2, state: 'open' });
  });
});
