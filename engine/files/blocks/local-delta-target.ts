/**
 * The target of a block delta on this machine.
 *
 * Beside the old file: a temporary file starts as a reflink of the old one where the file system can make
 * one, otherwise as zeros (all threads then copy the reused ranges). It is renamed when it is complete, so
 * readers see the old or the new file. In place: the old file is overwritten. After a crash it is a mixture,
 * which the same delta repairs when it runs again.
 */
import assert from 'node:assert';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  rmSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { DrayError } from '../../api/error.ts';
import type { BlockSignature } from '../../checksums/block-digest.ts';
import type { DeltaTarget, RangeList } from '../../model/delta-sides.ts';
import { modeBits } from '../../model/special-modes.ts';
import type { ChunkSize } from '../chunks/chunker.ts';
import { setAttributes } from '../disk/disk-refusals.ts';
import { loadPunchHole } from '../disk/punch-hole.ts';
import { loadSetMtime } from '../disk/set-mtime.ts';
import { syncContent } from '../disk/sync-disk.ts';
import { attemptRead, checkUnchanged, type OpenFile, openFile, readError } from '../read/open-file.ts';
import { putInPlace, writtenStat } from '../write/put-in-place.ts';
import type { WrittenStat } from '../write/tree-writer-types.ts';
import { errnoOf, folderInTheWay, writeError } from '../write/write-error.ts';
import { blockHasherOn } from './block-hasher.ts';
import type { BlockThreads } from './block-threads.ts';

export interface LocalDeltaTargetOptions {
  readonly path: string;
  readonly signature: BlockSignature;
  /** For `cut`; the same at both ends. */
  readonly chunkSize: ChunkSize;
  readonly threads: BlockThreads;
  /** Returns an unused name on the file system of `path`. Absent: the file itself is overwritten. */
  readonly newTemporary?: (() => string) | undefined;
  /** The file is only read, whatever `newTemporary` is. */
  readonly isDryRun?: boolean;
  /** The time of the new file. */
  readonly mtimeNs: bigint;
  /** Permission bits; undefined: the old file's, or those of a new one. */
  readonly mode: number | undefined;
  /** The token that `complete` returns; absent: none. */
  readonly tokenOf?: (stat: WrittenStat) => string;
}

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const CREATE = constants.O_RDWR | constants.O_CREAT | NO_FOLLOW;
const CREATE_NEW = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
const WRITE = constants.O_RDWR | NO_FOLLOW;
const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
const DEFAULT_MODE = 0o666;
const OWN_MODE = 0o600;
/** The size of writes where holes cannot be made. */
const ZEROS_BYTES = 4 * 1024 * 1024;

interface NewFile {
  readonly descriptor: number;
  readonly path: string;
}

/** @throws `io` as file sources do when the existing file is not regular or not readable. */
export function openLocalDeltaTarget(options: LocalDeltaTargetOptions): DeltaTarget {
  const { chunkSize, newTemporary, path, signature, threads } = options;
  const old = openOld(path);
  const oldFile = { path, ...(old ? { descriptor: old.descriptor } : {}) };
  const oldBytes = old ? Number(old.stats.size) : 0;
  const isInPlace = newTemporary === undefined && !options.isDryRun;
  /** The mode during the write; the final mode is set at the end. */
  const createMode = options.mode === undefined && !old ? DEFAULT_MODE : OWN_MODE;
  const hasher = blockHasherOn(threads);
  let made: NewFile | undefined;
  let isOfUse = false;
  let temporary: string | undefined;
  let isEnded = false;
  let newBytes = 0;

  function end(): void {
    if (isEnded) return;
    isEnded = true;
    if (made) closeSync(made.descriptor);
    if (old) closeSync(old.descriptor);
    if (temporary !== undefined) rmSync(temporary, { force: true });
  }

  return {
    oldBytes,
    isInPlace,
    async sign(start, signEnd) {
      return hasher.hash({ file: oldFile, start, end: signEnd, signature, mayChange: isInPlace });
    },
    cut: () => hasher.cut({ file: oldFile, start: 0, end: oldBytes, signature, size: chunkSize }),
    async begin({ keepsOld, sizeBytes }) {
      assert(!options.isDryRun, `${path}: a dry run writes nothing`);
      return attempt(path, async () => {
        isOfUse = keepsOld && old !== undefined && !isInPlace;
        temporary = newTemporary?.();
        const isCopy = temporary !== undefined && isOfUse && (await reflinked(path, temporary));
        made = openNew({ path, temporary, isCopy, createMode });
        if (isInPlace) checkSameFile(made, old, path);
        newBytes = sizeBytes;
        ftruncateSync(made.descriptor, sizeBytes);
        return temporary === undefined || isCopy ? 'old' : 'zeros';
      });
    },
    async write(ranges, bytes) {
      const { digests } = await threads.run({ kind: 'write', file: made!, ranges, bytes, signature });
      return digests;
    },
    async clear(ranges) {
      for (let at = 1; at < ranges.length; at += 2) if (ranges[at]! > newBytes) throw outside(path);
      await clearRanges(made!, ranges, options);
    },
    async copy(moves) {
      await threads.run({ kind: 'copy', from: oldFile, to: made!, moves });
    },
    async complete() {
      const setMtime = await loadSetMtime();
      return await attempt(path, async () => {
        if (isOfUse) checkOld(old!, path);
        const { descriptor } = made!;
        if (fstatSync(descriptor).size !== newBytes) throw changedWhileRead(path);
        const mode = options.mode ?? (old && modeBits(old.stats.mode));
        setAttributes(descriptor, { mode }, { setMtime });
        await syncContent(descriptor);
        setAttributes(descriptor, { mtimeNs: options.mtimeNs }, { setMtime });
        const placed =
          temporary === undefined ? { stat: statOverwritten(descriptor, path) } : putInPlace(temporary, path);
        if (!('stat' in placed)) throw folderInTheWay(path);
        end();
        return options.tokenOf?.(placed.stat) ?? '';
      });
    },
    async discard() {
      end();
    },
  };
}

function openNew({
  createMode,
  isCopy,
  path,
  temporary,
}: {
  readonly path: string;
  readonly temporary: string | undefined;
  readonly isCopy: boolean;
  readonly createMode: number;
}): NewFile {
  if (temporary === undefined) return { path, descriptor: openSync(path, CREATE, createMode) };
  // A reflink of a read-only file is read-only too.
  if (isCopy) chmodSync(temporary, OWN_MODE);
  return { path: temporary, descriptor: openSync(temporary, isCopy ? WRITE : CREATE_NEW, createMode) };
}

/** Punches holes, or writes zeros where the file system has no holes. */
async function clearRanges(
  file: NewFile,
  ranges: RangeList,
  { signature, threads }: Pick<LocalDeltaTargetOptions, 'signature' | 'threads'>,
): Promise<void> {
  const punch = await loadPunchHole();
  for (let at = 0; at < ranges.length; at += 2) {
    const [start, end] = [ranges[at]!, ranges[at + 1]!];
    if (punch(file.descriptor, start, end - start)) continue;
    const zeros = new Uint8Array(new SharedArrayBuffer(Math.min(ZEROS_BYTES, end - start)));
    for (let from = start; from < end; from += zeros.length) {
      const to = Math.min(from + zeros.length, end);
      const bytes = zeros.subarray(0, to - from);
      await threads.run({ kind: 'write', file, ranges: Float64Array.of(from, to), bytes, signature });
    }
  }
}

/** The last step reports a folder in the way. */
function openOld(path: string): OpenFile | undefined {
  try {
    return openFile(path);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw readError(path, cause);
  }
}

async function reflinked(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw error;
    rmSync(to, { force: true });
    return false;
  }
}

/**
 * Between two opens the name may have passed to another file, or the file may have grown: bytes beyond its
 * old end count as zeros.
 */
function checkSameFile(made: NewFile, old: OpenFile | undefined, path: string): void {
  const stats = fstatSync(made.descriptor, { bigint: true });
  const isSame = old ? stats.ino === old.stats.ino && stats.dev === old.stats.dev : true;
  if (!isSame || stats.size !== (old?.stats.size ?? 0n)) throw changedWhileRead(path);
}

/** An overwritten file may have lost its name to another file meanwhile: then its content is lost. */
function statOverwritten(descriptor: number, path: string): WrittenStat {
  const [written, found] = [fstatSync(descriptor), lstatSync(path, { throwIfNoEntry: false })];
  if (written.ino !== found?.ino || written.dev !== found.dev) throw changedWhileRead(path);
  return writtenStat(found);
}

function checkOld(old: OpenFile, path: string): void {
  attemptRead(path, () => checkUnchanged(old, Number(old.stats.size)));
}

function outside(path: string): DrayError {
  return new DrayError('usage', `A range is outside of ${path}.`, { data: { path } });
}

function changedWhileRead(path: string): DrayError {
  return new DrayError('io', `${path} was replaced or changed during the delta.`, {
    data: { path, reason: 'changedWhileRead' },
  });
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw writeError(cause, path);
  }
}
