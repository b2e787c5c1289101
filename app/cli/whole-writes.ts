/**
 * Standard output that is a file is written whole, or fails. Node's own stream of a file takes a write that ended early, at the end of a
 * disk, for a whole one: what is missing is told by the next write, if there is one (nodejs/node, `lib/internal/fs/sync_write_stream.js`).
 */
import { fstatSync, writeSync } from 'node:fs';

/** Before anything is written. */
export function writeOutputWhole(): void {
  const { stdout } = process;
  if (!isFile(stdout.fd)) return;
  stdout._write = (chunk: Uint8Array, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(stdout.fd, chunk, at);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
