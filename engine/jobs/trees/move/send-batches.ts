/** Sends small files to a peer, many in one request. */
import { DrayError, fromErrorRecord } from '../../../api/error.ts';
import { type SmallFile, tokenOf } from '../../../files/read/file-source.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { FileFace, FileToWrite } from '../../../remotes/file-face.ts';
import type { TreeRun } from '../copy-run.ts';
import type { RemoteSide, TreeSide } from '../sides.ts';
import { BATCH_BYTES, BATCH_FILES, SENT_IN_BATCHES_BYTES_MAX } from './batch-limits.ts';
import { createGathering } from './gather-batches.ts';
import { MOVED_SPECIAL, type Moved, type SmallMove, type SmallMover } from './mover.ts';

/** A link whose content is its target has no stat and no mode. */
export type FileContent = Pick<SmallFile, 'bytes'> & Partial<SmallFile> & { readonly mtimeNs: bigint };

export interface SendBatchesOptions {
  readonly files: FileFace;
  /** Reads the file when its batch is sent. */
  readonly read: (item: TreeItem) => FileContent;
}

export function createSendBatches(
  run: TreeRun<TreeSide, RemoteSide>,
  { files, read }: SendBatchesOptions,
): SmallMover {
  const { limit, pathOf } = run.destination;
  const { signal } = run.tasks;
  const sender: Sender = { files, pathOf, read, signal };
  const gathering = createGathering<SmallMove>({
    tasksMax: Math.min(BATCH_FILES, files.filesMax),
    bytesMax: Math.min(BATCH_BYTES, files.bytesMax),
    send(batch, sizeBytes) {
      const waiting = new Set(batch);
      limit
        .run(() => sendBatch(sender, batch, waiting), { bytes: sizeBytes, signal })
        .catch((error: unknown) => {
          for (const small of waiting) small.told.failed(small, error);
        });
    },
  });
  return {
    takes: ({ sizeBytes, special }) => special !== undefined || sizeBytes <= SENT_IN_BATCHES_BYTES_MAX,
    move: (small) => gathering.add(small, small.item.special ? 0 : small.item.sizeBytes),
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
 * @param waiting The items of the batch that have no result yet.
 */
async function sendBatch(
  sender: Sender,
  batch: readonly SmallMove[],
  waiting: Set<SmallMove>,
): Promise<void> {
  const { files, signal } = sender;
  const loaded: Loaded[] = [];
  const fail = (small: SmallMove, error: unknown) => {
    waiting.delete(small);
    small.told.failed(small, error);
  };
  for (const small of batch) {
    try {
      loaded.push(load(sender, small));
    } catch (error) {
      fail(small, error);
    }
  }
  for (const part of withinLimit(loaded, files.bytesMax, fail)) {
    const results = await files.write(
      part.map(({ file }) => file),
      { signal },
    );
    for (const [at, one] of part.entries()) {
      const { small } = one;
      const result = results[at]!;
      if ('error' in result) fail(small, fromErrorRecord(result.error));
      else {
        waiting.delete(small);
        small.told.moved(small, movedOf(one, result.etag));
      }
    }
  }
}

interface Loaded {
  readonly small: SmallMove;
  readonly file: FileToWrite;
  /** Token of the local content; '' where there is none. */
  readonly token: string;
}

const NOTHING = new Uint8Array();

function load({ pathOf, read }: Sender, small: SmallMove): Loaded {
  const { item } = small;
  const key = pathOf(item.path);
  if (item.special)
    return { small, token: '', file: { key, bytes: NOTHING, mtimeNs: 0n, special: item.special } };
  const { bytes, mode, mtimeNs, stat } = read(item);
  const file = { key, bytes, mtimeNs, ...(mode === undefined ? {} : { mode }) };
  return { small, token: stat ? tokenOf(stat) : item.token, file };
}

function movedOf({ file, token }: Loaded, etag: string): Moved {
  if (file.special) return MOVED_SPECIAL;
  const sizeBytes = file.bytes.byteLength;
  return {
    sourceToken: token,
    destinationToken: etag,
    sentBytes: sizeBytes,
    receivedBytes: 0,
    inStore: false,
    sizeBytes,
  };
}

/**
 * Splits a batch whose files have grown since they were listed: the rest goes in further requests, and a file
 * too large for any fails alone.
 */
function* withinLimit(
  loaded: readonly Loaded[],
  bytesMax: number,
  fail: (small: SmallMove, error: unknown) => void,
): Generator<readonly Loaded[]> {
  let part: Loaded[] = [];
  let partBytes = 0;
  for (const one of loaded) {
    const { bytes, key } = one.file;
    if (bytes.byteLength > bytesMax) {
      fail(
        one.small,
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
