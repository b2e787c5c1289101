/**
 * Writes bytes in several buffers to one file without joining, copying or passing them to another thread of
 * ours. Node's own threads write them one call at a time, since concurrent writes to one file spin on its
 * lock in the kernel.
 */
import { writev } from 'node:fs';
import { ASYNC_WRITE_BYTES_MAX } from '../../base/write-fully.ts';

export interface GatheredWriter {
  /** The caller owns the buffers again when it resolves. Throws Node's errors. */
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

async function writeAll(fd: number, buffers: readonly Uint8Array[], offset: number): Promise<void> {
  let at = offset;
  for (let left = buffers; left.length > 0; ) {
    const written = await writeOnce(fd, upTo(left, ASYNC_WRITE_BYTES_MAX), at);
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

function upTo(buffers: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let room = bytes;
  for (const [index, buffer] of buffers.entries()) {
    if (room < buffer.byteLength) return [...buffers.slice(0, index), buffer.subarray(0, room)];
    room -= buffer.byteLength;
  }
  return buffers;
}

/** The rest of the buffers after so many bytes; empty ones are dropped. */
export function after(buffers: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let rest = bytes;
  for (const [index, buffer] of buffers.entries()) {
    if (rest < buffer.byteLength) return [buffer.subarray(rest), ...buffers.slice(index + 1)];
    rest -= buffer.byteLength;
  }
  return [];
}
