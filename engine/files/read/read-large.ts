/**
 * Reads one large file once, in pieces of `PIECE_BYTES`: each is hashed and cut while it is in the core's
 * cache.
 *
 * Invariant: a block holds whole chunks back to back from its start. The chunk in which a block ends is
 * carried over to the next block, so that each chunk's bytes are contiguous; its hash continues.
 */
import { createHash } from 'node:crypto';
import { closeSync, readSync } from 'node:fs';
import type { ErrorRecord } from '../../api/error.ts';
import type { BlobHash, Chunk } from '../../model/entry.ts';
import { type Chunker, type ChunkerTools, createChunker } from '../chunks/chunker.ts';
import {
  checkUnchanged,
  describeFailure,
  FileFailure,
  nearestTimeNs,
  openFile,
  readStatOf,
} from './open-file.ts';
import { classOf, type FileClass, PIECE_BYTES, type ReaderSettings } from './read-limits.ts';
import type { ReadStat } from './reader-types.ts';

/** Provides and receives blocks: another thread or this one. */
export interface BlockHost {
  /**
   * A block to fill, of `blockBytesOf` bytes if bytes are requested, otherwise of any size. `restBytes`: how
   * much of the file is left.
   */
  takeBlock(restBytes: number): Promise<Uint8Array>;
  /** Returns the block of `takeBlock`, with the chunks (perhaps none) at its start. */
  sendBlock(chunks: readonly Chunk[]): Promise<void>;
  /** For the memory of the blocks. */
  chunkerTools(): ChunkerTools;
}

export type LargeEnd =
  | { readonly kind: 'done'; readonly stat: ReadStat; readonly hash: BlobHash }
  /** The file has the wrong size for its class; nothing was sent. */
  | { readonly kind: 'resized'; readonly sizeBytes: number }
  | { readonly kind: 'failed'; readonly error: ErrorRecord };

export interface LargeTask {
  readonly settings: ReaderSettings;
  readonly path: string;
  readonly fileClass: Exclude<FileClass, 'batch'>;
}

/** Rejects only with the host's errors. */
export async function readLarge(task: LargeTask, host: BlockHost): Promise<LargeEnd> {
  let hasBlock = false;
  const blocks: BlockHost = {
    async takeBlock(restBytes) {
      const block = await host.takeBlock(restBytes);
      hasBlock = true;
      return block;
    },
    sendBlock(chunks) {
      hasBlock = false;
      return host.sendBlock(chunks);
    },
    chunkerTools: () => host.chunkerTools(),
  };
  const end = await attempt(task, blocks);
  if (hasBlock) await host.sendBlock([]);
  if (end.kind === 'broken') throw end.cause;
  return end;
}

interface Broken {
  readonly kind: 'broken';
  readonly cause: unknown;
}

async function attempt(task: LargeTask, host: BlockHost): Promise<LargeEnd | Broken> {
  let file: ReturnType<typeof openFile>;
  try {
    file = openFile(task.settings.root + task.path);
  } catch (error) {
    return { kind: 'failed', error: describeFailure(task.path, error) };
  }
  try {
    const stat = readStatOf(file);
    if (classOf(stat.sizeBytes, task.settings) !== task.fileClass) {
      return { kind: 'resized', sizeBytes: stat.sizeBytes };
    }
    const read = task.fileClass === 'cut' ? cutFile : hashFile;
    const hash = await read(file.descriptor, stat.sizeBytes, task.settings, host);
    checkUnchanged(file, stat.sizeBytes);
    return { kind: 'done', stat: { ...stat, mtimeNs: nearestTimeNs(stat.mtimeNs) }, hash };
  } catch (error) {
    if (error instanceof FileFailure || (error as NodeJS.ErrnoException)?.syscall !== undefined) {
      return { kind: 'failed', error: describeFailure(task.path, error) };
    }
    return { kind: 'broken', cause: error };
  } finally {
    closeSync(file.descriptor);
  }
}

async function hashFile(
  descriptor: number,
  sizeBytes: number,
  _settings: ReaderSettings,
  host: BlockHost,
): Promise<BlobHash> {
  const hash = createHash('sha256');
  for (let restBytes = sizeBytes; ; ) {
    const bytes = await host.takeBlock(restBytes);
    const count = readSync(descriptor, bytes, 0, Math.min(PIECE_BYTES, bytes.length), null);
    hash.update(bytes.subarray(0, count));
    await host.sendBlock([]);
    if (count === 0 && restBytes > 0) throw new FileFailure('changedWhileRead');
    if (count === 0) return hash.digest('hex') as BlobHash;
    restBytes -= count;
    if (restBytes < 0) throw new FileFailure('changedWhileRead');
  }
}

async function cutFile(
  descriptor: number,
  sizeBytes: number,
  settings: ReaderSettings,
  host: BlockHost,
): Promise<BlobHash> {
  const { chunkSize } = settings.layout;
  const cutter = createCutter(createChunker(chunkSize, host.chunkerTools()));
  const carry = settings.wantBytes ? new Uint8Array(chunkSize.max) : undefined;
  let bytes = await host.takeBlock(sizeBytes);
  let filled = 0;
  for (let restBytes = sizeBytes; ; ) {
    const count = readSync(descriptor, bytes, filled, Math.min(PIECE_BYTES, bytes.length - filled), null);
    if (count === 0 && restBytes > 0) throw new FileFailure('changedWhileRead');
    if (count === 0) break;
    restBytes -= count;
    if (restBytes < 0) throw new FileFailure('changedWhileRead');
    cutter.add(bytes, filled, filled + count);
    filled += count;
    const tailBytes = cutter.openBytes();
    const isGoodEnd = cutter.chunkCount() > 0 && tailBytes < PIECE_BYTES;
    const isNearlyFull = bytes.length - filled < (isGoodEnd && carry !== undefined ? chunkSize.average : 1);
    if (!isNearlyFull) continue;
    carry?.set(bytes.subarray(filled - tailBytes, filled));
    await host.sendBlock(cutter.takeChunks());
    bytes = await host.takeBlock(restBytes);
    filled = 0;
    if (carry === undefined) continue;
    bytes.set(carry.subarray(0, tailBytes));
    filled = tailBytes;
  }
  const hash = cutter.finish();
  await host.sendBlock(cutter.takeChunks());
  return hash;
}

interface Cutter {
  /** Continues with `bytes[from, to)`. */
  add(bytes: Uint8Array, from: number, to: number): void;
  /** Bytes of the unfinished chunk. */
  openBytes(): number;
  chunkCount(): number;
  /** The chunks finished since the last call. */
  takeChunks(): readonly Chunk[];
  /** Finishes the last chunk. Returns the file's hash, which covers its chunks' digests. */
  finish(): BlobHash;
}

function createCutter(chunker: Chunker): Cutter {
  const fileHash = createHash('sha256');
  let chunks: Chunk[] = [];
  let chunkHash = createHash('sha256');
  let openBytes = 0;

  const endChunk = (): void => {
    const digest = chunkHash.digest();
    fileHash.update(digest);
    chunks.push({ hash: digest.toString('hex') as BlobHash, sizeBytes: openBytes });
    chunkHash = createHash('sha256');
    openBytes = 0;
  };

  return {
    add(bytes, from, to) {
      for (let at = from; at < to; ) {
        const cut = chunker.findCut(bytes, at, to);
        const end = cut < 0 ? to : cut;
        chunkHash.update(bytes.subarray(at, end));
        openBytes += end - at;
        at = end;
        if (cut >= 0) endChunk();
      }
    },
    openBytes: () => openBytes,
    chunkCount: () => chunks.length,
    takeChunks() {
      const taken = chunks;
      chunks = [];
      return taken;
    },
    finish() {
      if (openBytes > 0) endChunk();
      return fileHash.digest('hex') as BlobHash;
    },
  };
}
