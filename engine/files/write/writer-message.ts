/**
 * Messages with small files to a writer thread, and the answers with their outcomes. Columns of numbers and
 * one string of names cross in a quarter of the time of one object per file (0.5 us a file instead of 2.2).
 */
import type { BlobHash } from '../../model/entry.ts';
import { MODE_BITS } from '../../model/special-modes.ts';
import type { FileOutcome } from './small-files.ts';
import type { PackedFile } from './tree-writer-types.ts';
import type { FilesTask, TaskResults, WriteTask } from './writer-task.ts';

/** A task in the form sent to a thread. */
export type TaskMessage = Exclude<WriteTask, FilesTask> | FilesTask | PackedFilesTask;

interface PackedFilesTask extends Pick<FilesTask, 'bytes' | 'bytesStart'> {
  readonly kind: 'packedFiles';
  /** Joined by a character that no path can contain. */
  readonly paths: string;
  /** Likewise, '' for none; absent when no file has one. */
  readonly blobs: string | undefined;
  /** `DOUBLES` for each file: size, offset, flags with the mode, stored bytes or 0. */
  readonly doubles: Float64Array<ArrayBuffer>;
  readonly mtimesNs: BigInt64Array<ArrayBuffer>;
}

/** A result in the form sent back. */
export type ResultMessage = TaskResults[WriteTask['kind']] | PackedOutcomes;

interface PackedOutcomes {
  readonly kind: 'packedOutcomes';
  /** `STAT_DOUBLES` for each file. */
  readonly stats: Float64Array<ArrayBuffer>;
  /** Files that are not in place, by index. */
  readonly others: ReadonlyMap<number, FileOutcome>;
}

const SEPARATOR = '\0';
const DOUBLES = 4;
const FLAG_EXECUTABLE = 1 << 12;
const FLAG_MODE = 1 << 13;
const STAT_DOUBLES = 4;

export function packTask(task: WriteTask): TaskMessage {
  if (task.kind !== 'files' || !task.items.every(isPackable)) return task;
  const { bytes, bytesStart, items } = task;
  const doubles = new Float64Array(items.length * DOUBLES);
  const mtimesNs = new BigInt64Array(items.length);
  let hasBlobs = false;
  for (let index = 0; index < items.length; index += 1) {
    const { blob, executable, mode, mtimeNs, offset, sizeBytes, storedBytes = 0 } = items[index]!;
    const row = index * DOUBLES;
    doubles[row] = sizeBytes;
    doubles[row + 1] = offset;
    doubles[row + 2] = (executable ? FLAG_EXECUTABLE : 0) | (mode === undefined ? 0 : FLAG_MODE | mode);
    doubles[row + 3] = storedBytes;
    mtimesNs[index] = mtimeNs;
    hasBlobs ||= blob !== undefined;
  }
  const paths = items.map(({ path }) => path).join(SEPARATOR);
  const blobs = hasBlobs ? items.map(({ blob = '' }) => blob).join(SEPARATOR) : undefined;
  return { kind: 'packedFiles', bytes, bytesStart, paths, blobs, doubles, mtimesNs };
}

/** Times outside 1677 to 2262, and invalid paths or modes, are sent unpacked. */
function isPackable({ mode = 0, mtimeNs, path }: PackedFile): boolean {
  return BigInt.asIntN(64, mtimeNs) === mtimeNs && (mode & MODE_BITS) === mode && !path.includes(SEPARATOR);
}

export function unpackTask(message: TaskMessage): WriteTask {
  if (message.kind !== 'packedFiles') return message;
  const { bytes, bytesStart, doubles, mtimesNs } = message;
  const paths = message.paths.split(SEPARATOR);
  const blobs = message.blobs?.split(SEPARATOR);
  const items = Array.from(mtimesNs, (mtimeNs, index): PackedFile => {
    const row = index * DOUBLES;
    const flags = doubles[row + 2]!;
    const blob = blobs?.[index] || undefined;
    const storedBytes = doubles[row + 3]!;
    return {
      path: paths[index]!,
      sizeBytes: doubles[row]!,
      offset: doubles[row + 1]!,
      mtimeNs,
      executable: (flags & FLAG_EXECUTABLE) !== 0,
      ...((flags & FLAG_MODE) === 0 ? {} : { mode: flags & MODE_BITS }),
      ...(blob === undefined ? {} : { blob: blob as BlobHash }),
      ...(storedBytes === 0 ? {} : { storedBytes }),
    };
  });
  return { kind: 'files', bytes, bytesStart, items };
}

export function packResult(task: WriteTask, result: TaskResults[WriteTask['kind']]): ResultMessage {
  if (task.kind !== 'files') return result;
  const outcomes = result as TaskResults['files'];
  const stats = new Float64Array(outcomes.length * STAT_DOUBLES);
  const others = new Map<number, FileOutcome>();
  for (let index = 0; index < outcomes.length; index += 1) {
    const outcome = outcomes[index]!;
    if ('stat' in outcome) {
      const { ctimeMs, inode, mtimeMs, sizeBytes } = outcome.stat;
      stats.set([mtimeMs, ctimeMs, inode, sizeBytes], index * STAT_DOUBLES);
    } else others.set(index, outcome);
  }
  return { kind: 'packedOutcomes', stats, others };
}

export function unpackResult(message: ResultMessage): TaskResults[WriteTask['kind']] {
  if (!isPacked(message)) return message;
  const { others, stats } = message;
  return Array.from({ length: stats.length / STAT_DOUBLES }, (_, index): FileOutcome => {
    const row = index * STAT_DOUBLES;
    return (
      others.get(index) ?? {
        stat: {
          mtimeMs: stats[row]!,
          ctimeMs: stats[row + 1]!,
          inode: stats[row + 2]!,
          sizeBytes: stats[row + 3]!,
        },
      }
    );
  });
}

function isPacked(message: ResultMessage): message is PackedOutcomes {
  return typeof message === 'object' && message !== null && 'kind' in message;
}
