/**
 * Reads in worker threads, which start when there is work for them.
 *
 * Memory cannot deadlock: a task gets its memory before it is sent, nothing ever waits behind a large file in
 * a thread, and a thread with a block can fill and send it without another. So all memory returns as soon as
 * the consumer releases it.
 */
import { Worker } from 'node:worker_threads';
import { DrayError, fromErrorRecord } from '../../api/error.ts';
import type { Lease } from '../../base/leased-memory.ts';
import { blockBytesOf } from './read-limits.ts';
import type { ReadTask, TaskRunner } from './read-tasks.ts';
import { type FromThread, PATH_SEPARATOR, type ThreadData, type ToThread } from './reader-protocol.ts';
import type { LargeFile, ReadRun } from './reader-run.ts';
import type { ReadRequest } from './reader-types.ts';
import { createReadingGauge, processCpuMs } from './reading-gauge.ts';

/** One thread and its work: up to `BATCHES_MAX` batches, so that it never idles, or one large file. */
interface Lane {
  readonly worker: Worker;
  readonly batches: BatchUnderWay[];
  large: LargeUnderWay | undefined;
  /** The leases of the thread's blocks, in the order that they were sent. */
  readonly blockLeases: Lease[];
}

interface BatchUnderWay {
  readonly requests: readonly ReadRequest[];
  readonly lease: Lease | undefined;
}

interface LargeUnderWay {
  readonly file: LargeFile;
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
  let isClosed = false;

  const openLane = (): Lane => {
    const { settings, memory } = run;
    const workerData: ThreadData = {
      settings,
      memory: settings.wantBytes ? memory.memory().chunkerMemory : undefined,
    };
    const worker = new Worker(WORKER_URL, { workerData, name: 'dray-hash' });
    const lane: Lane = { worker, batches: [], large: undefined, blockLeases: [] };
    worker.on('message', (message: FromThread) => {
      if (isClosed) return;
      if (message.kind === 'batch') measureBatch(lane);
      onMessage(run, lane, message);
    });
    const onDeath = (cause: unknown) => {
      if (isClosed) return;
      run.fail(new DrayError('internal', `A thread that reads files died: ${cause}`, { cause }));
    };
    worker.on('error', onDeath);
    worker.on('messageerror', onDeath);
    worker.on('exit', (code) => onDeath(new Error(`it ended with code ${code}`)));
    lanes.push(lane);
    return lane;
  };

  /** Call it before the batch is removed from the lane. */
  const measureBatch = (lane: Lane) => {
    const isFull = lanes.every(
      ({ batches, large }) => large || batches.length > (batches === lane.batches ? 1 : 0),
    );
    gauge.read(lane.batches[0]!.requests.length, isFull);
  };

  /** An idle thread, a new one, or for a batch one with room for another. */
  const pickLane = (kind: ReadTask['kind']): Lane | undefined => {
    const idle = lanes.find((lane) => lane.large === undefined && lane.batches.length === 0);
    if (idle !== undefined) return idle;
    // Several large files at once would only make a disk seek, so their waiting never justifies a new thread.
    if (lanes.length < (kind === 'batch' ? gauge.threads : threadCount)) return openLane();
    if (kind !== 'batch') return undefined;
    return lanes.find((lane) => lane.large === undefined && lane.batches.length < BATCHES_MAX);
  };

  return {
    async start(task) {
      await run.room();
      const lane = await run.until(() => pickLane(task.kind));
      if (task.kind === 'batch') await sendBatch(run, lane, task);
      else sendLarge(run, lane, task.request, task.kind);
    },
    async finish() {
      await run.until(() => lanes.every((lane) => lane.large === undefined && lane.batches.length === 0));
    },
    async close() {
      isClosed = true;
      await Promise.all(lanes.map(({ worker }) => worker.terminate()));
      for (const lane of lanes) {
        for (const { lease } of lane.batches.splice(0)) lease?.release();
        for (const lease of lane.blockLeases.splice(0)) lease?.release();
      }
    },
  };
}

async function sendBatch(run: ReadRun, lane: Lane, task: ReadTask & { kind: 'batch' }): Promise<void> {
  const { requests, sizeBytes } = task;
  const lease = run.settings.wantBytes ? await run.memory.take(sizeBytes, run.signal) : undefined;
  lane.batches.push({ requests, lease });
  const paths = requests.map(({ path }) => path).join(PATH_SEPARATOR);
  send(lane, { kind: 'batch', paths, span: lease?.span });
}

function sendLarge(run: ReadRun, lane: Lane, request: ReadRequest, fileClass: 'cut' | 'stream'): void {
  const isCut = fileClass === 'cut';
  const large = { file: { request, isCut, chunks: [] }, isHandedOver: isCut && run.settings.wantBytes };
  lane.large = large;
  send(lane, { kind: 'large', path: request.path, fileClass });
  void giveBlock(run, lane, large);
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
    send(lane, { kind: 'block', span: lease?.span });
  } catch (error) {
    run.fail(error);
  }
}

function onMessage(run: ReadRun, lane: Lane, message: FromThread): void {
  switch (message.kind) {
    case 'batch': {
      const { requests, lease } = lane.batches.shift()!;
      run.deliverBatch(requests, message.report, lease);
      break;
    }
    case 'wantBlock':
      void giveBlock(run, lane, lane.large!);
      break;
    case 'chunks': {
      const { file, isHandedOver } = lane.large!;
      run.deliverChunks(file, message.chunks, isHandedOver ? lane.blockLeases.shift() : undefined);
      break;
    }
    case 'unused':
      lane.blockLeases.shift()?.release();
      break;
    case 'end': {
      const { file } = lane.large!;
      lane.large = undefined;
      run.deliverEnd(file, message.end);
      break;
    }
    case 'crashed':
      run.fail(fromErrorRecord(message.error));
      break;
  }
  run.changed();
}

function send(lane: Lane, message: ToThread): void {
  lane.worker.postMessage(message);
}
