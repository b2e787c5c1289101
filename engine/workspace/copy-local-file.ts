/** One file from a folder to another on this machine: by reflink where the file system can, put in place in one step. */
import { chmodSync, closeSync, constants, lstatSync, openSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { DrayError, fromErrorRecord } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import { checkUnchanged, describeFailure, openFile, readStatOf } from './file-reader-open.ts';
import { tokenOf } from './file-source.ts';
import { loadSetMtime, type SetMtime } from './set-mtime.ts';
import type { WrittenStat } from './tree-writer-contract.ts';
import { writeError } from './tree-writer-error.ts';
import { putInPlaceOrRemove } from './tree-writer-place.ts';

export interface LocalCopy {
  readonly from: string;
  readonly to: string;
  /** A name that nothing else has, on the file system of `to`. */
  readonly temporary: string;
  readonly signal: AbortSignal;
}

export interface LocalCopied {
  readonly stat: WrittenStat;
  /** Of the source as it was copied. */
  readonly sourceToken: string;
  readonly sizeBytes: number;
}

let setMtime: SetMtime | undefined;

/** The parent folder of `to` is there. @throws DrayError `io`, `diskFull`, `conflict` for a folder in the way, `aborted`. */
export async function copyLocalFile({ from, signal, temporary, to }: LocalCopy): Promise<LocalCopied> {
  setMtime ??= await loadSetMtime();
  checkAborted(signal);
  const source = attempt(from, () => openFile(from));
  try {
    const stat = readStatOf(source);
    try {
      await copyFile(from, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      checkAborted(signal);
      const { size } = lstatSync(temporary);
      attempt(from, () => checkUnchanged(source, size));
      setTime(temporary, stat.mtimeNs, stat.executable);
      const placed = putInPlaceOrRemove(temporary, to);
      if ('stat' in placed)
        return { stat: placed.stat, sourceToken: tokenOf(stat), sizeBytes: stat.sizeBytes };
      throw new DrayError('conflict', `${to} is a folder where a file has to be. Move or remove it first.`, {
        data: { path: to },
      });
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error instanceof DrayError ? error : writeError(error, to);
    }
  } finally {
    closeSync(source.descriptor);
  }
}

/** A read-only source gives a read-only copy, whose time could not be set. */
function setTime(path: string, mtimeNs: bigint, executable: boolean): void {
  chmodSync(path, (executable ? 0o777 : 0o666) & ~UMASK);
  const fd = openSync(path, constants.O_RDONLY);
  try {
    setMtime!(fd, mtimeNs);
  } finally {
    closeSync(fd);
  }
}

/** Read once: the call that tells it sets it for a moment. */
const UMASK = process.umask();

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw cause instanceof DrayError ? cause : fromErrorRecord(describeFailure(path, cause));
  }
}
