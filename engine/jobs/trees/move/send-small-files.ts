/** Sends small files to a peer, many in one request. */
import { DrayError, fromErrorRecord } from '../../../api/error.ts';
import { type SmallFile, tokenOf } from '../../../files/read/file-source.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { FileCalls, FileToWrite } from '../../../remotes/file-calls.ts';
import type { TreeRun } from '../copy-run.ts';
import type { RemoteSide, TreeSide } from '../sides.ts';
import { BATCH_BYTES, BATCH_FILES, SENT_IN_BATCHES_BYTES_MAX } from './batch-limits.ts';
import { createGathering } from './gather-batches.ts';
import { MOVED_SPECIAL, type Moved } from './mover.ts';

/** A link whose content is its target has no stat and no mode. */
export type FileContent = Pick<SmallFile, 'bytes'> & Partial<SmallFile> & { readonly mtimeNs: bigint };

export interface SendBatches {
  takes(item: TreeItem): boolean;
  send(item: TreeItem): Promise<Moved>;
  /** Sends the waiting items. */
  flush(): void;
}

export interface SendBatchesOptions {
  readonly files: FileCalls;
  /** Reads the file when its batch is sent. */
  readonly read: (item: TreeItem) => FileContent;
}

interface Waiting {
  readonly item: TreeItem;
  readonly resolve: (moved: Moved) => void;
  readonly reject: (error: unknown) => void;
}

export function createSendBatches(
  run: TreeRun<TreeSide, RemoteSide>,
  { files, read }: SendBatchesOptions,
): SendBatches {
  const { limit, pathOf } = run.destination;
  const { signal } = run.tasks;
  const sender: Sender = { files, pathOf, read, signal };
  const gathering = createGathering<Waiting>({
    tasksMax: Math.min(BATCH_FILES, files.filesMax),
    bytesMax: Math.min(BATCH_BYTES, files.bytesMax),
    send(batch, sizeBytes) {
      limit
        .run(() => sendBatch(sender, batch), { bytes: sizeBytes, signal })
        .catch((error: unknown) => {
          // No effect on the items that have their result.
          for (const { reject } of batch) reject(error);
        });
    },
  });
  return {
    takes: ({ sizeBytes, special }) => special !== undefined || sizeBytes <= SENT_IN_BATCHES_BYTES_MAX,
    send: (item) =>
      new Promise((resolve, reject) =>
        gathering.add({ item, resolve, reject }, item.special ? 0 : item.sizeBytes),
      ),
    flush: () => gathering.flush(),
  };
}

interface Sender extends SendBatchesOptions {
  readonly pathOf: (path: string) => string;
  readonly signal: AbortSignal;
}

/**
 * A file that cannot be read fails alone. Files are read when their batch is sent, so that memory has only
 * what is in flight.
 */
async function sendBatch(sender: Sender, batch: readonly Waiting[]): Promise<void> {
  const { files, signal } = sender;
  const loaded: Loaded[] = [];
  for (const waiting of batch) {
    try {
      loaded.push(load(sender, waiting));
    } catch (error) {
      waiting.reject(error);
    }
  }
  for (const part of withinLimit(loaded, files.bytesMax)) {
    const results = await files.write(
      part.map(({ file }) => file),
      { signal },
    );
    for (const [at, one] of part.entries()) {
      const result = results[at]!;
      if ('error' in result) one.waiting.reject(fromErrorRecord(result.error));
      else one.waiting.resolve(movedOf(one, result.etag));
    }
  }
}

interface Loaded {
  readonly waiting: Waiting;
  readonly file: FileToWrite;
  /** Token of the local content; '' where there is none. */
  readonly token: string;
}

const NOTHING = new Uint8Array();

function load({ pathOf, read }: Sender, waiting: Waiting): Loaded {
  const { item } = waiting;
  const key = pathOf(item.path);
  if (item.special)
    return { waiting, token: '', file: { key, bytes: NOTHING, mtimeNs: 0n, special: item.special } };
  const { bytes, mode, mtimeNs, stat } = read(item);
  const file = { key, bytes, mtimeNs, ...(mode === undefined ? {} : { mode }) };
  return { waiting, token: stat ? tokenOf(stat) : item.token, file };
}

function movedOf({ file, token }: Loaded, etag: string): Moved {
  if (file.special) return MOVED_SPECIAL;
  const sizeBytes = file.bytes.byteLength;
  return {
    sourceToken: token,
    destinationToken: etag,
    sentBytes: sizeBytes,
    sizeBytes,
  };
}

/**
 * Splits a batch whose files have grown since they were listed: the rest goes in further requests, and a file
 * too large for any fails alone.
 */
function* withinLimit(loaded: readonly Loaded[], bytesMax: number): Generator<readonly Loaded[]> {
  let part: Loaded[] = [];
  let partBytes = 0;
  for (const one of loaded) {
    const { bytes, key } = one.file;
    if (bytes.byteLength > bytesMax) {
      one.waiting.reject(
        new DrayError('io', `${key} grew while it was copied. Copy it again.`, {
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
