/**
 * The thread that reads and hashes files: batches at once, large files block by block. Started by
 * `reader-threads.ts`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { toErrorRecord } from '../../api/error.ts';
import type { Span } from '../../base/byte-arena.ts';
import type { PoolAnswer, PoolNote, PoolRequest } from '../../base/worker-pool.ts';
import type { Chunk } from '../../model/entry.ts';
import { type ChunkerTools, openChunkerTools } from '../chunks/chunker.ts';
import {
  CHUNKER_MEMORY_START,
  type ChunkerMemory,
  createChunkerMemory,
  viewMemory,
} from '../chunks/chunker-memory.ts';
import { readBatch } from './read-batch.ts';
import { type BlockHost, type LargeTask, readLarge } from './read-large.ts';
import { BATCH_BYTES_MAX, PIECE_BYTES } from './read-limits.ts';
import {
  type NoteFromThread,
  type NoteToThread,
  PATH_SEPARATOR,
  type ReaderAnswer,
  type ReaderTask,
  type ThreadData,
} from './reader-protocol.ts';

const { settings, memory } = workerData as ThreadData;
const port = parentPort!;

/** Pieces of a hash-only file that are read before the reader must agree again. */
const PIECES_PER_BLOCK = 16;

let scratch: Uint8Array<ArrayBuffer> | undefined;
let sharedTools: ChunkerTools | undefined;
let pieceMemory: ChunkerMemory | undefined;
let pieceTools: ChunkerTools | undefined;
let isReadingLarge = false;
/** Blocks received and not yet started. */
const given: (Span | undefined)[] = [];
let wantedCount = 0;
let onGiven: (() => void) | undefined;

port.on('message', (message: PoolRequest<ReaderTask> | PoolNote<NoteToThread>) => {
  if ('note' in message) acceptBlock(message.note.span);
  else if (message.task.kind === 'batch') answerBatch(message.id, message.task);
  else void answerLarge(message.id, { settings, ...message.task });
});

function post(answer: PoolAnswer<ReaderAnswer>, moved: readonly ArrayBuffer[] = []): void {
  port.postMessage(answer, moved);
}

function notify(note: NoteFromThread): void {
  port.postMessage({ note } satisfies PoolNote<NoteFromThread>);
}

function answerBatch(id: number, { paths: joined, span }: ReaderTask & { kind: 'batch' }): void {
  if (span === undefined) scratch ??= new Uint8Array(BATCH_BYTES_MAX);
  const paths = joined.split(PATH_SEPARATOR);
  const result = readBatch({ settings, paths, buffer: span === undefined ? scratch! : bytesOf(span) });
  post({ id, result }, [result.columns]);
}

function bytesOf(span: Span): Uint8Array {
  return viewMemory(memory!, span.offset, span.length);
}

async function answerLarge(id: number, task: LargeTask): Promise<void> {
  isReadingLarge = true;
  wantedCount = 1;
  const isHandedOver = task.fileClass === 'cut' && settings.wantBytes;
  try {
    const result = await readLarge(task, isHandedOver ? handedBlocks : scratchBlocks());
    isReadingLarge = false;
    for (const _ of given.splice(0)) notify({ kind: 'unused' });
    post({ id, result });
  } catch (error) {
    post({ id, error: toErrorRecord(error) });
  }
}

/** Returns a block at once that arrives after its file's end, because the file turned out smaller. */
function acceptBlock(span: Span | undefined): void {
  if (!isReadingLarge) {
    notify({ kind: 'unused' });
    return;
  }
  wantedCount -= 1;
  given.push(span);
  onGiven?.();
}

function wantBlock(): void {
  wantedCount += 1;
  notify({ kind: 'wantBlock' });
}

async function nextGiven(): Promise<Span | undefined> {
  if (given.length === 0) {
    if (wantedCount === 0) wantBlock();
    await new Promise<void>((resolve) => {
      onGiven = resolve;
    });
    onGiven = undefined;
  }
  return given.shift();
}

/** Blocks whose bytes go to the reader. The next one is requested while this one is filled. */
const handedBlocks: BlockHost = {
  async takeBlock(restBytes) {
    const span = (await nextGiven())!;
    if (restBytes > span.length && given.length + wantedCount === 0) wantBlock();
    return bytesOf(span);
  },
  sendBlock(chunks) {
    notify({ kind: 'chunks', chunks });
    return Promise.resolve();
  },
  chunkerTools() {
    sharedTools ??= openChunkerTools(memory!);
    return sharedTools;
  },
};

/** One small buffer, reused. It reports once for each `PIECES_PER_BLOCK`. */
function scratchBlocks(): BlockHost {
  pieceMemory ??= createChunkerMemory(PIECE_BYTES, settings.layout.cutterKey);
  pieceTools ??= openChunkerTools(pieceMemory);
  const tools = pieceTools;
  const piece = viewMemory(pieceMemory, CHUNKER_MEMORY_START, PIECE_BYTES);
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
    chunkerTools: () => tools,
    sendBlock(chunks) {
      pending.push(...chunks);
      const isLast = restBytes <= PIECE_BYTES;
      if (isLast || pieces % PIECES_PER_BLOCK === 0) {
        notify({ kind: 'chunks', chunks: pending });
        pending = [];
      }
      return Promise.resolve();
    },
  };
}
