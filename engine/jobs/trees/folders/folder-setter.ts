/**
 * Reads a folder's mode and time at the source and sets them at the destination: here, or at a peer in
 * batches.
 */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { type DrayError, fromErrorRecord, toDrayError } from '../../../api/error.ts';
import { type FolderParts, setFolder } from '../../../files/disk/set-folder.ts';
import { loadSetMtime } from '../../../files/disk/set-mtime.ts';
import { heldReach } from '../../../files/scan/tree-reach.ts';
import { openFolders } from '../../../files/write/writer-folders.ts';
import { modeBits, type SpecialModes, travelling } from '../../../model/special-modes.ts';
import type { FolderStat, FolderToSet } from '../../../remotes/file-calls.ts';
import type { TreeRun } from '../copy-run.ts';
import { createGathering } from '../move/gather-batches.ts';
import type { LocalSide, RemoteSide } from '../sides.ts';

export interface FolderSetter {
  /**
   * Sets the source's current modes and times, in this order. Skips paths that are no longer folders. By
   * path: failures, and folders whose disk keeps nothing of it.
   */
  set(paths: readonly string[]): Promise<ReadonlyMap<string, DrayError | 'unchanged'>>;
  /** Gives a folder of the destination this mode. Calls made together share requests. */
  open(path: string, mode: number): Promise<void>;
}

type SetStates = (
  folders: readonly FolderToSet[],
) => Promise<readonly (DrayError | 'unchanged' | undefined)[]>;
type ReadStates = (paths: readonly string[]) => Promise<readonly (FolderStat | undefined)[]>;

interface Opening {
  readonly folder: FolderToSet;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** This many paths fit into one request, however long they are. */
const OPENED_AT_ONCE = 500;

export function createFolderSetter(run: TreeRun): FolderSetter {
  const { destination, source, tasks } = run;
  const read = source.kind === 'local' ? readHere(source) : readThere(source, tasks.signal);
  const set = destination.kind === 'local' ? setHere(destination, run) : setThere(destination, tasks.signal);
  const openings = createGathering<Opening>({
    tasksMax: OPENED_AT_ONCE,
    bytesMax: Number.POSITIVE_INFINITY,
    send(batch) {
      set(batch.map(({ folder }) => folder))
        .then((errors) => {
          for (const [at, { reject, resolve }] of batch.entries()) {
            const error = errors[at];
            if (error && error !== 'unchanged') reject(error);
            else resolve();
          }
        })
        .catch((error: unknown) => {
          for (const { reject } of batch) reject(error);
        });
    },
  });
  return {
    async set(paths) {
      const states = await read(paths);
      const folders = paths.flatMap((key, at) =>
        states[at] ? [{ key, ...states[at], ...travelling(states[at].mode, run.request) }] : [],
      );
      if (folders.length === 0) return new Map();
      const errors = await set(folders);
      return new Map(folders.flatMap(({ key }, at) => (errors[at] ? [[key, errors[at]] as const] : [])));
    },
    open: (key, mode) =>
      new Promise((resolve, reject) => openings.add({ folder: { key, mode }, resolve, reject }, 0)),
  };
}

function readHere({ root }: LocalSide): ReadStates {
  return async (paths) =>
    paths.map((path) => {
      try {
        // The root may be a link, because the user named it.
        const stats =
          path === ''
            ? statSync(`${root}/`, { bigint: true })
            : lstatSync(`${root}/${path.slice(0, -1)}`, { bigint: true });
        if (!stats.isDirectory()) return undefined;
        return { mode: modeBits(stats.mode), mtimeNs: stats.mtimeNs };
      } catch {
        return undefined;
      }
    });
}

function readThere({ limit, store }: RemoteSide, signal: AbortSignal): ReadStates {
  return (paths) => limit.run(() => store.files!.folders.read(paths, { signal }), { bytes: 0, signal });
}

function setHere(
  { root }: LocalSide,
  { refusals, request }: Pick<TreeRun, 'refusals' | 'request'>,
): SetStates {
  const { specialModes = false }: SpecialModes = request;
  let parts: FolderParts | undefined;
  const open = async (): Promise<FolderParts> => {
    const realRoot = realpathSync(root);
    const reach = heldReach(realRoot);
    const folders = openFolders(realRoot, reach);
    const make = (path: string) => folders.make(path);
    return { reach, setMtime: await loadSetMtime(), make, refusals, specialModes };
  };
  return async (wanted) => {
    parts ??= await open();
    return wanted.map(({ key, ...to }) => {
      try {
        return setFolder(parts!, key.slice(0, -1), to) ? undefined : 'unchanged';
      } catch (error) {
        return toDrayError(error);
      }
    });
  };
}

function setThere({ limit, store }: RemoteSide, signal: AbortSignal): SetStates {
  return async (wanted) => {
    const records = await limit.run(() => store.files!.folders.set(wanted, { signal }), { bytes: 0, signal });
    return records.map((record) => record && fromErrorRecord(record));
  };
}
