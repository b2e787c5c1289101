/**
 * The folder that a worker offers, as the source of a part. No link below it is followed, not even one that
 * appears while the job runs, so no step reads a file outside the folder.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, readlinkSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { DrayError } from '../../../api/error.ts';
import type { FleetRequest } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { checkAborted } from '../../../base/abort.ts';
import { createHeldFolders, type HeldFolders } from '../../../base/held-folders.ts';
import { type FileSource, openFileSource, readSmallFile } from '../../../files/read/file-source.ts';
import { attemptRead, FileFailure, nearestTimeNs, readError } from '../../../files/read/open-file.ts';
import { targetNotUtf8 } from '../../../files/scan/local-place.ts';
import { type ScannedEntry, type ScanProblem, scanWorkspace } from '../../../files/scan/scan.ts';
import { heldReach } from '../../../files/scan/tree-reach.ts';
import { comparePaths } from '../../../model/entry.ts';
import type { HeldPart } from '../../../model/held-part.ts';
import { modeBits } from '../../../model/special-modes.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { KeyRange } from '../../../remotes/wrappers/within-range.ts';
import { createPartsRead } from '../../../workspace/read-part.ts';
import { isSelectedItem } from '../../trees/source-items.ts';
import type { PartSource, PartSourceOptions } from './part-source.ts';

const PIECE_BYTES = 1024 * 1024;
const EXACT = { bigint: true, throwIfNoEntry: false } as const;

/**
 * The folder that this worker offers for a range.
 * @throws `usage` if the range belongs to another worker; Dray itself never asks for that
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
  /** Gets each file that is skipped by design, such as a socket. */
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
  return {
    async *items(onProblem) {
      const reach = heldReach(folders);
      const parts = createPartsRead(reach, root);
      try {
        refusePart(root, parts.all());
        for (const { entries, problems, workspaces } of scanWorkspace({
          ...{ root, reach, ignore: true, isPlain: true },
          enter: (folder) => filter.mayContain(folder) && mayHold(folder),
          skips: (path) => !isWithin(path) && !mayHold(`${path}/`),
        })) {
          checkAborted(scanning);
          for (const folder of workspaces) parts.pass(folder);
          if (workspaces.length > 0) refusePart(root, parts.all());
          for (const problem of problems)
            if (isWithin(problem.path)) reportProblem(problem, onProblem, onSkipped);
          yield entries.map(itemOf).filter((item) => isWithin(item.path) && isSelectedItem(filter, item));
          await breathe();
        }
        refusePart(root, parts.all());
      } finally {
        reach.release();
      }
    },
    look(item) {
      using held = holdItem(folders, item);
      return attemptRead(item.path, () => statItem(item, held.path));
    },
    async read(item) {
      using held = holdItem(folders, item);
      const { path: name, sizeBytes: bytesMax } = item;
      const into = Buffer.allocUnsafeSlow(bytesMax);
      const { bytes, stat } = readSmallFile(held.path, { name, bytesMax, into });
      checkListed(item, stat);
      return bytes;
    },
    async cat(item, write, signal) {
      await using source = await openItem(folders, item);
      checkListed(item, source);
      const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      for (let start = 0; start < item.sizeBytes; start += PIECE_BYTES) {
        const into = piece.subarray(0, item.sizeBytes - start);
        await write(await source.read(start, into, signal));
      }
      await source.checkUnchanged();
    },
  };
}

/** A push of folders replaces the dataset: what a part does not hold would be deleted. @throws `usage` */
function refusePart(root: string, [part]: readonly HeldPart[]): void {
  if (!part) return;
  const where = part.folder === '' ? root : `${root}/${part.folder}`;
  throw new DrayError(
    'usage',
    `${where} holds a part of a dataset, and a push of workers' folders would delete the rest of it.`,
    { data: { path: where, reason: 'holdsPart' }, advice: 'Push from there with "dray push".' },
  );
}

interface HeldItem extends Disposable {
  /** Valid until it is disposed of. */
  readonly path: string;
}

function holdItem(folders: HeldFolders, { path }: TreeItem): HeldItem {
  const reach = heldReach(folders);
  const absolute = attemptRead(path, () => reach.absoluteOf(path));
  return { path: absolute, [Symbol.dispose]: () => reach.release() };
}

async function openItem(folders: HeldFolders, item: TreeItem): Promise<FileSource> {
  using held = holdItem(folders, item);
  return await openFileSource(held.path, { name: item.path });
}

/** @throws DrayError `io` for a file that is no longer the listed one */
function checkListed(item: TreeItem, file: Pick<FileSource, 'mtimeNs' | 'sizeBytes'>): void {
  if (file.sizeBytes !== item.sizeBytes || nearestTimeNs(file.mtimeNs) !== item.mtimeNs)
    throw readError(item.path, new FileFailure('changedWhileRead'));
}

function itemOf({ kind, mode, mtimeMs, path, sizeBytes }: ScannedEntry): TreeItem {
  const item = { path, kind: 'file', token: '', modifiedMs: mtimeMs, mode, isFile: true } as const;
  if (kind === 'file') return { ...item, sizeBytes };
  // `look` reads the link's target.
  const special = kind === 'link' ? ({ kind, target: '' } as const) : ({ kind } as const);
  return { ...item, sizeBytes: 0, special };
}

function statItem(item: TreeItem, absolute: string): TreeItem | undefined {
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
    mode: modeBits(stats.mode),
  };
}

function reportProblem(
  { message, path, problem }: ScanProblem,
  onProblem: (path: string, error: DrayError) => void,
  onSkipped: (path: string, message: string) => void,
): void {
  if (problem === 'special') onSkipped(path, message);
  else if (problem !== 'unfinished')
    onProblem(path, new DrayError('io', message, { data: { path, reason: problem } }));
}

/** Decides whether a path lies in the range, and whether a folder can hold such a path. */
function reachOf({ after, upTo }: KeyRange) {
  const isBehind = (path: string) => after === undefined || comparePaths(path, after) > 0;
  const isBefore = (path: string) => upTo === undefined || comparePaths(path, upTo) <= 0;
  return {
    isWithin: (path: string) => isBehind(path) && isBefore(path),
    mayHold: (folder: string) => (isBehind(folder) || after!.startsWith(folder)) && isBefore(folder),
  };
}
