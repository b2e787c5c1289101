/**
 * For tests: a link and a server with their own clock, to judge adaptive concurrency.
 *
 * A request takes one round trip, then its bytes share the bandwidth with the others (each at most
 * `connectionBytesPerSecond`). A server with a capacity refuses requests beyond it, as S3 does with 503
 * SlowDown.
 */
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';

export interface VirtualTime {
  readonly clock: Clock;
  /** Lets time pass until the work is done. */
  run<T>(work: Promise<T>): Promise<T>;
}

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

export function createVirtualTime(): VirtualTime {
  let nowMs = 0;
  let seed = 1;
  const timers: Timer[] = [];
  const sleep = (pauseMs: number) =>
    new Promise<void>((fire) => {
      const timer = { atMs: nowMs + pauseMs, fire };
      const after = timers.findIndex((other) => other.atMs > timer.atMs);
      timers.splice(after < 0 ? timers.length : after, 0, timer);
    });
  return {
    clock: {
      nowMs: () => nowMs,
      monotonicMs: () => nowMs,
      sleep,
      random: () => {
        seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
        return seed / 2 ** 32;
      },
    },
    run: async (work) => {
      let isDone = false;
      const done = () => {
        isDone = true;
      };
      work.then(done, done);
      for (;;) {
        await new Promise((resume) => setImmediate(resume));
        if (isDone) return work;
        const next = timers.shift();
        if (next === undefined) throw new Error('No event is left, but the work is not done.');
        nowMs = next.atMs;
        next.fire();
      }
    },
  };
}

export interface LinkOptions {
  readonly roundTripMs: number;
  readonly bytesPerSecond: number;
  readonly connectionBytesPerSecond?: number;
  /** Requests that the server accepts at once; more are refused after a round trip. */
  readonly capacity?: number;
}

export interface SimulatedLink {
  request(bytes: number): Promise<void>;
  /** Changes the link from now on. */
  change(options: Partial<LinkOptions>): void;
  readonly refused: () => number;
  readonly mostAtOnce: () => number;
}

interface Flow {
  left: number;
  readonly done: () => void;
}

export function createSimulatedLink(clock: Clock, initial: LinkOptions): SimulatedLink {
  let link = initial;
  const flows = new Set<Flow>();
  let updatedMs = 0;
  let turn = 0;
  let atServer = 0;
  let refused = 0;
  let mostAtOnce = 0;

  const rate = () =>
    Math.min(link.connectionBytesPerSecond ?? Number.POSITIVE_INFINITY, link.bytesPerSecond / flows.size) /
    1_000;

  const advance = () => {
    const moved = (clock.monotonicMs() - updatedMs) * rate();
    updatedMs = clock.monotonicMs();
    for (const flow of flows) {
      flow.left -= moved;
      if (flow.left > 1e-6) continue;
      flows.delete(flow);
      flow.done();
    }
  };

  /** Wakes when the next flow ends, unless something changes before. */
  const schedule = () => {
    turn += 1;
    const mine = turn;
    let least = Number.POSITIVE_INFINITY;
    for (const flow of flows) least = Math.min(least, flow.left);
    if (least === Number.POSITIVE_INFINITY) return;
    void clock.sleep(least / rate()).then(() => {
      if (mine !== turn) return;
      advance();
      schedule();
    });
  };

  const transfer = (bytes: number) =>
    new Promise<void>((done) => {
      advance();
      flows.add({ left: bytes, done });
      schedule();
    });

  return {
    request: async (bytes) => {
      atServer += 1;
      mostAtOnce = Math.max(mostAtOnce, atServer);
      try {
        const isRefused = atServer > (link.capacity ?? Number.POSITIVE_INFINITY);
        await clock.sleep(link.roundTripMs * (0.95 + 0.1 * clock.random()));
        if (isRefused) {
          refused += 1;
          throw new DrayError('slowDown', 'The remote asks for fewer requests.', { retry: 'backoff' });
        }
        await transfer(bytes);
      } finally {
        atServer -= 1;
      }
    },
    change: (options) => {
      advance();
      link = { ...link, ...options };
      schedule();
    },
    refused: () => refused,
    mostAtOnce: () => mostAtOnce,
  };
}
