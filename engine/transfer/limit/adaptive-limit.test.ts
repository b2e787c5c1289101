import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { withRetry } from '../../remotes/wrappers/with-retry.ts';
import { type AdaptiveLimitOptions, createAdaptiveLimit } from './adaptive-limit.ts';
import { createSimulatedLink, createVirtualTime, type LinkOptions } from './network-simulator.fixture.ts';

const MB = 1_000_000;

function simulate(link: LinkOptions, options: Omit<AdaptiveLimitOptions, 'clock'> = {}) {
  const time = createVirtualTime();
  const network = createSimulatedLink(time.clock, link);
  const limit = createAdaptiveLimit({ clock: time.clock, ...options });
  const levels: number[] = [];

  /** Repeats a refused request after a pause, as the retry wrapper does. */
  const send = async (bytes: number): Promise<void> => {
    for (;;) {
      try {
        await limit.run(() => network.request(bytes), { bytes });
        if (levels.at(-1) !== limit.current) levels.push(limit.current);
        return;
      } catch (error) {
        if (!(error instanceof DrayError) || error.retry === 'no') throw error;
        await time.clock.sleep(100);
      }
    }
  };

  return {
    limit,
    network,
    levels,
    /** Sends all of them and returns the time that it took. */
    sendAll: async (count: number, bytesOf: number | ((at: number) => number)): Promise<number> => {
      const startMs = time.clock.nowMs();
      const sizes = Array.from({ length: count }, (_, at) =>
        typeof bytesOf === 'number' ? bytesOf : bytesOf(at),
      );
      await time.run(Promise.all(sizes.map(send)));
      return time.clock.nowMs() - startMs;
    },
  };
}

describe('the adaptive limit, on simulated links', () => {
  it('reaches high concurrency within a few round trips on tiny requests over 30 ms', async () => {
    const { limit, levels, sendAll } = simulate({ roundTripMs: 30, bytesPerSecond: 100 * MB });
    const tookMs = await sendAll(1_000, 1_024);
    expect(levels.slice(0, 4)).toEqual([19, 26, 33, 40]);
    expect(levels.at(-1)).toBe(64);
    expect(limit.stats().highest).toBe(64);
    // 64 at once from the first would take 480 ms; 12 all the time 2,500 ms.
    expect(tookMs).toBeLessThan(1.15 * 480);
  });

  it('needs two round trips more than an immediate start with hundreds, on tiny requests', async () => {
    const { levels, sendAll } = simulate(
      { roundTripMs: 30, bytesPerSecond: 100 * MB },
      { initial: 32, max: 256 },
    );
    const tookMs = await sendAll(1_000, 1_024);
    expect(levels.at(-1)).toBe(256);
    // 256 at once from the first: four round trips. Here 32, 128, then 256 at once.
    expect(tookMs).toBeLessThan(6.2 * 30);
  });

  it('keeps few in flight near a server that answers at once, however many wait', async () => {
    // Half a millisecond round trip, and 2,000 answers per second: one in flight is enough.
    const { levels, sendAll } = simulate(
      { roundTripMs: 0.5, bytesPerSecond: 2_048_000 },
      { initial: 32, max: 256 },
    );
    const tookMs = await sendAll(4_000, 1_024);
    // All share the server here, so the fastest of the first 32 has queued as long as the last.
    expect(Math.max(...levels)).toBeLessThanOrEqual(128);
    expect(levels.at(-1)).toBeLessThanOrEqual(16);
    expect(tookMs).toBeLessThan(1.02 * 2_000);
  });

  it('does not grow at the start while this process is busy over three quarters of the time', async () => {
    // 0: not measured, as in the main process of Electron.
    for (const idleShare of [0.2, 0.3, 0]) {
      const time = createVirtualTime();
      const network = createSimulatedLink(time.clock, { roundTripMs: 30, bytesPerSecond: 100 * MB });
      const idleMs = () => idleShare * time.clock.monotonicMs();
      const limit = createAdaptiveLimit({ clock: time.clock, idleMs, initial: 32, max: 256 });
      const requests = Array.from({ length: 60 }, () =>
        limit.run(() => network.request(1_024), { bytes: 1_024 }),
      );
      await time.run(Promise.all(requests));
      expect(limit.stats().highest > 32).toBe(idleShare !== 0.2);
    }
  });

  it('keeps as many in flight as a high latency needs, while nothing queues', async () => {
    const { limit, sendAll } = simulate(
      { roundTripMs: 100, bytesPerSecond: 1_000 * MB },
      { initial: 32, max: 256 },
    );
    await sendAll(20_000, 1_024);
    expect(limit.current).toBe(256);
  });

  it('fills a fast, high-latency link whose single connections are slow', async () => {
    const link = { roundTripMs: 100, bytesPerSecond: 1_000 * MB, connectionBytesPerSecond: 16 * MB };
    const { sendAll } = simulate(link);
    const tookMs = await sendAll(1_000, 8 * MB);
    // With 64 at once, each request takes 600 ms: 9.4 s.
    expect(tookMs).toBeLessThan(1.35 * 9_400);
  });

  it('keeps the throughput of a slow link with few waiting requests', async () => {
    const { levels, sendAll } = simulate({ roundTripMs: 20, bytesPerSecond: MB });
    const tookMs = await sendAll(300, MB);
    expect(tookMs).toBeLessThan(1.03 * 300_000);
    expect(levels.slice(-4).every((level) => level <= 6)).toBe(true);
  });

  it('fills a link with a mix of large and tiny requests', async () => {
    const { sendAll } = simulate({ roundTripMs: 30, bytesPerSecond: 100 * MB });
    const tookMs = await sendAll(3_000, (at) => (at % 10 === 0 ? 2 * MB : 2_000));
    expect(tookMs).toBeLessThan(1.1 * 6_054);
  });

  it('settles below the capacity of a server, and loses little to refusals', async () => {
    const { limit, network, levels, sendAll } = simulate({
      roundTripMs: 30,
      bytesPerSecond: 100 * MB,
      capacity: 20,
    });
    const tookMs = await sendAll(5_000, 1_024);
    expect(network.refused()).toBeLessThan(0.05 * 5_000);
    // Twenty at once without a single refusal would take 7.5 s.
    expect(tookMs).toBeLessThan(1.3 * 7_500);
    const cutBelow = levels.findIndex((level, at) => level <= 20 && at > 0 && levels[at - 1]! > 20);
    expect(cutBelow).toBeGreaterThan(0);
    // A trial uses a quarter more.
    expect(Math.max(...levels.slice(cutBelow))).toBeLessThanOrEqual(25);
    expect(limit.stats().cuts).toBeGreaterThan(0);
  });

  it('recovers when a server accepts more again', async () => {
    const { limit, network, sendAll } = simulate({ roundTripMs: 30, bytesPerSecond: 100 * MB, capacity: 10 });
    await sendAll(1_000, 1_024);
    expect(limit.current).toBeLessThanOrEqual(12);
    network.change({ capacity: 1_000 });
    await sendAll(6_000, 1_024);
    expect(limit.current).toBeGreaterThanOrEqual(40);
  });

  it('follows a link that becomes slow and fast again', async () => {
    const { limit, network, sendAll } = simulate({
      roundTripMs: 50,
      bytesPerSecond: 400 * MB,
      connectionBytesPerSecond: 10 * MB,
    });
    await sendAll(1_500, MB);
    const before = limit.current;
    expect(before).toBeGreaterThanOrEqual(32);
    network.change({ bytesPerSecond: 20 * MB });
    await sendAll(1_500, MB);
    expect(limit.current).toBeLessThan(before / 2);
    network.change({ bytesPerSecond: 400 * MB });
    await sendAll(4_000, MB);
    expect(limit.current).toBeGreaterThanOrEqual(24);
  });

  it('keeps a fixed number, and never leaves its bounds', async () => {
    const fixed = simulate({ roundTripMs: 30, bytesPerSecond: 100 * MB }, { fixed: 5 });
    await fixed.sendAll(300, 1_024);
    expect(fixed.levels).toEqual([5]);
    expect(fixed.network.mostAtOnce()).toBe(5);

    const bounded = simulate(
      { roundTripMs: 30, bytesPerSecond: 100 * MB, capacity: 4 },
      { min: 3, max: 9, initial: 6 },
    );
    await bounded.sendAll(500, 1_024);
    expect(Math.min(...bounded.levels)).toBeGreaterThanOrEqual(3);
    expect(bounded.network.mostAtOnce()).toBeLessThanOrEqual(9);
  });

  it('learns nothing from a caller with little to do', async () => {
    const { limit, sendAll } = simulate({ roundTripMs: 30, bytesPerSecond: 100 * MB });
    for (let turn = 0; turn < 40; turn += 1) await sendAll(3, 1_024);
    expect(limit.current).toBe(12);
  });
});

describe('the adaptive limit', () => {
  const clock = createVirtualTime().clock;

  it('runs tasks first come, first served, and passes results and errors on', async () => {
    const limit = createAdaptiveLimit({ clock, fixed: 1 });
    const order: number[] = [];
    const results = await Promise.allSettled(
      [1, 2, 3].map((turn) =>
        limit.run(
          async () => {
            order.push(turn);
            if (turn === 2) throw new Error('two');
            return turn;
          },
          { bytes: 0 },
        ),
      ),
    );
    expect(order).toEqual([1, 2, 3]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(limit.stats()).toMatchObject({ completed: 2, failed: 1, inFlight: 0 });
  });

  it('drops a waiting task when its signal fires, and passes the signal to a running one', async () => {
    const limit = createAdaptiveLimit({ clock, fixed: 1 });
    const stop = new AbortController();
    let finish = () => {};
    const first = limit.run(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
      { bytes: 0 },
    );
    let hasRun = false;
    const second = limit.run(
      async () => {
        hasRun = true;
      },
      { bytes: 0, signal: stop.signal },
    );
    stop.abort();
    await expect(second).rejects.toMatchObject({ code: 'aborted' });
    finish();
    await first;
    expect(hasRun).toBe(false);
    const given = await limit.run(async (signal) => signal, {
      bytes: 0,
      signal: new AbortController().signal,
    });
    expect(given).toBeInstanceOf(AbortSignal);
  });

  it('cuts once per level: most for a SlowDown, less for a failure, not for a plain error', async () => {
    const failWith = async (retry: 'no' | 'retry' | 'backoff') => {
      const limit = createAdaptiveLimit({ clock, initial: 32 });
      const fail = () =>
        limit.run(
          async () => {
            await Promise.resolve();
            throw new DrayError('remoteFailed', 'no', { retry });
          },
          { bytes: 0 },
        );
      await Promise.allSettled(Array.from({ length: 20 }, fail));
      return limit.current;
    };
    expect(await failWith('backoff')).toBe(16);
    expect(await failWith('retry')).toBe(24);
    expect(await failWith('no')).toBe(32);
  });

  it('counts failures that a retry wrapper hides, and those of one congestion as one', async () => {
    const limit = createAdaptiveLimit({ clock, initial: 32 });
    for (let turn = 0; turn < 32; turn += 1) limit.report('backoff');
    expect(limit.current).toBe(16);
    await limit.run(async () => {}, { bytes: 0 });
    limit.report('backoff');
    expect(limit.current).toBe(8);
  });

  it('is notified by the retry wrapper of a SlowDown that the wrapper repeated', async () => {
    const time = createVirtualTime();
    const limit = createAdaptiveLimit({ clock: time.clock, initial: 32 });
    const memory = createMemoryStore();
    let refusals = 1;
    const busy: ObjectStore = {
      ...memory,
      put: async (...args) => {
        refusals -= 1;
        if (refusals >= 0) throw new DrayError('slowDown', 'Fewer, please.', { retry: 'backoff' });
        return memory.put(...args);
      },
    };
    const store = withRetry(busy, { clock: time.clock, onRetry: (error) => limit.report(error.retry) });
    const outcome = await time.run(limit.run(() => store.put('key', new Uint8Array(1)), { bytes: 1 }));
    expect(outcome.written).toBe(true);
    expect(limit.stats()).toMatchObject({ current: 16, cuts: 1, failed: 0 });
  });

  it('keeps cutting, slowly, while nothing succeeds', () => {
    const limit = createAdaptiveLimit({ clock, initial: 32 });
    for (let turn = 0; turn < 100; turn += 1) limit.report('backoff');
    expect(limit.current).toBe(2);
  });
});
