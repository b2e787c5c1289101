/** Bytes into an open file, in calls of the size that costs the kernel least. */
import { writeSync } from 'node:fs';

/**
 * One call takes at most so many bytes. More at once make the kernel take larger runs of memory for its page cache, which are not those that
 * each processor keeps at hand (up to 32 KiB, Linux 6.18), and on a virtual machine often those that the host has taken back: a copy of 10 x 100 MB
 * out of a bucket took 0.75 s of system time in calls of 32 KiB, 1.6 s of 256 KiB, and 2.8 s of 1 MiB.
 */
const CALL_BYTES = 32 * 1024;
/** The same where each call goes to another thread and back: fewer, which pays although the kernel does more. */
export const ASYNC_WRITE_BYTES_MAX = 256 * 1024;

/** Blocking. One call for each part is enough but for a full disk or a signal. Throws Node's errors. */
export function writeFully(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    const length = Math.min(bytes.length - done, CALL_BYTES);
    done += writeSync(fd, bytes, done, length, position + done);
  }
}
