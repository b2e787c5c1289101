/**
 * Decodes the first rows of a Parquet file in a thread of its own. The thread reads at most `READ_BYTES_MAX`
 * of the file, and is terminated after `DECODING_MS_MAX`.
 */
import { Worker } from 'node:worker_threads';
import type { TablePreview } from '../../../api/host/file-preview.ts';
import { checkAborted } from '../../../base/abort.ts';
import type { ParquetSource } from './parquet-source.ts';
import type { FromParquetWorker, ToParquetWorker } from './parquet-worker.ts';

const READ_BYTES_MAX = 32 * 1024 * 1024;
const READS_MAX = 2_000;
/** Excludes the time that reads take. */
const DECODING_MS_MAX = 10_000;
/** A last bound: the checks before each allocation keep the heap far below it. */
const HEAP_MB_MAX = 1_024;

const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './parquet-worker.ts' : './parquet-worker.js',
  import.meta.url,
);

export type ParquetOutcome = { readonly table: TablePreview } | { readonly why: string };

export interface ParquetOptions {
  readonly signal: AbortSignal;
  /** For tests. */
  readonly decodingMsMax?: number;
}

/** @throws `aborted`, and the errors of `read`. */
export async function previewParquet(
  { read, sizeBytes }: ParquetSource,
  { decodingMsMax = DECODING_MS_MAX, signal }: ParquetOptions,
): Promise<ParquetOutcome> {
  checkAborted(signal);
  const { promise, reject, resolve } = Promise.withResolvers<ParquetOutcome>();
  const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB_MAX, stackSizeMb: 4 };
  const worker = new Worker(WORKER_URL, {
    name: 'dray-parquet',
    workerData: { sizeBytes },
    execArgv: [],
    resourceLimits,
  });
  let timer: NodeJS.Timeout | undefined;
  let readsOpen = 0;
  let reads = 0;
  let readBytes = 0;
  const decode = () => {
    clearTimeout(timer);
    timer = setTimeout(() => resolve({ why: 'decoding it takes too long' }), decodingMsMax);
  };
  const answer = async (id: number, start: number, end: number): Promise<void> => {
    reads += 1;
    readBytes += end - start;
    if (!(start >= 0 && end > start && end <= sizeBytes) || reads > READS_MAX || readBytes > READ_BYTES_MAX)
      return resolve({ why: 'its first rows are spread over more than 32 MiB' });
    readsOpen += 1;
    clearTimeout(timer);
    const bytes = await read(start, end);
    readsOpen -= 1;
    if (readsOpen === 0) decode();
    worker.postMessage({ id, bytes } satisfies ToParquetWorker);
  };
  worker.on('message', (message: FromParquetWorker) => {
    if (message.did === 'read') answer(message.id, message.start, message.end).catch(reject);
    else resolve(message.did === 'table' ? { table: message.table } : { why: message.why });
  });
  worker.on('error', () => resolve({ why: 'decoding it failed' }));
  worker.once('exit', () => resolve({ why: 'decoding it failed' }));
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  decode();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    // The thread loads no native code, so it can be terminated at any moment.
    await worker.terminate();
  }
}
