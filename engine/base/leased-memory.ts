/**
 * Reusable shared memory, each span under a permit of a budget. Fresh memory costs a page fault per 4 KiB,
 * and moving buffers between threads triggers garbage collection; threads read shared memory in place.
 *
 * Shared memory cannot be revoked. When a span is released, its holder, the network and other threads must
 * have finished with it.
 */
import { DrayError } from '../api/error.ts';
import { checkAborted, unwatchAbort, watchAbort } from './abort.ts';
import type { Budget, Permit } from './budget.ts';
import { type ByteArena, createByteArena, type Span } from './byte-arena.ts';

/** A span and its permit, from `take` to `release`. */
export interface Lease extends Disposable {
  readonly span: Span;
  readonly bytes: Uint8Array;
  /** Idempotent. */
  release(): void;
}

export interface LeasedMemory<M extends SharedMemory = SharedMemory> {
  /** The memory itself, for threads. Created on first use. */
  readonly memory: () => M;
  /**
   * At least `bytes` bytes with arbitrary content. Rejects with `aborted`, and with `unsupported` above
   * `largestBytes`.
   */
  take(bytes: number, signal: AbortSignal): Promise<Lease>;
}

export interface LeasedMemoryOptions<M extends SharedMemory> {
  readonly budget: Budget;
  /** The largest size that `take` accepts. It may exceed the budget's limit: such a request passes alone. */
  readonly largestBytes: number;
  /** Creates the memory. Pages that are never written use no RAM. */
  readonly open: (lengthBytes: number) => M;
  /** The most that `open` can create. */
  readonly lengthBytesMax?: number;
}

export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  /** The offset in the buffer where the requested length begins. */
  readonly start: number;
}

const SPAN_STEP_BYTES = 64 * 1024;

export function createLeasedMemory<M extends SharedMemory>(options: LeasedMemoryOptions<M>): LeasedMemory<M> {
  const { budget } = options;
  // Half as much again as the limit, for the gaps between spans.
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
    const release = () => {
      if (!isOut) return;
      isOut = false;
      arena.free(span);
      permit.release();
      changed();
    };
    const bytes = new Uint8Array(memory.buffer, span.offset, span.length);
    return { span, bytes, release, [Symbol.dispose]: release };
  };

  return {
    memory: () => open().memory,
    async take(bytes, signal) {
      const steps = wholeSteps(bytes);
      if (steps > length)
        throw new DrayError('unsupported', `${bytes} bytes exceed the largest allowed memory block.`);
      const permit = await budget.acquire(steps, signal);
      try {
        for (;;) {
          checkAborted(signal);
          const span = open().arena.take(steps);
          if (span !== undefined) return leaseOf(span, permit);
          // Enough is free, but in spans that are too small: released spans merge with them.
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
      unwatchAbort(signal, wake);
      resolve();
    };
    watchAbort(signal, wake);
    onChange(wake);
  });
}

function wholeSteps(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / SPAN_STEP_BYTES)) * SPAN_STEP_BYTES;
}
