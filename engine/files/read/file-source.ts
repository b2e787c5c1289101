/**
 * Reads local files for plain copies: small ones whole, large ones by ranges. Both detect changes during the
 * read.
 */
import { closeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { DrayError } from '../../api/error.ts';
import { OPEN_TO_READ } from '../../base/open-to-read.ts';
import { hasUnstatedContent, WRONG_SIZE } from '../../base/wrong-size.ts';
import { modeBits } from '../../model/special-modes.ts';
import { fileToken } from '../../model/tree-item.ts';
import {
  checkSameState,
  FileFailure,
  openFile,
  readError,
  readStatOf,
  readUnsized,
  readWhole,
} from './open-file.ts';
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

export interface OpenOptions {
  /** The file's name in errors; its path otherwise. */
  readonly name?: string;
}

export interface ReadSmallOptions extends OpenOptions {
  /** Receives the bytes, if they fit. */
  readonly into?: Uint8Array;
  /** A larger file has changed since it was listed. */
  readonly bytesMax: number;
}

/**
 * Reads the whole file by blocking calls, in one read when `into` is given or the file is small. A file of
 * which `stat` says 0 bytes is read until its end, so there may be more bytes than `stat` says.
 * @throws DrayError `io` with `data.reason` as file readers do: `vanished`, `unreadable`, `notAFile`,
 * `changedWhileRead`, `wrongSize`, `failed`.
 */
export function readSmallFile(path: string, { bytesMax, into, name = path }: ReadSmallOptions): SmallFile {
  try {
    const file = openFile(path, { mayBeUnsized: true });
    try {
      const stat = readStatOf(file);
      const mode = modeBits(file.stats.mode);
      if (file.isUnsized) return { bytes: readUnsized(file, bytesMax), stat, mode };
      if (stat.sizeBytes > bytesMax) throw new FileFailure('changedWhileRead');
      const room = into && into.length >= stat.sizeBytes ? into : allocate(stat.sizeBytes + 1);
      readWhole(file, room);
      return { bytes: room.subarray(0, stat.sizeBytes), stat, mode };
    } finally {
      closeSync(file.descriptor);
    }
  } catch (cause) {
    throw readError(name, cause);
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

const EXACT = { bigint: true } as const;

/** Opens a large file for reads of ranges in any order. */
export async function openFileSource(path: string, { name = path }: OpenOptions = {}): Promise<FileSource> {
  const openedMs = Date.now();
  const fail = (cause: unknown): never => {
    throw readError(name, cause);
  };
  const handle = await open(path, OPEN_TO_READ).catch(fail);
  try {
    const stats = await handle.stat(EXACT).catch(fail);
    if (!stats.isFile()) throw new FileFailure('notAFile');
    if (hasUnstatedContent(handle.fd, stats.size)) throw new FileFailure(WRONG_SIZE);
    const stat = readStatOf({ descriptor: handle.fd, stats, openedMs });
    return {
      name,
      sizeBytes: stat.sizeBytes,
      token: tokenOf(stat),
      mtimeNs: stat.mtimeNs,
      mode: modeBits(stats.mode),
      read: (start, into, signal) => fill(handle, start, into, signal).catch(fail),
      checkUnchanged: () =>
        handle
          .stat(EXACT)
          .then((now) => checkSameState(stats, now))
          .catch(fail),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw readError(name, error);
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

function allocate(sizeBytes: number): Uint8Array {
  return Buffer.allocUnsafe(sizeBytes);
}
