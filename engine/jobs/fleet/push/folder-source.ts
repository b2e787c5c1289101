/**
 * The folder that a worker offers, as the source of a part. No link below it is followed, also none that
 * appears meanwhile, so no step reads anything outside of it.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, lstatSync, read, readlinkSync, readSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DrayError } from '../../../api/error.ts';
import type { FleetRequest } from '../../../api/fleet.ts';
import type { JobContext } from '../../../api/jobs.ts';
import { checkAborted } from '../../../base/abort.ts';
import { createHeldFolders } from '../../../base/held-folders.ts';
import {
  checkUnchanged,
  FileFailure,
  nearestTimeNs,
  type OpenFile,
  openFile,
  readError,
} from '../../../files/read/open-file.ts';
import { targetNotUtf8 } from '../../../files/scan/local-place.ts';
import { type ScannedEntry, type ScanProblem, scanWorkspace } from '../../../files/scan/scan.ts';
import { heldReach } from '../../../files/scan/tree-reach.ts';
import { comparePaths } from '../../../model/entry.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { KeyRange } from '../../../remotes/wrappers/within-range.ts';
import { canTravel } from '../../trees/source-items.ts';
import type { PartSource, PartSourceOptions } from './part-source.ts';

const PIECE_BYTES = 1024 * 1024;
const EXACT = { bigint: true, throwIfNoEntry: false } as const;
const PERMISSION_BITS = 0o7777;
const readPiece = promisify(read);

/**
 * The folder of the worker that a range belongs to, which has to be this one.
 * @throws `usage`: a job that asks another worker for it was not made by Dray
 */
export function offeredFolder(
  { offers }: Pick<JobContext, 'offers'>,
  { workers = [] }: FleetRequest,
  range: number,
): string {
  const wanted = workers[range];
  if (offers !== undefined && offers.worker === wanted) return offers.folder;
  const why = offers ? `this worker is "${offers.worker}"` : 'this worker offers no folder';
  throw new DrayError('usage', `The step is for the folder of the worker "${wanted}", but ${why}.`);
}

export interface FolderSourceOptions extends PartSourceOptions {
  /** With all links resolved. */
  readonly root: string;
  readonly range: KeyRange;
  /** Gets what is left out by design. */
  readonly onSkipped?: (path: string, message: string) => void;
}

export function createFolderSource({
  filter,
  onSkipped = () => {},
  range,
  root,
  signal: scanning,
}: FolderSourceOptions): PartSource {
  const { isWithin, mayHold } = reachOf(range);
  const folders = createHeldFolders(root);
  const below = <T>(path: string, work: (absolute: string) => T): T => {
    const reach = heldReach(folders);
    try {
      return work(reach.absoluteOf(path));
    } catch (cause) {
      throw readError(path, cause);
    } finally {
      reach.release();
    }
  };
  const open = (item: TreeItem): OpenFile => {
    const file = below(item.path, openFile);
    if (Number(file.stats.size) === item.sizeBytes && nearestTimeNs(file.stats.mtimeNs) === item.mtimeNs)
      return file;
    closeSync(file.descriptor);
    throw readError(item.path, new FileFailure('changedWhileRead'));
  };
  return {
    async *items(onProblem) {
      const reach = heldReach(folders);
      try {
        for (const { entries, problems } of scanWorkspace({
          ...{ root, reach, ignore: true, isPlain: true },
          enter: (folder) => filter.mayContain(folder) && mayHold(folder),
          skips: (path) => !isWithin(path) && !mayHold(`${path}/`),
        })) {
          checkAborted(scanning);
          for (const problem of problems) if (isWithin(problem.path)) tell(problem, onProblem, onSkipped);
          yield entries
            .map(itemOf)
            .filter((item) => isWithin(item.path) && canTravel(item) && filter.includes(item));
          await breathe();
        }
      } finally {
        reach.release();
      }
    },
    look: (item) => below(item.path, (absolute) => lookAt(item, absolute)),
    async read(item) {
      const file = open(item);
      try {
        const bytes = Buffer.allocUnsafeSlow(item.sizeBytes);
        let filled = 0;
        for (let count = -1; count !== 0 && filled < bytes.length; filled += count)
          count = readSync(
            file.descriptor,
            bytes,
            filled,
            Math.min(PIECE_BYTES, bytes.length - filled),
            null,
          );
        checkUnchanged(file, filled);
        return bytes;
      } catch (cause) {
        throw readError(item.path, cause);
      } finally {
        closeSync(file.descriptor);
      }
    },
    async cat(item, write, signal) {
      const file = open(item);
      const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      const next = async () => {
        try {
          return (await readPiece(file.descriptor, piece, 0, piece.length, null)).bytesRead;
        } catch (cause) {
          throw readError(item.path, cause);
        }
      };
      try {
        let filled = 0;
        for (let count = await next(); count > 0; count = await next()) {
          checkAborted(signal);
          filled += count;
          await write(piece.subarray(0, count));
        }
        try {
          checkUnchanged(file, filled);
        } catch (cause) {
          throw readError(item.path, cause);
        }
      } finally {
        closeSync(file.descriptor);
      }
    },
  };
}

function itemOf({ kind, mode, mtimeMs, path, sizeBytes }: ScannedEntry): TreeItem {
  const item = { path, kind: 'file', token: '', modifiedMs: mtimeMs, mode, isFile: true } as const;
  if (kind === 'file') return { ...item, sizeBytes };
  // A link's target is read when its turn comes.
  const special = kind === 'link' ? ({ kind, target: '' } as const) : ({ kind } as const);
  return { ...item, sizeBytes: 0, special };
}

function lookAt(item: TreeItem, absolute: string): TreeItem | undefined {
  const stats = lstatSync(absolute, EXACT);
  if (!stats) return undefined;
  const { special } = item;
  if (special?.kind === 'link') {
    if (!stats.isSymbolicLink()) throw new FileFailure('changedWhileRead');
    const target = readlinkSync(absolute, 'buffer');
    if (isUtf8(target)) return { ...item, special: { kind: 'link', target: target.toString('utf8') } };
    throw new DrayError('io', targetNotUtf8(item.path), { data: { path: item.path, reason: 'notUtf8' } });
  }
  if (special) return stats.isDirectory() ? item : undefined;
  if (!stats.isFile()) throw new FileFailure('notAFile');
  return {
    ...item,
    sizeBytes: Number(stats.size),
    mtimeNs: nearestTimeNs(stats.mtimeNs),
    modifiedMs: Number(stats.mtimeMs),
    mode: Number(stats.mode) & PERMISSION_BITS,
  };
}

function tell(
  { message, path, problem }: ScanProblem,
  onProblem: (path: string, error: DrayError) => void,
  onSkipped: (path: string, message: string) => void,
): void {
  if (problem === 'special') onSkipped(path, message);
  else if (problem !== 'unfinished')
    onProblem(path, new DrayError('io', message, { data: { path, reason: problem } }));
}

/** Which paths lie in a stretch, and which folders can hold one of them. */
function reachOf({ after, upTo }: KeyRange) {
  const isBehind = (path: string) => after === undefined || comparePaths(path, after) > 0;
  const isBefore = (path: string) => upTo === undefined || comparePaths(path, upTo) <= 0;
  return {
    isWithin: (path: string) => isBehind(path) && isBefore(path),
    mayHold: (folder: string) => (isBehind(folder) || after!.startsWith(folder)) && isBefore(folder),
  };
}
