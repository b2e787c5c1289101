/**
 * Sends a file that differs between two machines by its changed blocks only. The new file is made beside the
 * old one, each of its blocks verified, and renamed over it.
 *
 * A sparse file is sent the same way even if the destination has no old file: zeros are not sent, and holes
 * stay holes.
 *
 * When that is impossible (an older peer, an unreadable old file), the caller sends the whole file.
 */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type ErrorCode, toDrayError } from '../../../api/error.ts';
import { Budget } from '../../../base/budget.ts';
import type { BlockSignature } from '../../../checksums/block-digest.ts';
import { type BlockThreads, openBlockThreads } from '../../../files/blocks/block-threads.ts';
import { openLocalDeltaSource } from '../../../files/blocks/local-delta-source.ts';
import { openLocalDeltaTarget } from '../../../files/blocks/local-delta-target.ts';
import { isRacy } from '../../../files/read/open-file.ts';
import { isSparseFile, LINK_SUFFIX } from '../../../files/scan/local-place.ts';
import type { TreeWriter } from '../../../files/write/tree-writer-types.ts';
import { parentOf } from '../../../files/write/writer-folders.ts';
import {
  DELTA_CHUNK_SIZE,
  type DeltaFile,
  type DeltaTarget,
  totalBytes,
} from '../../../model/delta-sides.ts';
import { travellingMode } from '../../../model/special-modes.ts';
import { fileToken, type TreeItem } from '../../../model/tree-item.ts';
import { type DeltaResult, runBlockDelta, SEGMENT_BYTES } from '../../../transfer/delta/block-delta.ts';
import type { AdaptiveLimit } from '../../../transfer/limit/adaptive-limit.ts';
import type { TreeRun } from '../copy-run.ts';
import type { ForeseenDelta, Moved } from './mover.ts';

export interface DeltaMover {
  /**
   * Undefined when the whole file has to be sent; the attempt is undone and its bytes are counted.
   * @param hint `isSparse`: for a source at a peer, as the peer reported it. A local source is checked here.
   */
  move(item: TreeItem, over: TreeItem | undefined, hint?: SparseHint): Promise<Moved | undefined>;
  /** The bytes that `move` would send. Reads both ends. */
  foresee(item: TreeItem, over: TreeItem | undefined): Promise<ForeseenDelta | undefined>;
  close(): Promise<void>;
}

export interface SparseHint {
  readonly isSparse?: boolean;
}

/** @param writer Of a local destination; undefined at a peer, which has its own. */
export type OpenDeltaMover = (writer: FileMaking | undefined) => DeltaMover | undefined;

type FileMaking = Pick<TreeWriter, 'makeFolder' | 'newTemporary'>;

/**
 * From this size on, a delta of a file with a tenth changed takes less CPU time at both ends together than
 * the whole file, even over loopback (measured: 0.85, at 1 MiB and at 2 MiB).
 */
const BLOCK_DELTA_BYTES_MIN = 1024 * 1024;
/** With an old file below this share of the new one, a delta saves less than its digests cost. */
const OLD_SHARE_MIN = 1 / 8;
const BLOCK_BYTES = 64 * 1024;
/** Files in flight, and segments of each. */
const FILES_OPEN_MAX = 8;
const SEGMENTS_AT_ONCE = 4;

/** After these errors, sending the whole file would fail as well, or would hide the error. */
const NO_REASON_FOR_WHOLE: ReadonlySet<ErrorCode> = new Set([
  'aborted',
  'diskFull',
  'internal',
  'noCredentials',
  'slowDown',
  'unreachable',
]);

/** Undefined when no delta is possible: with a store, within this machine, or when it is turned off. */
export function createDeltaMover(run: TreeRun, writer: FileMaking | undefined): DeltaMover | undefined {
  const { destination, request, source } = run;
  const sides = [source, destination];
  const isBetweenMachines = sides.some(({ kind }) => kind === 'remote');
  const areFiles = sides.every((side) => side.kind === 'local' || side.store.files !== undefined);
  if (request.delta === false || !isBetweenMachines || !areFiles) return undefined;
  const open = new Budget(FILES_OPEN_MAX);
  const { signal } = run.tasks;
  // One seed for the run: threads that change seeds start over.
  const seed = randomBytes(8).readBigUInt64BE();
  const signature: BlockSignature = { hash: 'xxh3', seed, blockBytes: BLOCK_BYTES };
  let threads: BlockThreads | undefined;
  const threadsOf = () => {
    threads ??= openBlockThreads({ threads: availableParallelism(), signal });
    return threads;
  };
  // Turned off by the first answer of a peer without deltas.
  let isKnown = true;

  async function attempt(
    item: TreeItem,
    over: TreeItem | undefined,
    { isDryRun, isSparse = false }: SparseHint & { readonly isDryRun: boolean },
  ) {
    if (!isKnown || !isPlain(run, item, over)) return undefined;
    if (!isSparse && !isAlike(item, over) && !isSparseHere(run, item)) return undefined;
    const permit = await open.acquire(1, signal);
    try {
      return await deltaOnce({ run, writer, signature, threads: threadsOf(), isDryRun }, item);
    } catch (error) {
      const { code, data } = toDrayError(error);
      if (NO_REASON_FOR_WHOLE.has(code) || data.reason === 'changedWhileRead') throw error;
      if (code === 'unsupported') isKnown = false;
      return undefined;
    } finally {
      permit.release();
    }
  }

  return {
    async move(item, over, hint = {}) {
      const done = await attempt(item, over, { ...hint, isDryRun: false });
      return done && movedOf(run, done);
    },
    async foresee(item, over) {
      const done = await attempt(item, over, { isDryRun: true });
      const { batches, sentBytes, sizeBytes } = done?.result ?? {};
      if (sizeBytes === undefined) return undefined;
      return { batches: batches!, sentBytes: sentBytes!, segments: Math.ceil(sizeBytes / SEGMENT_BYTES) };
    },
    close: async () => threads?.close(),
  };
}

function isPlain({ request }: TreeRun, item: TreeItem, over: TreeItem | undefined): boolean {
  if (item.special || over?.special || item.sizeBytes < BLOCK_DELTA_BYTES_MIN) return false;
  return !(request.links && item.path.endsWith(LINK_SUFFIX));
}

function isAlike(item: TreeItem, over: TreeItem | undefined): boolean {
  return (
    over !== undefined && over.sizeBytes >= Math.max(BLOCK_DELTA_BYTES_MIN, item.sizeBytes * OLD_SHARE_MIN)
  );
}

/** Holes need not be sent, whatever the destination has. */
function isSparseHere({ source }: TreeRun, { path }: TreeItem): boolean {
  return source.kind === 'local' && isSparseFile(join(source.root, source.pathOf(path)));
}

interface Making {
  readonly run: TreeRun;
  readonly writer: FileMaking | undefined;
  readonly signature: BlockSignature;
  readonly threads: BlockThreads;
  readonly isDryRun: boolean;
}

interface Made {
  readonly result: DeltaResult;
  readonly sourceToken: string;
}

async function deltaOnce(making: Making, item: TreeItem): Promise<Made> {
  const { isDryRun, run, signature } = making;
  let doneBytes = 0;
  let sentBytes = 0;
  const source = await openSource(making, item);
  try {
    const result = await runBlockDelta({
      source,
      target: await openTarget(making, item, source),
      signature,
      mode: 'blocks',
      concurrency: SEGMENTS_AT_ONCE,
      memory: run.memory,
      ...(isDryRun ? { isDryRun } : {}),
      signal: run.tasks.signal,
      onProgress: (report) => {
        if (!isDryRun) run.progress.add(0, report.doneBytes - doneBytes, item.path);
        ({ doneBytes, sentBytes } = report);
      },
    });
    return { result, sourceToken: source.token };
  } catch (error) {
    if (!isDryRun) {
      run.progress.add(0, -doneBytes, item.path);
      const { receivedBytes, sentBytes: sent } = travelled(run, sentBytes);
      run.counts.receivedBytes += receivedBytes;
      run.counts.sentBytes += sent;
    }
    throw error;
  } finally {
    await source.close();
  }
}

function movedOf(run: TreeRun, { result, sourceToken }: Made): Moved {
  return {
    sourceToken,
    destinationToken: result.token,
    ...travelled(run, result.sentBytes),
    sizeBytes: result.sizeBytes,
    isProgressCounted: true,
  };
}

function travelled({ destination, source }: TreeRun, bytes: number) {
  return {
    sentBytes: destination.kind === 'remote' ? bytes : 0,
    receivedBytes: source.kind === 'remote' ? bytes : 0,
  };
}

async function openSource({ run, signature, threads }: Making, { path }: TreeItem): Promise<DeltaFile> {
  const { source, tasks } = run;
  const { signal } = tasks;
  const at = source.pathOf(path);
  if (source.kind === 'local')
    return openLocalDeltaSource({
      path: join(source.root, at),
      signature,
      chunkSize: DELTA_CHUNK_SIZE,
      threads,
    });
  const opened = await source.limit.run(() => source.store.files!.deltas.source(at, signature, { signal }), {
    bytes: 0,
    signal,
  });
  return limitedSource(opened, source.limit);
}

async function openTarget(
  { isDryRun, run, signature, threads, writer }: Making,
  { path }: TreeItem,
  source: DeltaFile,
): Promise<DeltaTarget> {
  const { clock, destination, tasks } = run;
  const { signal } = tasks;
  const { mtimeNs } = source;
  const mode = travellingMode(source.mode, run.request);
  const at = destination.pathOf(path);
  if (destination.kind === 'local') {
    // Refuses a path that leads out, and one through a link.
    if (!isDryRun && parentOf(at) !== '') writer!.makeFolder(`${parentOf(at)}/`);
    return openLocalDeltaTarget({
      path: join(destination.root, at),
      signature,
      chunkSize: DELTA_CHUNK_SIZE,
      threads,
      newTemporary: isDryRun ? undefined : writer!.newTemporary,
      isDryRun,
      mtimeNs,
      mode,
      tokenOf: (stat) => (isRacy(stat.mtimeMs, clock.nowMs()) ? '' : fileToken(stat)),
    });
  }
  const wish = { signature, mode, mtimeNs, isDryRun };
  const opened = await destination.limit.run(
    () => destination.store.files!.deltas.target(at, wish, { signal }),
    { bytes: 0, signal },
  );
  return limitedTarget(opened, destination.limit);
}

/** Delta requests count in the same limit as all others. */
function limitedSource(source: DeltaFile, limit: AdaptiveLimit): DeltaFile {
  return {
    ...source,
    sign: (start, end, signal) => limit.run(() => source.sign(start, end, signal), { bytes: 0, signal }),
    read: (ranges, into, wish) =>
      limit.run(() => source.read(ranges, into, wish), { bytes: totalBytes(ranges), signal: wish.signal }),
  };
}

function limitedTarget(target: DeltaTarget, limit: AdaptiveLimit): DeltaTarget {
  return {
    ...target,
    sign: (start, end, signal) => limit.run(() => target.sign(start, end, signal), { bytes: 0, signal }),
    write: (ranges, bytes, signal) =>
      limit.run(() => target.write(ranges, bytes, signal), { bytes: bytes.byteLength, signal }),
    clear: (ranges, signal) => limit.run(() => target.clear(ranges, signal), { bytes: 0, signal }),
    copy: (moves, signal) => limit.run(() => target.copy(moves, signal), { bytes: 0, signal }),
  };
}
