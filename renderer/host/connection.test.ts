import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DrayError } from '../../engine/api/error.ts';
import type { HostPort } from '../../engine/api/host-port.ts';
import { connect, type Line } from './connection.ts';

interface FakeLine {
  readonly line: Line;
  readonly isClosed: () => boolean;
  readonly open: () => void;
  /** It never was there. */
  readonly refuse: (error: DrayError) => void;
  /** It was there and went away. */
  readonly end: () => void;
}

function fakeLine(): FakeLine {
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
    line: { port, opened: opened.promise },
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

const GONE = new DrayError('unreachable', 'The engine is not there.');

describe('the line to the engine', () => {
  it('is opened again after a pause, each time it is lost', async () => {
    const lines = [fakeLine(), fakeLine()];
    let asked = 0;
    const host = connect(async () => lines[asked++]!.line);
    lines[0]!.open();
    await vi.advanceTimersByTimeAsync(0);
    expect(host.state()).toBe('open');
    lines[0]!.end();
    expect(host.state()).toBe('away');
    await vi.advanceTimersByTimeAsync(250);
    lines[1]!.open();
    await vi.advanceTimersByTimeAsync(0);
    expect({ asked, state: host.state() }).toEqual({ asked: 2, state: 'open' });
  });

  it('is one: who tries again by hand gives up the line that hangs, whose end means nothing any more', async () => {
    const lines = [fakeLine(), fakeLine(), fakeLine()];
    let asked = 0;
    const host = connect(async () => lines[asked++]!.line);
    await vi.advanceTimersByTimeAsync(0);
    lines[0]!.refuse(GONE);
    lines[0]!.end();
    await vi.advanceTimersByTimeAsync(250);
    host.retry();
    await vi.advanceTimersByTimeAsync(0);
    expect(lines[1]!.isClosed()).toBe(true);
    lines[1]!.refuse(GONE);
    lines[2]!.open();
    await vi.advanceTimersByTimeAsync(60_000);
    expect({ asked, state: host.state() }).toEqual({ asked: 3, state: 'open' });
  });

  it('is not asked for twice while it is awaited, as by a desktop whose engine is given up', async () => {
    const given = Promise.withResolvers<Line>();
    const [first, second] = [fakeLine(), fakeLine()];
    let asked = 0;
    const host = connect(() => {
      asked += 1;
      return asked === 1 ? Promise.resolve(first.line) : given.promise;
    });
    await vi.advanceTimersByTimeAsync(0);
    first.open();
    await vi.advanceTimersByTimeAsync(0);
    first.end();
    await vi.advanceTimersByTimeAsync(250);
    host.retry();
    host.retry();
    second.open();
    given.resolve(second.line);
    await vi.advanceTimersByTimeAsync(60_000);
    expect({ asked, state: host.state() }).toEqual({ asked: 2, state: 'open' });
  });
});
