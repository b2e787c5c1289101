/**
 * Bytes that lie in several buffers, written to one file as they are: nothing is joined, copied or handed to another thread of ours. Node's own
 * threads write them, one call after another, since writes to one file at once spin on its lock in the kernel.
 */
import { writev } from 'node:fs';

export interface GatheredWriter {
  /** The buffers are the caller's again when it resolves. Throws Node's errors. */
  write(offset: number, buffers: readonly Uint8Array[]): Promise<void>;
}

export function openGatheredWriter(fd: number): GatheredWriter {
  let last: Promise<void> = Promise.resolve();
  return {
    write(offset, buffers) {
      const work = last.then(() => writeAll(fd, buffers, offset));
      last = work.catch(() => {});
      return work;
    },
  };
}

/** One call is enough but for a full disk or a signal. */
async function writeAll(fd: number, buffers: readonly Uint8Array[], offset: number): Promise<void> {
  let at = offset;
  for (let left = buffers; left.length > 0; ) {
    const written = await writeOnce(fd, left, at);
    at += written;
    left = after(left, written);
  }
}

function writeOnce(fd: number, buffers: readonly Uint8Array[], offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(fd, buffers, offset, (error, written) => {
      if (error) reject(error);
      else resolve(written);
    });
  });
}

/** What is left of the buffers after so many bytes; empty ones go too. */
export function after(buffers: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let rest = bytes;
  for (const [index, buffer] of buffers.entries()) {
    if (rest < buffer.byteLength) return [buffer.subarray(rest), ...buffers.slice(index + 1)];
    rest -= buffer.byteLength;
  }
  return [];
}
