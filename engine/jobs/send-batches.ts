/** Small local files on their way to another machine, many to a request. */
import { fromErrorRecord } from '../api/error.ts';
import type { FileFace } from '../remotes/file-face.ts';
import { readSmallFile, type SmallFile } from '../workspace/file-source.ts';
import { createGathering } from './gathering.ts';
import type { TreeRun } from './tree-run.ts';
import type { LocalSide, RemoteSide } from './tree-sides.ts';

/** Larger ones are worth a request of their own. */
export const SENT_IN_BATCHES_BYTES_MAX = 256 * 1024;
const BATCH_FILES = 256;
const BATCH_BYTES = 2 * 1024 * 1024;

export interface FileToSend {
  readonly key: string;
  /** Of the local file, absolute. */
  readonly path: string;
  readonly sizeBytes: number;
}

export interface SentFile {
  readonly stat: SmallFile['stat'];
  readonly etag: string;
}

export interface SendBatches {
  /** Resolves when the file is in its place. */
  send(file: FileToSend): Promise<SentFile>;
  flush(): void;
}

interface Waiting extends FileToSend {
  readonly resolve: (sent: SentFile) => void;
  readonly reject: (error: unknown) => void;
}

export function createSendBatches(run: TreeRun<LocalSide, RemoteSide>, files: FileFace): SendBatches {
  const { limit } = run.destination;
  const { signal } = run.tasks;
  const gathering = createGathering<Waiting>({
    tasksMax: Math.min(BATCH_FILES, files.filesMax),
    bytesMax: Math.min(BATCH_BYTES, files.bytesMax),
    send(batch, sizeBytes) {
      limit
        .run(() => sendBatch(files, batch, signal), { bytes: sizeBytes, signal })
        .catch((error: unknown) => {
          for (const { reject } of batch) reject(error);
        });
    },
  });
  return {
    send: (file) =>
      new Promise((resolve, reject) => gathering.add({ ...file, resolve, reject }, file.sizeBytes)),
    flush: () => gathering.flush(),
  };
}

/** A file that cannot be read fails alone. They are read when the batch's turn comes: no more is held than is in flight. */
async function sendBatch(files: FileFace, batch: readonly Waiting[], signal: AbortSignal): Promise<void> {
  const read: { readonly waiting: Waiting; readonly file: SmallFile }[] = [];
  for (const waiting of batch) {
    try {
      read.push({ waiting, file: readSmallFile(waiting.path) });
    } catch (error) {
      waiting.reject(error);
    }
  }
  if (read.length === 0) return;
  const results = await files.write(
    read.map(({ file, waiting: { key } }) => ({
      key,
      bytes: file.bytes,
      mtimeNs: file.stat.mtimeNs,
      mode: file.mode,
    })),
    { signal },
  );
  for (const [at, { file, waiting }] of read.entries()) {
    const result = results[at]!;
    if ('error' in result) waiting.reject(fromErrorRecord(result.error));
    else waiting.resolve({ stat: file.stat, etag: result.etag });
  }
}
