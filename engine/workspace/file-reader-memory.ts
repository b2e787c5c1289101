/**
 * Buffers that are filled again and again, each under a permit of the memory budget. Fresh memory costs a page fault
 * for every 4 KiB, which for a large read costs as much as hashing it.
 */
import type { Budget, Permit } from '../base/budget.ts';

/** A buffer and its permit, from taking to giving back. */
export interface Lease {
  /** Undefined while a thread has it. */
  buffer: ArrayBuffer | undefined;
  /** Ends the lease and empties every view on its buffer. Idempotent. */
  release(): void;
}

export interface ReadMemory {
  /** At least `bytes` bytes; at most a quarter more. Contents are arbitrary. */
  take(bytes: number, signal: AbortSignal): Promise<Lease>;
}

/** Buffers beyond this are left to the garbage collector. */
const IDLE_BYTES_MAX = 128 * 1024 * 1024;
const BUFFER_BYTES_MIN = 64 * 1024;

export function createReadMemory(budget: Budget): ReadMemory {
  const idle = new Map<number, ArrayBuffer[]>();
  let idleBytes = 0;

  const lease = (buffer: ArrayBuffer, permit: Permit): Lease => {
    const sizeBytes = buffer.byteLength;
    let isOut = true;
    const self: Lease = {
      buffer,
      release() {
        if (!isOut) return;
        isOut = false;
        // Detaches the views: whoever still reads them finds nothing rather than another file's bytes.
        const free = self.buffer?.transfer();
        self.buffer = undefined;
        if (free !== undefined && idleBytes + sizeBytes <= IDLE_BYTES_MAX) {
          idleBytes += sizeBytes;
          const kept = idle.get(sizeBytes);
          if (kept === undefined) idle.set(sizeBytes, [free]);
          else kept.push(free);
        }
        permit.release();
      },
    };
    return self;
  };

  return {
    async take(bytes, signal) {
      const sizeBytes = bufferBytesFor(bytes);
      const permit = await budget.acquire(sizeBytes, signal);
      const kept = idle.get(sizeBytes)?.pop();
      if (kept !== undefined) idleBytes -= sizeBytes;
      return lease(kept ?? new ArrayBuffer(sizeBytes), permit);
    },
  };
}

/** Four sizes to each doubling, so that buffers find new use and little of them is wasted. */
function bufferBytesFor(bytes: number): number {
  const wanted = Math.max(bytes, BUFFER_BYTES_MIN);
  const step = 2 ** (Math.floor(Math.log2(wanted)) - 2);
  return Math.ceil(wanted / step) * step;
}
