/**
 * The memory that files are read into: spans of one shared memory, each under a permit of the memory budget. Spans are used
 * again and again, since fresh memory costs a page fault for every 4 KiB.
 *
 * Shared memory cannot be taken away from those who still look at it. So who releases a span has to be done with it, the
 * network and other threads included: what is sent is told apart by its checksum alone.
 */
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import type { Budget, Permit } from '../base/budget.ts';
import { type ByteArena, createByteArena, type Span } from '../base/byte-arena.ts';
import {
  CHUNKER_MEMORY_START,
  type ChunkerMemory,
  createChunkerMemory,
  viewMemory,
} from './chunker-memory.ts';

/** A span and its permit, from taking to giving back. */
export interface Lease {
  readonly span: Span;
  readonly bytes: Uint8Array;
  /** Idempotent. */
  release(): void;
}

export interface ReadMemory {
  /** For threads. Made when it is first asked for. */
  readonly shared: ChunkerMemory;
  /** At least `bytes` bytes, of any content. Rejects with `aborted`. */
  take(bytes: number, signal: AbortSignal): Promise<Lease>;
}

const SPAN_STEP_BYTES = 64 * 1024;
const SHARED_BYTES_MAX = 4 * 1024 ** 3 - CHUNKER_MEMORY_START;

/**
 * @param largestBytes The most that `take` is asked for. It may be more than the budget's limit: a giant passes alone.
 */
export function createReadMemory(budget: Budget, largestBytes: number): ReadMemory {
  // Half as much again as may be out, for the holes between spans.
  const wanted = Math.max(wholeSteps(largestBytes), 1.5 * budget.limit);
  const whole: Span = { offset: CHUNKER_MEMORY_START, length: Math.min(wanted, SHARED_BYTES_MAX) };
  const arena: ByteArena = createByteArena(whole);
  let shared: ChunkerMemory | undefined;
  let waiters: (() => void)[] = [];

  const open = (): ChunkerMemory => {
    shared ??= createChunkerMemory(whole.length);
    return shared;
  };
  const leaseOf = (span: Span, permit: Permit): Lease => {
    let isOut = true;
    return {
      span,
      bytes: viewMemory(open(), span.offset, span.length),
      release() {
        if (!isOut) return;
        isOut = false;
        arena.free(span);
        permit.release();
        const woken = waiters;
        waiters = [];
        for (const wake of woken) wake();
      },
    };
  };

  return {
    get shared() {
      return open();
    },
    async take(bytes, signal) {
      const length = wholeSteps(bytes);
      if (length > whole.length) {
        throw new DrayError('unsupported', `${bytes} bytes are more than can be held at once.`);
      }
      const permit = await budget.acquire(length, signal);
      for (;;) {
        const span = arena.take(length);
        if (span !== undefined) return leaseOf(span, permit);
        // Holes that are too small, though enough is free: spans that are out come back and join them.
        await new Promise<void>((resolve) => {
          waiters.push(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        if (!signal.aborted) continue;
        permit.release();
        checkAborted(signal);
      }
    },
  };
}

function wholeSteps(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / SPAN_STEP_BYTES)) * SPAN_STEP_BYTES;
}
