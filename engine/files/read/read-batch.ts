/**
 * Reads many small files, or one of medium size, into one buffer: the work of one message to a thread and
 * back. Each file's facts travel in columns of numbers, because cloning thousands of objects costs more than
 * reading thousands of small files.
 */
import { hash as digestOf } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { ErrorRecord } from '../../api/error.ts';
import { type BlobHash, EMPTY_BLOB } from '../../model/entry.ts';
import { describeFailure, nearestTimeNs, openFile, readStatOf, readWhole } from './open-file.ts';
import { classOf, type ReaderSettings } from './read-limits.ts';
import type { ReadRequest, ReadResult, ReadStat } from './reader-types.ts';

/** The files' outcomes in the order of the paths. Columns and errors can be sent between threads. */
export interface BatchReport {
  /** `BATCH_ROW_BYTES` for each file: first all doubles, then all mtimes, then all hashes. */
  readonly columns: ArrayBuffer;
  /** By index of the file. */
  readonly errors: ReadonlyMap<number, ErrorRecord>;
}

export interface BatchTask {
  readonly settings: ReaderSettings;
  readonly paths: readonly string[];
  /** Receives the files: back to back, or if no bytes are requested each over the previous one. */
  readonly buffer: Uint8Array;
}

const OUTCOME_WHOLE = 0;
const OUTCOME_FAILED = 1;
const OUTCOME_RESIZED = 2;

/** Doubles of a row: outcome, flags, offset, size, mtime, ctime, inode. */
const DOUBLES = 7;
const FLAG_EXECUTABLE = 1;
const FLAG_RACY = 2;
const HASH_DIGITS = 64;
const BATCH_ROW_BYTES = (DOUBLES + 1) * 8 + HASH_DIGITS;

interface Columns {
  readonly doubles: Float64Array;
  readonly mtimesNs: BigInt64Array;
  readonly hashes: Buffer;
}

export function readBatch(task: BatchTask): BatchReport {
  const buffer = new ArrayBuffer(task.paths.length * BATCH_ROW_BYTES);
  const columns = viewColumns(buffer, task.paths.length);
  const errors = new Map<number, ErrorRecord>();
  let offset = 0;
  for (let index = 0; index < task.paths.length; index += 1) {
    const path = task.paths[index]!;
    try {
      const readBytes = readOne(task, index, offset, columns);
      if (task.settings.wantBytes) offset += readBytes;
    } catch (error) {
      columns.doubles[index * DOUBLES] = OUTCOME_FAILED;
      errors.set(index, describeFailure(path, error));
    }
  }
  return { columns: buffer, errors };
}

/** Reads one file to `offset` and fills its row. Returns the number of buffer bytes that it used. */
function readOne(task: BatchTask, index: number, offset: number, columns: Columns): number {
  const file = openFile(task.settings.root + task.paths[index]!);
  try {
    const { doubles } = columns;
    const row = index * DOUBLES;
    const stat = readStatOf(file);
    const sizeBytes = stat.sizeBytes;
    doubles[row + 3] = sizeBytes;
    const fits = sizeBytes <= task.buffer.length - offset;
    if (!fits || classOf(sizeBytes, task.settings) !== 'batch') {
      doubles[row] = OUTCOME_RESIZED;
      return 0;
    }
    // The byte after the file's own is the next file's, or is not used.
    readWhole(file, task.buffer.subarray(offset, offset + sizeBytes + 1));
    const bytes = task.buffer.subarray(offset, offset + sizeBytes);
    const hash = sizeBytes === 0 ? EMPTY_BLOB : digestOf('sha256', bytes, 'hex');
    doubles[row] = OUTCOME_WHOLE;
    doubles[row + 1] = (stat.executable ? FLAG_EXECUTABLE : 0) | (stat.isRacy ? FLAG_RACY : 0);
    doubles[row + 2] = offset;
    doubles[row + 4] = stat.mtimeMs;
    doubles[row + 5] = stat.ctimeMs;
    doubles[row + 6] = stat.inode;
    columns.mtimesNs[index] = nearestTimeNs(stat.mtimeNs);
    columns.hashes.write(hash, index * HASH_DIGITS, 'latin1');
    return sizeBytes;
  } finally {
    closeSync(file.descriptor);
  }
}

/**
 * The files' results, with views of `bytes` if given. A file whose size does not suit the batch goes to
 * `resized` with its new size, to be read again.
 */
export function decodeBatch(
  report: BatchReport,
  requests: readonly ReadRequest[],
  bytes: Uint8Array | undefined,
): { readonly results: ReadResult[]; readonly resized: ReadRequest[] } {
  const columns = viewColumns(report.columns, requests.length);
  const results: ReadResult[] = [];
  const resized: ReadRequest[] = [];
  for (let index = 0; index < requests.length; index += 1) {
    const request = requests[index]!;
    const row = index * DOUBLES;
    const sizeBytes = columns.doubles[row + 3]!;
    switch (columns.doubles[row]) {
      case OUTCOME_WHOLE: {
        const at = index * HASH_DIGITS;
        const hash = columns.hashes.toString('latin1', at, at + HASH_DIGITS) as BlobHash;
        const stat = decodeStat(columns, index);
        const { id } = request;
        if (bytes === undefined) results.push({ kind: 'whole', id, stat, hash });
        else {
          const at = columns.doubles[row + 2]!;
          const view = bytes.subarray(at, at + sizeBytes);
          results.push({ kind: 'whole', id, stat, hash, bytes: view });
        }
        break;
      }
      case OUTCOME_RESIZED:
        resized.push({ ...request, sizeBytes });
        break;
      default:
        results.push({ kind: 'failed', id: request.id, error: report.errors.get(index)! });
    }
  }
  return { results, resized };
}

function decodeStat({ doubles, mtimesNs }: Columns, index: number): ReadStat {
  const row = index * DOUBLES;
  const flags = doubles[row + 1]!;
  return {
    sizeBytes: doubles[row + 3]!,
    mtimeMs: doubles[row + 4]!,
    ctimeMs: doubles[row + 5]!,
    inode: doubles[row + 6]!,
    mtimeNs: mtimesNs[index]!,
    executable: (flags & FLAG_EXECUTABLE) !== 0,
    isRacy: (flags & FLAG_RACY) !== 0,
  };
}

function viewColumns(buffer: ArrayBuffer, count: number): Columns {
  const mtimesAt = count * DOUBLES * 8;
  const hashesAt = mtimesAt + count * 8;
  return {
    doubles: new Float64Array(buffer, 0, count * DOUBLES),
    mtimesNs: new BigInt64Array(buffer, mtimesAt, count),
    hashes: Buffer.from(buffer, hashesAt, count * HASH_DIGITS),
  };
}
