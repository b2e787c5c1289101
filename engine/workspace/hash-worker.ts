/** The thread that reads and hashes files: batches at once, large files block by block. Started by `file-reader-threads.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { toErrorRecord } from '../api/error.ts';
import type { Chunk } from '../model/entry.ts';
import { readBatch } from './file-reader-batch.ts';
import { type BlockHost, type LargeTask, readLarge } from './file-reader-large.ts';
import { BATCH_BYTES_MAX, PIECE_BYTES, type ReaderSettings } from './file-reader-limits.ts';
import { type FromThread, PATH_SEPARATOR, type ToThread } from './file-reader-protocol.ts';

const settings = workerData as ReaderSettings;
const port = parentPort!;

/** Pieces of a file whose bytes nobody wants that are read before the reader must agree again. */
const PIECES_PER_BLOCK = 16;

let scratch: Uint8Array<ArrayBuffer> | undefined;
let isReadingLarge = false;
/** Blocks given and not yet begun. */
const given: (ArrayBuffer | undefined)[] = [];
let wantedCount = 0;
let onGiven: (() => void) | undefined;

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'batch':
      answerBatch(message.paths.split(PATH_SEPARATOR), message.buffer);
      break;
    case 'large':
      isReadingLarge = true;
      wantedCount = 1;
      void answerLarge({ settings, path: message.path, fileClass: message.fileClass });
      break;
    case 'block':
      acceptBlock(message.buffer);
      break;
  }
});

function post(message: FromThread, buffer?: ArrayBuffer): void {
  port.postMessage(message, buffer === undefined ? [] : [buffer]);
}

function answerBatch(paths: readonly string[], buffer: ArrayBuffer | undefined): void {
  if (buffer === undefined) scratch ??= new Uint8Array(BATCH_BYTES_MAX);
  const bytes = buffer === undefined ? scratch! : new Uint8Array(buffer);
  const report = readBatch({ settings, paths, buffer: bytes });
  port.postMessage(
    { kind: 'batch', report, buffer } satisfies FromThread,
    buffer === undefined ? [report.columns] : [report.columns, buffer],
  );
}

async function answerLarge(task: LargeTask): Promise<void> {
  const isHandedOver = task.fileClass === 'cut' && settings.wantBytes;
  try {
    const end = await readLarge(task, isHandedOver ? handedBlocks : scratchBlocks());
    isReadingLarge = false;
    for (const buffer of given.splice(0)) post({ kind: 'unused', buffer }, buffer);
    post({ kind: 'end', end });
  } catch (error) {
    post({ kind: 'crashed', error: toErrorRecord(error) });
  }
}

/** A block that comes after its file's end, because the file turned out smaller, goes straight back. */
function acceptBlock(buffer: ArrayBuffer | undefined): void {
  if (!isReadingLarge) {
    post({ kind: 'unused', buffer }, buffer);
    return;
  }
  wantedCount -= 1;
  given.push(buffer);
  onGiven?.();
}

function wantBlock(): void {
  wantedCount += 1;
  post({ kind: 'wantBlock' });
}

async function nextGiven(): Promise<ArrayBuffer | undefined> {
  if (given.length === 0) {
    if (wantedCount === 0) wantBlock();
    await new Promise<void>((resolve) => {
      onGiven = resolve;
    });
    onGiven = undefined;
  }
  return given.shift();
}

/** Blocks whose bytes the reader gets. The next one is asked for while this one is filled. */
const handedBlocks: BlockHost = {
  async takeBlock(restBytes) {
    const buffer = (await nextGiven())!;
    if (restBytes > buffer.byteLength && given.length + wantedCount === 0) wantBlock();
    return buffer;
  },
  sendBlock(buffer, chunks) {
    post({ kind: 'chunks', chunks, buffer }, buffer);
    return Promise.resolve();
  },
};

/** One small buffer, filled again and again. What it gave is told once for each `PIECES_PER_BLOCK`. */
function scratchBlocks(): BlockHost {
  const piece = new ArrayBuffer(PIECE_BYTES);
  let pieces = 0;
  let pending: Chunk[] = [];
  let restBytes = 0;
  return {
    async takeBlock(rest) {
      restBytes = rest;
      if (pieces % PIECES_PER_BLOCK === 0) await nextGiven();
      pieces += 1;
      return piece;
    },
    sendBlock(_buffer, chunks) {
      pending.push(...chunks);
      const isLast = restBytes <= PIECE_BYTES;
      if (isLast || pieces % PIECES_PER_BLOCK === 0) {
        post({ kind: 'chunks', chunks: pending, buffer: undefined });
        pending = [];
      }
      return Promise.resolve();
    },
  };
}
