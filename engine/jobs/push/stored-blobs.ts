/**
 * How a push stores content: compressed where the layout says so and it pays. What the store has already may
 * be stored in another way, by another writer or version, so its size decides.
 */
import { crc32 } from 'node:zlib';
import { type CompressThreads, createCompressThreads } from '../../compression/compress-threads.ts';
import { COMPRESSED_CONTENT_BYTES_MAX, isCompressible } from '../../compression/zstd-blob.ts';
import type { BlobHash, StoredBlob } from '../../model/entry.ts';
import type { Layout } from '../../model/layout.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';

/** How objects are stored, by the hash of their content. */
export type Places = ReadonlyMap<BlobHash, StoredBlob>;

/** How the chunks of a file are stored: those that the index knows, and those that are being sent. */
export interface CutChunks {
  readonly known: Map<BlobHash, StoredBlob>;
  readonly waitsFor: Set<Promise<Places>>;
}

export interface StoredBlobsOptions {
  readonly store: ObjectStore;
  readonly limit: AdaptiveLimit;
  readonly layout: Layout;
  readonly signal: AbortSignal;
}

export interface StoredBlobs {
  /** The bytes to store of each, in place of its content. All lie in one shared memory. */
  frames(contents: readonly Uint8Array[]): Promise<readonly Uint8Array[]>;
  /** Puts an object that the store lacks. @returns The object's size on the store. */
  put(key: RemoteKey, hash: BlobHash, content: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

export function createStoredBlobs(options: StoredBlobsOptions): StoredBlobs {
  const { compression } = options.layout;
  const threads = compression && createCompressThreads(compression, options);
  const frames = (contents: readonly Uint8Array[]) => compressAll(threads, contents);
  return {
    frames,
    async put(key, hash, content) {
      const { length: sizeBytes } = content;
      const [bytes] = await frames([content]);
      return putBlob(options, { key, hash, sizeBytes, bytes: bytes! });
    },
    close: async () => threads?.close(),
  };
}

export interface BlobToPut {
  readonly key: RemoteKey;
  readonly hash: BlobHash;
  readonly sizeBytes: number;
  /** The content, or its frame. */
  readonly bytes: Uint8Array;
}

/** Puts an object that the store lacks. @returns The object's size on the store. */
export async function putBlob(
  { limit, signal, store }: Pick<StoredBlobsOptions, 'limit' | 'signal' | 'store'>,
  { bytes, hash, key, sizeBytes }: BlobToPut,
): Promise<number> {
  const { length } = bytes;
  // The name is the SHA-256 of the content. A store that seals sums up the sealed bytes.
  const sumUp = () => (length < sizeBytes ? { crc32: crc32(bytes) } : { sha256: hash });
  const checksum = store.sealing ? {} : { checksum: sumUp() };
  const put = { ...checksum, condition: { absent: true }, signal } as const;
  const { written } = await limit.run(() => store.put(key, bytes, put), { bytes: length, signal });
  if (written) return length;
  // Another writer was first.
  const found = await limit.run(() => store.head(key, { signal }), { bytes: 0, signal });
  return found?.sizeBytes ?? length;
}

async function compressAll(
  threads: CompressThreads | undefined,
  contents: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  const compressible = threads ? contents.filter(isCompressible) : [];
  if (!threads || compressible.length === 0) return contents;
  const sizes = await threads.compress(compressible);
  let next = 0;
  return contents.map((content) =>
    content === compressible[next] ? content.subarray(0, sizes[next++]) : content,
  );
}

/**
 * How content is stored that takes so many bytes on the store. The workspace's own layout says nothing about
 * that: compression may have been switched on since (`dray upgrade`).
 */
export function storedAs(sizeBytes: number, storedBytes: number): Pick<StoredBlob, 'storedBytes'> {
  const isCompressed = sizeBytes <= COMPRESSED_CONTENT_BYTES_MAX && storedBytes < sizeBytes;
  return isCompressed ? { storedBytes } : {};
}
