/**
 * Reads local files for plain copies: small ones whole, large ones by ranges. Both detect changes during the
 * read.
 */
import { closeSync, constants, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { DrayError } from '../../api/error.ts';
import { fileToken } from '../../model/tree-item.ts';
import { checkUnchanged, FileFailure, openFile, readError, readStatOf } from './open-file.ts';
import type { ReadStat } from './reader-types.ts';

export type { ReadStat };

/** The token of a tree item from a file's stat; '' while the mtime is too young to prove anything. */
export function tokenOf(stat: ReadStat): string {
  return stat.isRacy ? '' : fileToken(stat);
}

export interface SmallFile {
  readonly bytes: Uint8Array;
  readonly stat: ReadStat;
  /** Permission bits. */
  readonly mode: number;
}

const PERMISSION_BITS = 0o7777n;

export interface ReadSmallOptions {
  /** Receives the bytes, if they fit. */
  readonly into?: Uint8Array;
  /** A larger file has changed since it was listed. */
  readonly bytesMax: number;
}

/**
 * Reads the whole file by blocking calls, in one read when `into` is given or the file is small.
 * @throws DrayError `io` with `data.reason` as file readers do: `vanished`, `unreadable`, `notAFile`,
 * `changedWhileRead`, `failed`.
 */
export function readSmallFile(path: string, { bytesMax, into }: ReadSmallOptions): SmallFile {
  try {
    const file = openFile(path);
    try {
      const stat = readStatOf(file);
      if (stat.sizeBytes > bytesMax) throw new FileFailure('changedWhileRead');
      const room =
        into && into.length >= stat.sizeBytes ? into.subarray(0, stat.sizeBytes) : allocate(stat.sizeBytes);
      let filled = 0;
      while (filled < room.length) {
        const count = readSync(file.descriptor, room, filled, room.length - filled, filled);
        if (count === 0) break;
        filled += count;
      }
      checkUnchanged(file, filled);
      return { bytes: room.subarray(0, filled), stat, mode: Number(file.stats.mode & PERMISSION_BITS) };
    } finally {
      closeSync(file.descriptor);
    }
  } catch (cause) {
    throw readError(path, cause);
  }
}

export interface FileSource extends AsyncDisposable {
  readonly name: string;
  readonly sizeBytes: number;
  /** '' while the mtime is too young to prove anything. */
  readonly token: string;
  readonly mtimeNs: bigint;
  /** Permission bits. */
  readonly mode: number;
  /** Fills `into` from `start` on. @throws DrayError as `readSmallFile`. */
  read(start: number, into: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /** @throws DrayError `io`, reason `changedWhileRead`, when the file changed since it was opened. */
  checkUnchanged(): Promise<void>;
}

const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const EXACT = { bigint: true } as const;

/** Opens a large file for reads of ranges in any order. */
export async function openFileSource(path: string): Promise<FileSource> {
  const openedMs = Date.now();
  const handle = await attempt(path, () => open(path, OPEN_FLAGS));
  try {
    const stats = await attempt(path, () => handle.stat(EXACT));
    if (!stats.isFile()) throw readError(path, new FileFailure('notAFile'));
    const stat = readStatOf({ descriptor: handle.fd, stats, openedMs });
    return {
      name: path,
      sizeBytes: stat.sizeBytes,
      token: tokenOf(stat),
      mtimeNs: stat.mtimeNs,
      mode: Number(stats.mode & PERMISSION_BITS),
      read: (start, into, signal) => attempt(path, () => fill(handle, start, into, signal)),
      checkUnchanged: () =>
        attempt(path, async () => {
          const now = await handle.stat(EXACT);
          const isSame =
            now.size === stats.size && now.mtimeNs === stats.mtimeNs && now.ctimeNs === stats.ctimeNs;
          if (!isSame) throw new FileFailure('changedWhileRead');
        }),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function fill(
  handle: FileHandle,
  start: number,
  into: Uint8Array,
  signal: AbortSignal,
): Promise<Uint8Array> {
  for (let filled = 0; filled < into.length; ) {
    if (signal.aborted) throw new DrayError('aborted', 'Stopped on request.');
    const { bytesRead } = await handle.read(into, filled, into.length - filled, start + filled);
    if (bytesRead === 0) throw new FileFailure('changedWhileRead');
    filled += bytesRead;
  }
  return into;
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw readError(path, cause);
  }
}

function allocate(sizeBytes: number): Uint8Array {
  return Buffer.allocUnsafe(sizeBytes);
}
