/**
 * Reads in worker threads, which start when there is work for them.
 *
 * Memory cannot deadlock: a task gets its memory before it is sent, nothing ever waits behind a large file in
 * a thread, and a thread with a block can fill and send it without another. So all memory returns as soon as
 * the consumer releases it.
 */
import { Worker } from 'node:worker_threads';
import type { Lease } from '../../base/leased-memory.ts';
import { createWorkerPool, type PoolLane } from '../../base/worker-pool.ts';
import type { BatchReport } from './read-batch.ts';
import type { LargeEnd } from './read-large.ts';
import { blockBytesOf } from './read-limits.ts';
import type { ReadTask, TaskRunner } from './read-tasks.ts';
import {
  type NoteFromThread,
  type NoteToThread,
  PATH_SEPARATOR,
  type ReaderAnswer,
  type ReaderTask,
  type ThreadData,
} from './reader-protocol.ts';
import type { LargeRead, ReadRun } from './reader-run.ts';
import type { ReadRequest } from './reader-types.ts';
import { createReadingGauge, processCpuMs } from './reading-gauge.ts';

/** One thread and its work: up to `BATCHES_MAX` batches, so that it never idles, or one large file. */
interface Lane extends PoolLane<ReaderTask, ReaderAnswer> {
  batches: number;
  large: LargeUnderWay | undefined;
  /** The leases of the thread's blocks, in the order that they were sent. */
  readonly blockLeases: Lease[];
}

interface LargeUnderWay {
  readonly file: LargeRead;
  /** Whether blocks are spans of the shared memory. */
  readonly isHandedOver: boolean;
}

const BATCHES_MAX = 2;
const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './hash-worker.ts' : './hash-worker.js',
  import.meta.url,
);

export function createThreadRunner(run: ReadRun, threadCount: number): TaskRunner {
  const lanes: Lane[] = [];
  const gauge = createReadingGauge({
    threads: threadCount,
    cpuMs: processCpuMs,
    nowMs: () => performance.now(),
  });
  const { settings, memory, signal } = run;
  const workerData: ThreadData = {
    settings,
    memory: settings.wantBytes ? memory.memory().chunkerMemory : undefined,
  };
  const pool = createWorkerPool<ReaderTask, ReaderAnswer>({
    work: 'reads files',
    signal,
    openThread: () => new Worker(WORKER_URL, { workerData, name: 'dray-hash' }),
    toMessage: (task) => ({ message: task, moved: [] }),
    toResult: (answer) => answer,
  });

  const openLane = (): Lane => {
    const thread = pool.open((note: NoteFromThread) => onNote(run, lane, note));
    const lane: Lane = { ...thread, batches: 0, large: undefined, blockLeases: [] };
    lanes.push(lane);
    return lane;
  };

  /** Call it before the batch is removed from the lane. */
  const measureBatch = (lane: Lane, files: number) => {
    const isFull = lanes.every((each) => each.large || each.batches > (each === lane ? 1 : 0));
    gauge.read(files, isFull);
  };

  /** An idle thread, a new one, or for a batch one with room for another. */
  const pickLane = (kind: ReadTask['kind']): Lane | undefined => {
    const idle = lanes.find((lane) => lane.large === undefined && lane.batches === 0);
    if (idle !== undefined) return idle;
    // Several large files at once would only make a disk seek, so their waiting never justifies a new thread.
    if (lanes.length < (kind === 'batch' ? gauge.threads : threadCount)) return openLane();
    if (kind !== 'batch') return undefined;
    return lanes.find((lane) => lane.large === undefined && lane.batches < BATCHES_MAX);
  };

  return {
    async start(task) {
      await run.room();
      const lane = await run.until(() => pickLane(task.kind));
      if (task.kind === 'batch') await startBatch(run, lane, task, measureBatch);
      else void readLarge(run, lane, task.request, task.kind);
    },
    async finish() {
      await run.until(() => lanes.every((lane) => lane.large === undefined && lane.batches === 0));
    },
    async close() {
      // Batches release their memory as they fail.
      await pool.terminate();
      for (const { blockLeases } of lanes) for (const lease of blockLeases.splice(0)) lease.release();
    },
  };
}

/** Resolves when the batch is sent. */
async function startBatch(
  run: ReadRun,
  lane: Lane,
  { requests, sizeBytes }: ReadTask & { kind: 'batch' },
  onRead: (lane: Lane, files: number) => void,
): Promise<void> {
  const lease = run.settings.wantBytes ? await run.memory.take(sizeBytes, run.signal) : undefined;
  const paths = requests.map(({ path }) => path).join(PATH_SEPARATOR);
  lane.batches += 1;
  lane.run({ kind: 'batch', paths, span: lease?.span }).then(
    (report) => {
      onRead(lane, requests.length);
      lane.batches -= 1;
      run.deliverBatch(requests, report as BatchReport, lease);
      run.changed();
    },
    (error: unknown) => {
      lease?.release();
      run.fail(error);
    },
  );
}

/** Never rejects: a failure ends the run. */
async function readLarge(
  run: ReadRun,
  lane: Lane,
  request: ReadRequest,
  fileClass: 'cut' | 'stream',
): Promise<void> {
  const isCut = fileClass === 'cut';
  const file = { request, isCut, chunks: [] };
  const large = { file, isHandedOver: isCut && run.settings.wantBytes };
  lane.large = large;
  const reading = lane.run({ kind: 'large', path: request.path, fileClass });
  void giveBlock(run, lane, large);
  try {
    const end = await reading;
    lane.large = undefined;
    run.deliverEnd(file, end as LargeEnd);
    run.changed();
  } catch (error) {
    run.fail(error);
  }
}

/** Never rejects: a failure ends the run. */
async function giveBlock(run: ReadRun, lane: Lane, large: LargeUnderWay): Promise<void> {
  try {
    await run.room();
    const lease = large.isHandedOver
      ? await run.memory.take(blockBytesOf(run.settings), run.signal)
      : undefined;
    if (lane.large !== large) {
      lease?.release();
      return;
    }
    if (lease !== undefined) lane.blockLeases.push(lease);
    lane.notify({ span: lease?.span } satisfies NoteToThread);
  } catch (error) {
    run.fail(error);
  }
}

function onNote(run: ReadRun, lane: Lane, note: NoteFromThread): void {
  switch (note.kind) {
    case 'wantBlock':
      void giveBlock(run, lane, lane.large!);
      break;
    case 'chunks': {
      const { file, isHandedOver } = lane.large!;
      run.deliverChunks(file, note.chunks, isHandedOver ? lane.blockLeases.shift() : undefined);
      break;
    }
    case 'unused':
      lane.blockLeases.shift()?.release();
      break;
  }
}
