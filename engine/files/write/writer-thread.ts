/** The state of a thread that writes. */
import type { Hash } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import type { DiskRefusals } from '../disk/disk-refusals.ts';
import { loadPunchHole, type PunchHole } from '../disk/punch-hole.ts';
import { loadSetMtime, type SetMtime } from '../disk/set-mtime.ts';
import { heldReach, plainReach, type TreeReach } from '../scan/tree-reach.ts';
import { loadNamelessFiles, type NamelessFiles } from './nameless-file.ts';

export interface WriteThread {
  /** Opens places in the tree; released after each task. */
  readonly reach: TreeReach;
  /** Used by this thread only. */
  readonly temporaryPrefix: string;
  /** Shared by all threads: not 0 once the writer must stop. */
  readonly stop: Int32Array;
  readonly setMtime: SetMtime;
  readonly punchHole: PunchHole;
  /** Shared by all threads. */
  readonly refusals: DiskRefusals | undefined;
  /** The bits that the kernel removes from the mode of a new file. */
  readonly umask: number;
  /** Absent where the file system does not support them: small files then get a temporary name too. */
  readonly nameless: NamelessFiles | undefined;
  readonly streams: Map<number, Hash>;
  nextName: number;
}

/** The data that a thread gets; it loads the rest itself. */
export interface WriteThreadData extends Pick<WriteThread, 'refusals' | 'temporaryPrefix' | 'stop'> {
  readonly root: string;
  readonly isWatchful: boolean;
}

/** Loads the C library, once per thread, in about 10 ms. */
export async function openWriteThread({ isWatchful, root, ...data }: WriteThreadData): Promise<WriteThread> {
  const reach = isWatchful ? heldReach(root) : plainReach(root);
  const setMtime = await loadSetMtime();
  const punchHole = await loadPunchHole();
  const nameless = await loadNamelessFiles(`${data.temporaryPrefix}0`);
  const umask = process.umask();
  return { ...data, reach, setMtime, punchHole, umask, nameless, streams: new Map(), nextName: 1 };
}

/** Throws `aborted` once the writer must stop. Called before every file and block. */
export function checkStopped(thread: WriteThread): void {
  if (Atomics.load(thread.stop, 0) !== 0) throw new DrayError('aborted', 'Stopped on request.');
}
