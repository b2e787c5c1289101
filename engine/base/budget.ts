/**
 * A counting semaphore for anything measured in whole units: bytes in flight, requests, open files. Fair:
 * first come, first served.
 */
import { DrayError } from '../api/error.ts';

/** Released by its end, by `using`, or before. */
export interface Permit extends Disposable {
  /** Idempotent. */
  release(): void;
}

interface Waiter {
  readonly units: number;
  readonly grant: () => void;
}

export class Budget {
  readonly #waiters: Waiter[] = [];
  readonly #watched = new Map<
    AbortSignal,
    { readonly stops: Set<() => void>; readonly listener: () => void }
  >();
  #limit: number;
  #used = 0;

  /** @param limit Units that may be out at once; at least 1. */
  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  get used(): number {
    return this.#used;
  }

  get limit(): number {
    return this.#limit;
  }

  /** A lower limit takes effect as permits are released. */
  setLimit(limit: number): void {
    this.#limit = Math.max(1, limit);
    this.#grantWaiting();
  }

  /**
   * Waits until `units` fit. A request above the whole limit waits until nothing else is out, then passes
   * alone.
   */
  async acquire(units: number, signal?: AbortSignal): Promise<Permit> {
    if (signal?.aborted) throw new DrayError('aborted', 'Stopped on request.');
    if (this.#waiters.length > 0 || !this.#fits(units)) await this.#wait(units, signal);
    else this.#used += units;
    let isOut = true;
    const release = () => {
      if (!isOut) return;
      isOut = false;
      this.#used -= units;
      this.#grantWaiting();
    };
    return { release, [Symbol.dispose]: release };
  }

  /**
   * Takes the units if they fit now. Non-blocking, for hot loops that would otherwise allocate a promise per
   * item; pair it with `giveBack`.
   */
  takeNow(units: number): boolean {
    if (this.#waiters.length > 0 || !this.#fits(units)) return false;
    this.#used += units;
    return true;
  }

  /** Returns units of `takeNow`, or of a permit in place of its `release`. */
  giveBack(units: number): void {
    this.#used -= units;
    this.#grantWaiting();
  }

  #fits(units: number): boolean {
    return this.#used === 0 || this.#used + units <= this.#limit;
  }

  #wait(units: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        const at = this.#waiters.indexOf(waiter);
        if (at >= 0) this.#waiters.splice(at, 1);
        reject(new DrayError('aborted', 'Stopped on request.'));
        this.#grantWaiting();
      };
      const waiter: Waiter = {
        units,
        grant: () => {
          if (signal) this.#unwatch(signal, onAbort);
          this.#used += units;
          resolve();
        },
      };
      if (signal) this.#watch(signal, onAbort);
      this.#waiters.push(waiter);
    });
  }

  /**
   * One abort listener for all waiters of a signal: adding or removing a listener scans all listeners of the
   * signal.
   */
  #watch(signal: AbortSignal, onAbort: () => void): void {
    const watching = this.#watched.get(signal);
    if (watching) {
      watching.stops.add(onAbort);
      return;
    }
    const stops = new Set([onAbort]);
    const listener = () => {
      this.#watched.delete(signal);
      for (const stop of stops) stop();
    };
    signal.addEventListener('abort', listener, { once: true });
    this.#watched.set(signal, { stops, listener });
  }

  #unwatch(signal: AbortSignal, onAbort: () => void): void {
    const watching = this.#watched.get(signal);
    if (!watching) return;
    watching.stops.delete(onAbort);
    if (watching.stops.size > 0) return;
    signal.removeEventListener('abort', watching.listener);
    this.#watched.delete(signal);
  }

  #grantWaiting(): void {
    for (let first = this.#waiters[0]; first && this.#fits(first.units); first = this.#waiters[0]) {
      this.#waiters.shift();
      first.grant();
    }
  }
}
