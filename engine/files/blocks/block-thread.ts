/** Runs block tasks by blocking calls: in a worker thread, or in the caller's for little work. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { DrayError } from '../../api/error.ts';
import { writeFully } from '../../base/write-fully.ts';
import {
  BLOCK_DIGEST_BYTES,
  BLOCK_DIGEST_OWN_BYTES,
  type BlockDigester,
  type BlockSignature,
  digestCount,
  openBlockDigester,
} from '../../checksums/block-digest.ts';
import type { RangeList } from '../../model/delta-sides.ts';
import { type ChunkerTools, createChunker, openChunkerTools } from '../chunks/chunker.ts';
import {
  CHUNKER_MEMORY_START,
  type ChunkerMemory,
  createChunkerMemory,
  viewMemory,
} from '../chunks/chunker-memory.ts';
import { checkUnchanged, FileFailure, openFile, readError } from '../read/open-file.ts';
import { writeError } from '../write/write-error.ts';
import type { BlockFile, BlockResult, BlockTask } from './block-tasks.ts';

/** Read and processed at once: fits a core's second-level cache. Larger blocks are read whole. */
const BLOCK_PIECE_BYTES = 1024 * 1024;
/** The largest block that one digest can cover. */
const BLOCK_BYTES_MAX = 16 * 1024 * 1024;

export interface BlockThread {
  run(task: BlockTask): Promise<BlockResult>;
}

interface Room {
  readonly memory: ChunkerMemory;
  readonly at: number;
  readonly bytes: Uint8Array;
}

interface State {
  readonly stop: Int32Array;
  room: Room | undefined;
  tools: ChunkerTools | undefined;
  digester: { readonly key: string; readonly digester: BlockDigester } | undefined;
}

const NONE: BlockResult = { digests: new Uint8Array(0) };
const WRITE_FLAGS = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0);
const EXACT = { bigint: true } as const;

/** @param stop Tasks end with `aborted` once its first number is not 0. */
export function createBlockThread(stop: Int32Array): BlockThread {
  const state: State = { stop, room: undefined, tools: undefined, digester: undefined };
  return {
    run: async (task) => {
      switch (task.kind) {
        case 'hash':
          return hashRange(state, task);
        case 'read':
          return readRanges(state, task);
        case 'write':
          return writeRanges(state, task);
        case 'copy':
          return copyRanges(state, task);
        case 'cut':
          return cutRange(state, task);
      }
    },
  };
}

type TaskOf<K extends BlockTask['kind']> = Extract<BlockTask, { kind: K }>;

async function hashRange(state: State, task: TaskOf<'hash'>): Promise<BlockResult> {
  const { end, file, mayChange, signature, start } = task;
  const { blockBytes } = signature;
  const pieceBytes = wholeBlocks(blockBytes);
  const room = roomOf(state, pieceBytes);
  const digester = await digesterOf(state, room, signature);
  const size = BLOCK_DIGEST_BYTES[signature.hash];
  const digests = new Uint8Array(size * digestCount(end - start, blockBytes));
  withFile(file, mayChange, (descriptor) => {
    for (let at = start, out = 0; at < end; at += pieceBytes) {
      checkStop(state);
      const length = Math.min(pieceBytes, end - at);
      readFully(descriptor, room.bytes.subarray(0, length), at);
      const piece = digester.digest(room.at, room.at + length);
      digests.set(piece, out);
      out += piece.length;
    }
  });
  return { digests };
}

async function readRanges(state: State, task: TaskOf<'read'>): Promise<BlockResult> {
  const { file, into, ranges, signature } = task;
  const sign = signature && (await signerOf(state, signature));
  withFile(file, true, (descriptor) => {
    eachRange(ranges, (start, end, filled) => {
      checkStop(state);
      readFully(descriptor, into.subarray(filled, filled + (end - start)), start);
    });
  });
  return sign ? { digests: signRanges(sign, signature!, ranges, into) } : NONE;
}

/**
 * Computes the digests first: bytes that change in memory meanwhile are written changed, and the comparison
 * finds them.
 */
async function writeRanges(state: State, task: TaskOf<'write'>): Promise<BlockResult> {
  const { bytes, file, ranges, signature } = task;
  const sign = await signerOf(state, signature);
  const digests = signRanges(sign, signature, ranges, bytes);
  withTarget(file, (descriptor) => {
    eachRange(ranges, (start, end, taken) => {
      checkStop(state);
      writeFully(descriptor, bytes.subarray(taken, taken + (end - start)), start);
    });
  });
  return { digests };
}

function copyRanges(state: State, { from, moves, to }: TaskOf<'copy'>): BlockResult {
  const room = roomOf(state, BLOCK_PIECE_BYTES);
  withFile(from, true, (source) => {
    withTarget(to, (target) => {
      for (let move = 0; move < moves.length; move += 3) {
        const [start, place, length] = [moves[move]!, moves[move + 1]!, moves[move + 2]!];
        for (let done = 0; done < length; done += BLOCK_PIECE_BYTES) {
          checkStop(state);
          const piece = room.bytes.subarray(0, Math.min(BLOCK_PIECE_BYTES, length - done));
          readFully(source, piece, start + done);
          writeFully(target, piece, place + done);
        }
      }
    });
  });
  return NONE;
}

/**
 * The chunker decides where chunks end, so the bytes of an open chunk stay in memory until its end is found.
 */
async function cutRange(state: State, task: TaskOf<'cut'>): Promise<BlockResult> {
  const { end, file, signature, size, start } = task;
  const room = roomOf(state, BLOCK_PIECE_BYTES + size.max);
  const digester = await digesterOf(state, room, signature);
  state.tools ??= openChunkerTools(room.memory);
  const chunker = createChunker(size, state.tools);
  const lengths: number[] = [];
  const digests: Uint8Array[] = [];
  const endChunk = (from: number, to: number) => {
    lengths.push(to - from);
    digests.push(digester.digest(room.at + from, room.at + to));
  };
  withFile(file, false, (descriptor) => {
    let openBytes = 0;
    for (let at = start; at < end; ) {
      checkStop(state);
      const length = Math.min(BLOCK_PIECE_BYTES, end - at);
      const filled = openBytes + length;
      readFully(descriptor, room.bytes.subarray(openBytes, filled), at);
      let chunkStart = 0;
      for (let looked = openBytes; looked < filled; ) {
        const cut = chunker.findCut(room.bytes, looked, filled);
        if (cut >= 0) {
          endChunk(chunkStart, cut);
          chunkStart = cut;
        }
        looked = cut < 0 ? filled : cut;
      }
      room.bytes.copyWithin(0, chunkStart, filled);
      openBytes = filled - chunkStart;
      at += length;
    }
    if (openBytes > 0) endChunk(0, openBytes);
  });
  return { lengths: Uint32Array.from(lengths), digests: new Uint8Array(Buffer.concat(digests)) };
}

interface Signer {
  readonly room: Room;
  readonly digester: BlockDigester;
}

async function signerOf(state: State, signature: BlockSignature): Promise<Signer> {
  const room = roomOf(state, wholeBlocks(signature.blockBytes));
  return { room, digester: await digesterOf(state, room, signature) };
}

/**
 * Each range begins a block. Digests a private copy of the bytes, so that a digest matches the content of one
 * moment.
 */
function signRanges(
  { digester, room }: Signer,
  { blockBytes, hash }: BlockSignature,
  ranges: RangeList,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const pieceBytes = wholeBlocks(blockBytes);
  let count = 0;
  eachRange(ranges, (start, end) => {
    count += digestCount(end - start, blockBytes);
  });
  const digests = new Uint8Array(BLOCK_DIGEST_BYTES[hash] * count);
  let out = 0;
  eachRange(ranges, (start, end, before) => {
    for (let at = start; at < end; at += pieceBytes) {
      const length = Math.min(pieceBytes, end - at);
      const from = before + (at - start);
      room.bytes.set(bytes.subarray(from, from + length));
      const piece = digester.digest(room.at, room.at + length);
      digests.set(piece, out);
      out += piece.length;
    }
  });
  return digests;
}

/** `before`: the total length of the earlier ranges. */
function eachRange(ranges: RangeList, use: (start: number, end: number, before: number) => void): void {
  let before = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const [start, end] = [ranges[at]!, ranges[at + 1]!];
    use(start, end, before);
    before += end - start;
  }
}

function wholeBlocks(blockBytes: number): number {
  if (blockBytes > BLOCK_BYTES_MAX) throw new RangeError(`Blocks of ${blockBytes} bytes are too large.`);
  return Math.max(1, Math.floor(BLOCK_PIECE_BYTES / blockBytes)) * blockBytes;
}

/** One memory for all work of a thread, replaced when a task needs a larger one. */
function roomOf(state: State, bytes: number): Room {
  if (state.room === undefined || state.room.bytes.length < bytes) {
    const memory = createChunkerMemory(BLOCK_DIGEST_OWN_BYTES + bytes);
    const at = CHUNKER_MEMORY_START + BLOCK_DIGEST_OWN_BYTES;
    state.room = { memory, at, bytes: viewMemory(memory, at, bytes) };
    state.tools = undefined;
    state.digester = undefined;
  }
  return state.room;
}

async function digesterOf(state: State, room: Room, signature: BlockSignature): Promise<BlockDigester> {
  const key = `${signature.hash} ${signature.seed} ${signature.blockBytes}`;
  if (state.digester?.key === key) return state.digester.digester;
  const digester = await openBlockDigester(signature, { memory: room.memory, ownAt: CHUNKER_MEMORY_START });
  state.digester = { key, digester };
  return digester;
}

/** Translates errors. Opens a file without a descriptor, not through a link, and closes it. */
function withFile(file: BlockFile, mayChange: boolean, work: (descriptor: number) => void): void {
  const { descriptor, path } = file;
  try {
    const opened =
      descriptor === undefined
        ? openFile(path)
        : { descriptor, stats: fstatSync(descriptor, EXACT), openedMs: 0 };
    try {
      work(opened.descriptor);
      if (!mayChange) checkUnchanged(opened, Number(opened.stats.size));
    } finally {
      if (descriptor === undefined) closeSync(opened.descriptor);
    }
  } catch (cause) {
    throw readError(path, cause);
  }
}

function withTarget({ descriptor, path }: BlockFile, work: (descriptor: number) => void): void {
  try {
    const opened = descriptor ?? openSync(path, WRITE_FLAGS);
    try {
      work(opened);
    } finally {
      if (descriptor === undefined) closeSync(opened);
    }
  } catch (cause) {
    throw writeError(cause, path);
  }
}

function readFully(descriptor: number, into: Uint8Array, position: number): void {
  for (let filled = 0; filled < into.length; ) {
    const count = readSync(descriptor, into, filled, into.length - filled, position + filled);
    if (count === 0) throw new FileFailure('changedWhileRead');
    filled += count;
  }
}

function checkStop(state: State): void {
  if (Atomics.load(state.stop, 0) !== 0) throw new DrayError('aborted', 'Stopped on request.');
}
