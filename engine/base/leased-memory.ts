/**
 * Shared memory that is used again and again, each span of it under a permit of a budget. Fresh memory costs a page fault for every
 * 4 KiB, and buffers that move between threads set off the garbage collector; threads see shared memory as it is.
 *
 * Shared memory cannot be taken away from those who still look at it. So who releases a span has to be done with it, the
 * network and other threads included.
 */
import { DrayError } from '../api/error.ts';
import { checkAborted } from './abort.ts';
import type { Budget, Permit } from './budget.ts';
import { type ByteArena, createByteArena, type Span } from './byte-arena.ts';

/** A span and its permit, from taking to giving back. */
export interface Lease {
  readonly span: Span;
  readonly bytes: Uint8Array;
  /** Idempotent. */
  release(): void;
}

export interface LeasedMemory<M extends SharedMemory = SharedMemory> {
  /** For threads. Made when it is first needed. */
  readonly memory: () => M;
  /** At least `bytes` bytes, of any content. Rejects with `aborted`, and with `unsupported` above the largest that was foreseen. */
  take(bytes: number, signal: AbortSignal): Promise<Lease>;
}

export interface LeasedMemoryOptions<M extends SharedMemory> {
  readonly budget: Budget;
  /** The most that `take` is asked for. It may be more than the budget's limit: a giant passes alone. */
  readonly largestBytes: number;
  /** Makes the memory. What is never written to takes none of the machine's. */
  readonly open: (lengthBytes: number) => M;
  /** The most that `open` can make. */
  readonly lengthBytesMax?: number;
}

export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  /** Where in the buffer the length that was asked for begins. */
  readonly start: number;
}

const SPAN_STEP_BYTES = 64 * 1024;

export function createLeasedMemory<M extends SharedMemory>(options: LeasedMemoryOptions<M>): LeasedMemory<M> {
  const { budget } = options;
  // Half as much again as may be out, for the holes between spans.
  const wantedBytes = Math.max(wholeSteps(options.largestBytes), Math.ceil(1.5 * budget.limit));
  const length = Math.min(wholeSteps(wantedBytes), options.lengthBytesMax ?? Number.MAX_SAFE_INTEGER);
  let opened: { readonly memory: M; readonly arena: ByteArena } | undefined;
  let waiters: (() => void)[] = [];

  const open = () => {
    if (opened === undefined) {
      const memory = options.open(length);
      opened = { memory, arena: createByteArena({ offset: memory.start, length }) };
    }
    return opened;
  };
  const changed = (): void => {
    const woken = waiters;
    waiters = [];
    for (const wake of woken) wake();
  };
  const leaseOf = (span: Span, permit: Permit): Lease => {
    const { arena, memory } = open();
    let isOut = true;
    return {
      span,
      bytes: new Uint8Array(memory.buffer, span.offset, span.length),
      release() {
        if (!isOut) return;
        isOut = false;
        arena.free(span);
        permit.release();
        changed();
      },
    };
  };

  return {
    memory: () => open().memory,
    async take(bytes, signal) {
      const steps = wholeSteps(bytes);
      if (steps > length)
        throw new DrayError('unsupported', `${bytes} bytes are more than can be held at once.`);
      const permit = await budget.acquire(steps, signal);
      try {
        for (;;) {
          checkAborted(signal);
          const span = open().arena.take(steps);
          if (span !== undefined) return leaseOf(span, permit);
          // Holes that are too small, though enough is free: spans that are out come back and join them.
          await changeOrAbort(signal, (wake) => waiters.push(wake));
        }
      } catch (error) {
        permit.release();
        throw error;
      }
    },
  };
}

function changeOrAbort(signal: AbortSignal, onChange: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      signal.removeEventListener('abort', wake);
      resolve();
    };
    signal.addEventListener('abort', wake, { once: true });
    onChange(wake);
  });
}

function wholeSteps(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / SPAN_STEP_BYTES)) * SPAN_STEP_BYTES;
}
