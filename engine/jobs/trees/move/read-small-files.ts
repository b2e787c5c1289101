/** Reads small files of a peer, many in one request. */
import { fromErrorRecord } from '../../../api/error.ts';
import type { FileCalls, FileRead } from '../../../remotes/file-calls.ts';
import type { TreeRun } from '../copy-run.ts';
import type { RemoteSide, TreeSide } from '../sides.ts';
import { BATCH_BYTES, BATCH_FILES } from './batch-limits.ts';
import { createGathering } from './gather-batches.ts';

export type ReadFile = Exclude<FileRead, { readonly error: unknown }>;

export interface ReadBatches {
  read(key: string, sizeBytes: number): Promise<ReadFile>;
  flush(): void;
}

interface Waiting {
  readonly key: string;
  readonly resolve: (file: ReadFile) => void;
  readonly reject: (error: unknown) => void;
}

export function createReadBatches(run: TreeRun<RemoteSide, TreeSide>, files: FileCalls): ReadBatches {
  const { limit } = run.source;
  const { signal } = run.tasks;
  const gathering = createGathering<Waiting>({
    tasksMax: Math.min(BATCH_FILES, files.filesMax),
    bytesMax: Math.min(BATCH_BYTES, files.bytesMax),
    send(batch, sizeBytes) {
      limit
        .run(() => readBatch(files, batch, signal), { bytes: sizeBytes, signal })
        .catch((error: unknown) => {
          for (const { reject } of batch) reject(error);
        });
    },
  });
  return {
    read: (key, sizeBytes) =>
      new Promise((resolve, reject) => gathering.add({ key, resolve, reject }, sizeBytes)),
    flush: () => gathering.flush(),
  };
}

/** Files that have grown since they were listed may not fit into one answer: the rest is requested again. */
async function readBatch(files: FileCalls, batch: readonly Waiting[], signal: AbortSignal): Promise<void> {
  let left = batch;
  while (left.length > 0) {
    const results = await files.read(
      left.map(({ key }) => key),
      { signal },
    );
    for (const [at, result] of results.entries()) {
      if ('error' in result) left[at]!.reject(fromErrorRecord(result.error));
      else left[at]!.resolve(result);
    }
    left = left.slice(results.length);
  }
}
