import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { createMemoryStore } from '../memory/memory-store.fixture.ts';
import { createThrottle, withRequestRate, withThrottle } from './with-throttle.ts';

/** Time that passes only by `pass`: sleepers wake in the order of their times. */
function steppedClock() {
  let nowMs = 5000;
  const sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>();
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    random: () => 0.5,
    sleep: (pauseMs, signal) =>
      new Promise((resolve, reject) => {
        checkAborted(signal);
        const sleeper = { atMs: nowMs + pauseMs, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(new DrayError('aborted', 'Stopped on request.'));
        });
      }),
  };
  const pass = async (ms: number): Promise<void> => {
    const untilMs = nowMs + ms;
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const due = [...sleepers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (!due) break;
      nowMs = Math.max(nowMs, due.atMs);
      sleepers.delete(due);
      due.wake();
    }
    nowMs = untilMs;
  };
  return { clock, pass, sleeping: () => sleepers.size };
}

function setUp(start: number | undefined) {
  let rate = start;
  const { clock, pass, sleeping } = steppedClock();
  const memory = createMemoryStore();
  const throttle = createThrottle({ bytesPerSecond: () => rate, clock });
  const store = withThrottle(memory, throttle);
  const setRate = (next: number | undefined) => {
    rate = next;
  };
  const ended: string[] = [];
  const track = (name: string, call: Promise<unknown>) =>
    call.then(
      () => void ended.push(name),
      () => void ended.push(`${name} failed`),
    );
  return { memory, store, throttle, setRate, pass, sleeping, ended, track };
}

const bytes = (count: number) => new Uint8Array(count);

describe('A store under a bandwidth limit', () => {
  it("sends a second's worth of bytes at once, and the rest at the rate", async () => {
    const { store, pass, ended, track } = setUp(1000);
    track('first', store.put('a', bytes(600)));
    track('second', store.put('b', bytes(400)));
    track('third', store.put('c', bytes(500)));
    track('fourth', store.put('d', bytes(100)));
    await pass(0);
    expect(ended).toEqual(['first', 'second']);
    await pass(499);
    expect(ended).toEqual(['first', 'second']);
    await pass(1);
    expect(ended).toEqual(['first', 'second', 'third']);
    await pass(100);
    expect(ended).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it("saves up at most a second's worth while nothing is sent", async () => {
    const { store, pass, ended, track } = setUp(1000);
    await pass(3_600_000);
    track('first', store.put('a', bytes(1000)));
    track('second', store.put('b', bytes(1000)));
    await pass(999);
    expect(ended).toEqual(['first']);
    await pass(1);
    expect(ended).toEqual(['first', 'second']);
  });

  it('counts both directions together', async () => {
    const { memory, store, pass, ended, track } = setUp(1000);
    await memory.put('there', bytes(1000));
    track('read', store.read('there', { maxBytes: 1000 }));
    await pass(0);
    track('sent', store.put('a', bytes(300)));
    await pass(299);
    expect(ended).toEqual(['read']);
    await pass(1);
    expect(ended).toEqual(['read', 'sent']);
  });

  it('delays parts of uploads, and bytes that were read, by their size', async () => {
    const { memory, store, pass, ended, track } = setUp(1000);
    await memory.put('there', bytes(3000));
    const upload = { key: 'up', uploadId: await store.multipart!.create('up') };
    track('part', store.multipart!.uploadPart(upload, 1, bytes(3000)));
    await pass(1999);
    expect(ended).toEqual([]);
    await pass(1);
    expect(ended).toEqual(['part']);
    track('read', store.read('there', { maxBytes: 3000, range: { start: 1000, end: 1500 } }));
    await pass(499);
    expect(ended).toEqual(['part']);
    await pass(1);
    expect(ended).toEqual(['part', 'read']);
  });

  it('slows streams piece by piece, in both directions', async () => {
    const { memory, store, pass } = setUp(1000);
    let given = 0;
    async function* source() {
      for (; given < 5; given += 1) yield bytes(1000);
    }
    const written = store.putStream('stream', source());
    await pass(0);
    // One was sent, and the second waits.
    expect(given).toBe(1);
    await pass(4000);
    expect(await written).toMatchObject({ written: true });
    expect((await memory.head('stream'))!.sizeBytes).toBe(5000);

    await pass(10_000);
    let receivedBytes = 0;
    const reading = (async () => {
      for await (const piece of (await store.get('stream'))!.body) receivedBytes += piece.byteLength;
    })();
    await pass(3999);
    expect(receivedBytes).toBe(0);
    await pass(1);
    await reading;
    expect(receivedBytes).toBe(5000);
  });

  it('shares the rate with other stores that have the same throttle', async () => {
    const { store, throttle, pass, ended, track } = setUp(1000);
    const other = withThrottle(createMemoryStore(), throttle);
    track('first', store.put('a', bytes(1000)));
    track('second', other.put('b', bytes(1000)));
    await pass(999);
    expect(ended).toEqual(['first']);
    await pass(1);
    expect(ended).toEqual(['first', 'second']);
  });

  it('follows a changed rate, also for waiting calls', async () => {
    const { store, setRate, pass, ended, track } = setUp(undefined);
    track('free', store.put('a', bytes(1_000_000)));
    await pass(0);
    expect(ended).toEqual(['free']);
    setRate(1000);
    track('slow', store.put('b', bytes(1000)));
    track('waits', store.put('c', bytes(100_000)));
    await pass(10_000);
    expect(ended).toEqual(['free', 'slow']);
    setRate(10_000);
    await pass(8000);
    expect(ended).toEqual(['free', 'slow']);
    track('last', store.put('d', bytes(1_000_000)));
    await pass(1000);
    expect(ended).toEqual(['free', 'slow', 'waits']);
    setRate(undefined);
    await pass(1000);
    expect(ended).toEqual(['free', 'slow', 'waits', 'last']);
  });

  it('does not slow calls without content', async () => {
    const { store, sleeping } = setUp(1);
    await store.put('a', bytes(0));
    await store.list({ prefix: '' });
    await store.head('a');
    await store.copy('a', 'b');
    await store.delete(['a', 'b']);
    expect(sleeping()).toBe(0);
  });

  it('frees the place of a call that was stopped while it waited', async () => {
    const { memory, store, pass, ended, track } = setUp(1000);
    const control = new AbortController();
    track('large', store.put('a', bytes(100_000), { signal: control.signal }));
    await pass(0);
    control.abort();
    await pass(0);
    expect(ended).toEqual(['large failed']);
    expect(await memory.head('a')).toBeUndefined();
    track('small', store.put('b', bytes(1000)));
    await pass(0);
    expect(ended).toEqual(['large failed', 'small']);
  });
});

describe('A limit of requests', () => {
  it('delays every request alike, whatever its size', async () => {
    const { ended, memory, pass, throttle, track } = setUp(2);
    const store = withRequestRate(memory, throttle);
    for (const name of ['a', 'b', 'c', 'd', 'e']) void track(name, store.put(name, bytes(1000)));
    void track('head', store.head('a'));
    await pass(0);
    expect(ended).toEqual(['a', 'b']);
    await pass(1000);
    expect(ended).toEqual(['a', 'b', 'c', 'd']);
    await pass(1000);
    expect(ended).toEqual(['a', 'b', 'c', 'd', 'e', 'head']);
  });

  it('stops waiting when the call is stopped, and makes no request then', async () => {
    const { ended, memory, pass, throttle, track } = setUp(1);
    const store = withRequestRate(memory, throttle);
    const stop = new AbortController();
    await store.put('a', bytes(1));
    void track('b', store.put('b', bytes(1), { signal: stop.signal }));
    await pass(0);
    stop.abort();
    await pass(0);
    expect(ended).toEqual(['b failed']);
    expect(await memory.head('b')).toBeUndefined();
  });
});
