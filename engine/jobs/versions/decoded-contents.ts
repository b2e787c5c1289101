/**
 * Contents that were decompressed, for readers that come back for another part of the same one. Those that
 * the memory has no room for go to a file, because a frame can only be decompressed from its start.
 */
import { LRUCache } from 'lru-cache';
import { orAborted } from '../../base/abort.ts';
import { Budget } from '../../base/budget.ts';
import { COMPRESSED_CONTENT_BYTES_MAX } from '../../compression/zstd-blob.ts';
import type { BlobHash } from '../../model/entry.ts';
import type { CallOptions, RemoteKey } from '../../remotes/object-store.ts';
import { BLOCK_BYTES, type BlockCacheFile, type BlockPart } from './block-file.ts';

export interface DecodedContents {
  /**
   * A part of the content. Concurrent calls for one blob share one read, which none of them can abort.
   * @param isAgain What the file has may be wrong.
   */
  get(
    blob: DecodedBlob,
    part: BlockPart,
    read: () => Promise<Uint8Array>,
    options: CallOptions & { readonly isAgain: boolean },
  ): Promise<Uint8Array>;
}

interface DecodedBlob {
  readonly hash: BlobHash;
  readonly sizeBytes: number;
}

export interface DecodedContentsOptions {
  /** Of what is kept in memory and what is being read together. One that is larger is there alone. */
  readonly bytesMax: number;
  /** The caller closes it. */
  readonly file?: BlockCacheFile | undefined;
}

/** One of the readers' windows. Smaller contents are decompressed as quickly as they are read from a file. */
const WRITTEN_BYTES_MIN = 1024 * 1024;
/** Blocks that are written at once. Their sealed bytes take memory beside the content. */
const WRITES_AT_ONCE = 4;

interface Decoded {
  readonly content: Uint8Array;
  /** How much less than all of it was given out. A reader in order needs no file. */
  unreadBytes: number;
}

export function createDecodedContents({ bytesMax, file }: DecodedContentsOptions): DecodedContents {
  const memory = new Budget(bytesMax);
  const evictions = new Budget(1);
  const running = new Map<BlobHash, Promise<Decoded>>();
  const cache = new LRUCache<BlobHash, Decoded>({
    maxSize: Math.max(bytesMax, COMPRESSED_CONTENT_BYTES_MAX),
    sizeCalculation: ({ content }) => Math.max(1, content.length),
  });
  const makeRoom = async () => {
    // One at a time: a content stays in the count until it is written.
    using _turn = await evictions.acquire(1);
    while (cache.size > 0 && cache.calculatedSize + memory.used > bytesMax) {
      const hash = cache.rkeys().next().value!;
      const { content, unreadBytes } = cache.peek(hash)!;
      const isWritten = unreadBytes > 0 && content.length > WRITTEN_BYTES_MIN;
      if (file && isWritten) await writeContent(file, hash, content);
      cache.delete(hash);
    }
  };
  const readOne = async ({ hash, sizeBytes }: DecodedBlob, read: () => Promise<Uint8Array>) => {
    using _permit = await memory.acquire(sizeBytes);
    await makeRoom();
    const content = await read();
    const decoded = { content, unreadBytes: content.length };
    cache.set(hash, decoded);
    return decoded;
  };
  return {
    async get(blob, part, read, { isAgain, signal }) {
      const { hash } = blob;
      const kept = cache.get(hash);
      if (kept) return partOf(kept, part);
      if (isAgain && file) forgetContent(file, blob);
      const written = file && (await orAborted(readPart(file, blob, part), signal));
      if (written) return written;
      let reading = running.get(hash);
      if (!reading) {
        reading = readOne(blob, read).finally(() => running.delete(hash));
        // All who wait for it may be gone.
        reading.catch(() => {});
        running.set(hash, reading);
      }
      return partOf(await orAborted(reading, signal), part);
    },
  };
}

/** A part of a large content must not keep all of it in memory. */
function partOf(decoded: Decoded, { end, start }: BlockPart): Uint8Array {
  const { content } = decoded;
  decoded.unreadBytes -= end - start;
  return end - start === content.length ? content : content.slice(start, end);
}

/** Blocks that the file has already are not written again. */
async function writeContent(file: BlockCacheFile, hash: BlobHash, content: Uint8Array): Promise<void> {
  const info = { key: hash as string as RemoteKey, sizeBytes: content.length, etag: hash, modifiedMs: 0 };
  for (let start = 0; start < content.length; ) {
    for (let turn = 0; turn < WRITES_AT_ONCE && start < content.length; turn += 1, start += BLOCK_BYTES)
      file.write(idOf(hash, start), { bytes: content.subarray(start, start + BLOCK_BYTES), info });
    await file.settled();
  }
}

/** Undefined unless the file has all of the part. */
async function readPart(
  file: BlockCacheFile,
  { hash, sizeBytes }: DecodedBlob,
  { end, start }: BlockPart,
): Promise<Uint8Array | undefined> {
  const first = start - (start % BLOCK_BYTES);
  for (let at = first; at < end; at += BLOCK_BYTES) if (!file.has(idOf(hash, at))) return undefined;
  const bytes = Buffer.allocUnsafeSlow(Math.min(end, sizeBytes) - start);
  for (let at = first; at < end; at += BLOCK_BYTES) {
    const within = { start: Math.max(0, start - at), end: Math.min(BLOCK_BYTES, end - at) };
    const block = await file.read(idOf(hash, at), within);
    if (!block || block.bytes.length !== within.end - within.start) return undefined;
    bytes.set(block.bytes, at + within.start - start);
  }
  return bytes;
}

function forgetContent(file: BlockCacheFile, { hash, sizeBytes }: DecodedBlob): void {
  for (let at = 0; at < sizeBytes; at += BLOCK_BYTES) file.delete(idOf(hash, at));
}

function idOf(hash: BlobHash, start: number): string {
  return `${hash}#${start / BLOCK_BYTES}`;
}
