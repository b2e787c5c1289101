/**
 * Blocks of stored objects, in memory and in a file, for many small reads of the same packs: neighbours come
 * with one request, and a block is read once. Content under one key never changes, so nothing becomes stale.
 */
import { LRUCache } from 'lru-cache';
import { orAborted } from '../../base/abort.ts';
import type {
  ObjectBytes,
  ObjectInfo,
  ObjectStore,
  ReadOptions,
  RemoteKey,
} from '../../remotes/object-store.ts';
import { isContentKey } from '../../repository/keys.ts';
import { BLOCK_BYTES, type BlockCacheFile, type BlockPart, type CachedBlock } from './block-file.ts';

/** The most of one request. */
const RUN_BLOCKS_MAX = 16;
/** Blocks that stay in the memory in which they came. */
const SHARED_BLOCKS_MAX = 3;

export interface BlockCacheOptions {
  /** May be shared by several stores. */
  readonly memory: BlockMemory;
  /** For what does not fit into the memory. Closed with the store. */
  readonly file?: BlockCacheFile;
}

interface KeptBlock {
  readonly block: CachedBlock;
  /** Of the store that it belongs to. */
  readonly file: BlockCacheFile | undefined;
}

/** Blocks in memory, by the number of their store and their id. */
export type BlockMemory = LRUCache<string, KeptBlock>;

export function createBlockMemory(bytesMax: number): BlockMemory {
  return new LRUCache({
    maxSize: bytesMax,
    sizeCalculation: ({ block }) => Math.max(1, block.bytes.length),
    dispose({ block, file }, numberedId, reason) {
      if (reason === 'evict') file?.write(numberedId.slice(numberedId.indexOf(' ') + 1), block);
    },
  });
}

let stores = 0;

/** The store; ranges of its packs and objects, and small objects as a whole, come from the cache. */
export function withBlockCache(store: ObjectStore, { file, memory }: BlockCacheOptions): ObjectStore {
  const cache = new BlockCache(store, file, memory);
  return {
    ...store,
    read(key, options) {
      if (!isContentKey(key)) return store.read(key, options);
      return options.range ? cache.read(key, options, options.range) : cache.readWhole(key, options);
    },
    async close() {
      await store.close();
      await file?.close();
    },
  };
}

/** Most small reads have their answer at once; a promise for each would take longer than the answer. */
type MaybeLater<T> = T | Promise<T>;

class BlockCache {
  readonly #store: ObjectStore;
  readonly #file: BlockCacheFile | undefined;
  readonly #memory: BlockMemory;
  readonly #number = ++stores;
  /** Undefined: there is no such object. */
  readonly #running = new Map<string, Promise<CachedBlock | undefined>>();

  constructor(store: ObjectStore, file: BlockCacheFile | undefined, memory: BlockMemory) {
    this.#store = store;
    this.#file = file;
    this.#memory = memory;
  }

  async read(
    key: RemoteKey,
    { isAgain, signal }: ReadOptions,
    { end, start }: NonNullable<ReadOptions['range']>,
  ): Promise<ObjectBytes | undefined> {
    const first = Math.floor(start / BLOCK_BYTES);
    const last = Math.floor((end - 1) / BLOCK_BYTES);
    const wanted: MaybeLater<CachedBlock | undefined>[] = [];
    const within = (at: number) => ({
      start: Math.max(0, start - at * BLOCK_BYTES),
      end: Math.min(BLOCK_BYTES, end - at * BLOCK_BYTES),
    });
    if (isAgain) for (let at = first; at <= last; at += 1) this.#forget(idOf(key, at));
    // So that parts of several blocks need not be joined by a copy. Memory that stays unused costs nothing.
    const into = last > first ? Buffer.allocUnsafeSlow(end - start) : undefined;
    for (let at = first; at <= last; ) {
      const known = this.#find(key, at, within(at), into?.subarray(Math.max(0, at * BLOCK_BYTES - start)));
      if (known) {
        wanted.push(known);
        at += 1;
        continue;
      }
      const from = at;
      do at += 1;
      while (at <= last && at - from < RUN_BLOCKS_MAX && !this.#has(idOf(key, at)));
      const fetched = this.#fetch(key, from, at);
      wanted.push(...fetched.map((block, index) => cut(block, within(from + index))));
    }
    const blocks = wanted.some((block) => block instanceof Promise)
      ? await orAborted(Promise.all(wanted), signal)
      : (wanted as (CachedBlock | undefined)[]);

    const bytes: Uint8Array[] = [];
    let info: ObjectInfo | undefined;
    for (const block of blocks) {
      if (!block) return undefined;
      info ??= block.info;
      bytes.push(block.bytes);
    }
    return { bytes: joined(bytes), etag: info!.etag, info: info! };
  }

  /** Such as a segment of a manifest. One that is larger than a block is not kept. */
  async readWhole(
    key: RemoteKey,
    { isAgain, maxBytes, signal }: ReadOptions,
  ): Promise<ObjectBytes | undefined> {
    const id = idOf(key, 'whole');
    if (isAgain) this.#forget(id);
    const known =
      this.#memory.get(this.#numbered(id))?.block ??
      this.#running.get(id) ??
      (this.#file?.has(id) ? this.#file.read(id, { start: 0, end: BLOCK_BYTES }) : undefined);
    const found = await orAborted(Promise.resolve(known), signal);
    const block =
      found ?? (await orAborted(this.#running.get(id) ?? this.#fetchWhole(key, maxBytes), signal));
    return block && { bytes: block.bytes, etag: block.info.etag, info: block.info };
  }

  #fetchWhole(key: RemoteKey, maxBytes: number): Promise<CachedBlock | undefined> {
    const reading = this.#store.read(key, { maxBytes });
    return this.#run(
      idOf(key, 'whole'),
      reading.then((read) => read && { bytes: read.bytes, info: read.info }),
    );
  }

  #numbered(id: string): string {
    return `${this.#number} ${id}`;
  }

  #has(id: string): boolean {
    return this.#memory.has(this.#numbered(id)) || this.#running.has(id) || (this.#file?.has(id) ?? false);
  }

  #forget(id: string): void {
    this.#memory.delete(this.#numbered(id));
    this.#file?.delete(id);
  }

  /** From the file only the part is read, because many small reads would each decrypt a block. */
  #find(
    key: RemoteKey,
    at: number,
    part: BlockPart,
    into: Uint8Array | undefined,
  ): MaybeLater<CachedBlock | undefined> {
    const id = idOf(key, at);
    const kept = this.#memory.get(this.#numbered(id));
    if (kept) return partOf(kept.block, part);
    const running = this.#running.get(id);
    if (running) return cut(running, part);
    if (!this.#file?.has(id)) return undefined;
    const found = this.#file.read(id, part, into);
    if (!(found instanceof Promise)) return found;
    return found.then((read) => read ?? cut(this.#running.get(id) ?? this.#fetch(key, at, at + 1)[0]!, part));
  }

  /** Blocks from one number to another, by one request. */
  #fetch(key: RemoteKey, from: number, to: number): readonly Promise<CachedBlock | undefined>[] {
    const range = { start: from * BLOCK_BYTES, end: to * BLOCK_BYTES };
    // Without a signal: others may wait for the same blocks.
    const maxBytes = range.end - range.start;
    const storedBytes = this.#store.sealing?.readBytesMax(maxBytes);
    // What is opened in the memory in which it came leaves none to be collected.
    const into = storedBytes === undefined ? {} : { into: new Uint8Array(storedBytes) };
    const reading = this.#store.read(key, { range, maxBytes, ...into });
    return Array.from({ length: to - from }, (_, at) => {
      const block = reading.then((read) => read && blockOf(read, at * BLOCK_BYTES, to - from));
      return this.#run(idOf(key, from + at), block);
    });
  }

  #run(id: string, reading: Promise<CachedBlock | undefined>): Promise<CachedBlock | undefined> {
    const running = reading
      .then((block) => {
        if (block && block.bytes.length <= BLOCK_BYTES)
          this.#memory.set(this.#numbered(id), { block, file: this.#file });
        return block;
      })
      .finally(() => this.#running.delete(id));
    running.catch(() => {});
    this.#running.set(id, running);
    return running;
  }
}

async function cut(
  block: Promise<CachedBlock | undefined>,
  part: BlockPart,
): Promise<CachedBlock | undefined> {
  const found = await block;
  return found && partOf(found, part);
}

function partOf({ bytes, info }: CachedBlock, { end, start }: BlockPart): CachedBlock {
  return { bytes: bytes.subarray(start, end), info };
}

/** A copy if many came together, so that a block in memory does not hold all of them. */
function blockOf({ bytes, info }: ObjectBytes, start: number, count: number): CachedBlock {
  const end = start + BLOCK_BYTES;
  return { bytes: count > SHARED_BLOCKS_MAX ? bytes.slice(start, end) : bytes.subarray(start, end), info };
}

/** Without a copy if they lie behind one another in memory, as those of one request do. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...more] = parts as [Uint8Array, ...Uint8Array[]];
  let end = first.byteOffset + first.length;
  for (const part of more) {
    if (part.buffer !== first.buffer || part.byteOffset !== end) return Buffer.concat(parts);
    end += part.length;
  }
  return new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset);
}

function idOf(key: RemoteKey, at: number | 'whole'): string {
  return `${key}#${at}`;
}
