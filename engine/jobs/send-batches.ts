/** Small files on their way to another machine, many to a request. */
import { DrayError, fromErrorRecord } from '../api/error.ts';
import type { SpecialItem } from '../model/tree-item.ts';
import type { FileFace, FileToWrite } from '../remotes/file-face.ts';
import type { SmallFile } from '../workspace/file-source.ts';
import { BATCH_BYTES, BATCH_FILES } from './batch-limits.ts';
import { createGathering } from './gathering.ts';
import type { TreeRun } from './tree-run.ts';
import type { RemoteSide, TreeSide } from './tree-sides.ts';

export interface FileToSend {
  readonly key: string;
  /** Gives the file, when its turn comes. */
  readonly read: () => FileContent;
  readonly sizeBytes: number;
}

export interface SentFile {
  readonly stat: SmallFile['stat'] | undefined;
  readonly sizeBytes: number;
  readonly etag: string;
}

export type FileContent = Pick<SmallFile, 'bytes'> & Partial<SmallFile> & { readonly mtimeNs: bigint };

export interface SendBatches {
  /** Resolves when the file is in its place. A link whose content is its target has no stat. */
  send(file: FileToSend): Promise<SentFile>;
  /** A link or a folder. */
  sendSpecial(key: string, special: SpecialItem): Promise<void>;
  flush(): void;
}

interface Waiting {
  /** Reads it, when its turn comes. */
  readonly load: () => FileToWrite;
  readonly done: (etag: string) => void;
  readonly failed: (error: unknown) => void;
}

export function createSendBatches(run: TreeRun<TreeSide, RemoteSide>, files: FileFace): SendBatches {
  const { limit } = run.destination;
  const { signal } = run.tasks;
  const gathering = createGathering<Waiting>({
    tasksMax: Math.min(BATCH_FILES, files.filesMax),
    bytesMax: Math.min(BATCH_BYTES, files.bytesMax),
    send(batch, sizeBytes) {
      limit
        .run(() => sendBatch(files, batch, signal), { bytes: sizeBytes, signal })
        .catch((error: unknown) => {
          for (const { failed } of batch) failed(error);
        });
    },
  });
  return {
    send: ({ key, read, sizeBytes }) =>
      new Promise((resolve, reject) => {
        let file: FileContent | undefined;
        const load = () => {
          file = read();
          const { bytes, mode, mtimeNs } = file;
          return { key, bytes, mtimeNs, ...(mode === undefined ? {} : { mode }) };
        };
        const done = (etag: string) => resolve({ stat: file!.stat, sizeBytes: file!.bytes.byteLength, etag });
        gathering.add({ load, done, failed: reject }, sizeBytes);
      }),
    sendSpecial: (key, special) =>
      new Promise((resolve, reject) => {
        const load = () => ({ key, bytes: new Uint8Array(), mtimeNs: 0n, special });
        gathering.add({ load, done: () => resolve(), failed: reject }, 0);
      }),
    flush: () => gathering.flush(),
  };
}

/** A file that cannot be read fails alone. They are read when the batch's turn comes: no more is held than is in flight. */
async function sendBatch(files: FileFace, batch: readonly Waiting[], signal: AbortSignal): Promise<void> {
  const loaded: Loaded[] = [];
  for (const waiting of batch) {
    try {
      loaded.push({ waiting, file: waiting.load() });
    } catch (error) {
      waiting.failed(error);
    }
  }
  for (const part of withinLimit(loaded, files.bytesMax)) {
    const results = await files.write(
      part.map(({ file }) => file),
      { signal },
    );
    for (const [at, { waiting }] of part.entries()) {
      const result = results[at]!;
      if ('error' in result) waiting.failed(fromErrorRecord(result.error));
      else waiting.done(result.etag);
    }
  }
}

interface Loaded {
  readonly waiting: Waiting;
  readonly file: FileToWrite;
}

/** Files may have grown since they were listed: what no longer fits goes in requests of its own, and the one too large for any fails alone. */
function* withinLimit(loaded: readonly Loaded[], bytesMax: number): Generator<readonly Loaded[]> {
  let part: Loaded[] = [];
  let partBytes = 0;
  for (const one of loaded) {
    const { key, bytes } = one.file;
    if (bytes.byteLength > bytesMax) {
      one.waiting.failed(
        new DrayError('io', `${key} grew while it was copied: copy it again.`, {
          data: { path: key, reason: 'changedWhileRead' },
        }),
      );
      continue;
    }
    if (partBytes + bytes.byteLength > bytesMax) {
      yield part;
      part = [];
      partBytes = 0;
    }
    part.push(one);
    partBytes += bytes.byteLength;
  }
  if (part.length > 0) yield part;
}
