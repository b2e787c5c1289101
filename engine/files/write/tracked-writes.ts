/** The writes to one open file: which are in flight, and which pieces of the file are written. */
import { startWriteback } from '../disk/sync-disk.ts';

/** 2, 8 and 32 MB cost the same here; without write-back, the final sync took twice as long. */
const WRITEBACK_BYTES = 8 * 1024 * 1024;

export interface TrackedWrites {
  /** Written pieces: length by offset. */
  readonly pieces: Map<number, number>;
  /** Tracks a write, and records its piece once it has succeeded. */
  note(offset: number, length: number, work: Promise<unknown>): Promise<void>;
  /** Tracks a write whose piece counts only later. */
  track(work: Promise<void>, length: number): Promise<void>;
  /** Waits for the writes in flight; throws the first failure. */
  allWritten(): Promise<void>;
  /** Waits for the writes in flight, whether they succeed or fail. */
  settled(): Promise<void>;
}

/** Also starts the kernel's write-back as bytes arrive. @param fd Must stay open until `settled` resolves. */
export function trackWrites(fd: number): TrackedWrites {
  const pieces = new Map<number, number>();
  const writing = new Set<Promise<unknown>>();
  /** Bytes written since the last write-back started. */
  let unstartedBytes = 0;

  function hold(work: Promise<void>): void {
    writing.add(work);
    const forget = () => void writing.delete(work);
    work.then(forget, forget);
  }

  function track(work: Promise<void>, length: number): Promise<void> {
    const written = work.then(() => {
      unstartedBytes += length;
      if (unstartedBytes < WRITEBACK_BYTES) return;
      unstartedBytes = 0;
      hold(startWriteback(fd));
    });
    hold(written);
    return written;
  }

  return {
    pieces,
    track,
    note: (offset, length, work) =>
      track(
        work.then(() => void pieces.set(offset, length)),
        length,
      ),
    allWritten: async () => void (await Promise.all(writing)),
    settled: async () => void (await Promise.allSettled(writing)),
  };
}
