/**
 * A counting semaphore for anything measured in whole units: bytes in flight, requests, open files. Fair:
 * first come, first served.
 */
import { DrayError } from '../api/error.ts';
import { unwatchAbort, watchAbort } from './abort.ts';

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
          if (signal) unwatchAbort(signal, onAbort);
          this.#used += units;
          resolve();
        },
      };
      if (signal) watchAbort(signal, onAbort);
      this.#waiters.push(waiter);
    });
  }

  #grantWaiting(): void {
    for (let first = this.#waiters[0]; first && this.#fits(first.units); first = this.#waiters[0]) {
      this.#waiters.shift();
      first.grant();
    }
  }
}
