/**
 * Stores the content of a part's objects in the repository: small ones in packs, others as objects or as
 * chunks. Each object is read once, verified by the source's checksum, and sent unless the repository has it.
 *
 * Packs are filled in the order of the names, so a part that runs again makes the same packs and finds them.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Budget } from '../../../base/budget.ts';
import { TaskSet } from '../../../base/task-set.ts';
import { compressInBackground } from '../../../compression/zstd-blob.ts';
import { createStreamCutter } from '../../../files/chunks/stream-cutter.ts';
import {
  type BlobHash,
  type BlobLocation,
  type Chunk,
  EMPTY_BLOB,
  type PackHash,
  type StoredBlob,
} from '../../../model/entry.ts';
import type { Layout } from '../../../model/layout.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { findUnseen, notStored, type WrittenObject } from '../../../query/existence/find-unseen.ts';
import type { RemoteKey } from '../../../remotes/object-store.ts';
import {
  type CollectionView,
  newObject,
  newObjectKey,
} from '../../../repository/collection/collection-view.ts';
import { packKey } from '../../../repository/keys.ts';
import { hashOfChunks } from '../../../repository/packs/chunked-blob.ts';
import { type BuiltPack, PackBuilder } from '../../../repository/packs/pack.ts';
import { changed } from '../../../transfer/upload/remote-source.ts';
import { putBlob, storedAs } from '../../push/stored-blobs.ts';
import type { OpenedRemote } from '../../session/opened-remote.ts';
import type { PartSource } from './part-source.ts';

const MIB = 1024 * 1024;
/** Objects up to this size are read whole. */
const WHOLE_BYTES_MAX = 64 * MIB;
const MEMORY_BYTES = 128 * MIB;
const PACK_MEMORY_BYTES = 128 * MIB;
/** The most small objects that wait for the one before them. */
const WAITING_MAX = 512;
const PIPE_BYTES = 16 * MIB;
/** Objects that are cut at the same time, each with memory for a chunk. */
const CUT_AT_ONCE = 2;

export interface StoredContent {
  readonly blob: BlobHash;
  readonly location: BlobLocation;
}

export interface ContentStoreOptions {
  readonly source: Pick<PartSource, 'cat' | 'read'>;
  readonly repository: OpenedRemote;
  readonly layout: Layout;
  /** Undefined: the repository does not collect garbage. */
  readonly view: CollectionView | undefined;
  readonly signal: AbortSignal;
}

export interface ContentToStore {
  readonly item: TreeItem;
  /** The content at this path in the last commit. */
  readonly before: StoredContent | undefined;
  readonly onStored: (content: StoredContent) => void;
  /** Called instead when this object alone may have failed: true if the others continue. */
  readonly onFailed: (error: unknown) => boolean;
}

/** An object that waits for its place in a pack. */
interface Placed {
  readonly hash: BlobHash;
  readonly onStored: (content: StoredContent) => void;
  readonly offset: number;
  readonly storedBytes?: number;
}

export class ContentStore {
  readonly #options: ContentStoreOptions;
  readonly #tasks: TaskSet;
  readonly #memory = new Budget(MEMORY_BYTES);
  readonly #packMemory = new Budget(PACK_MEMORY_BYTES);
  readonly #waiting = new Budget(WAITING_MAX);
  readonly #cutting = new Budget(CUT_AT_ONCE);
  readonly #written: WrittenObject[] = [];
  /** Objects that the repository has, or that are being checked or sent. */
  readonly #objects = new Map<BlobHash, Promise<StoredBlob>>();
  /** Small content of this part, with its place once its pack is closed. */
  readonly #packed = new Map<BlobHash, StoredContent>();
  #pack: PackBuilder | undefined;
  #placed: Placed[] = [];
  #turn: Promise<void> = Promise.resolve();
  #sentBytes = 0;
  #readBytes = 0;

  constructor(options: ContentStoreOptions) {
    this.#options = options;
    this.#tasks = new TaskSet(options.signal);
  }

  get sentObjects(): number {
    return this.#written.length;
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  get readBytes(): number {
    return this.#readBytes;
  }

  /**
   * Begins to store one object; resolves when there is room for the next. One call after the other, in order.
   */
  async add(content: ContentToStore): Promise<void> {
    this.#tasks.check();
    const { chunkAbove, packBelow } = this.#options.layout;
    const { item, onFailed, onStored } = content;
    const { sizeBytes } = item;
    const { signal } = this.#tasks;
    if (sizeBytes === 0) {
      onStored({ blob: EMPTY_BLOB, location: { in: 'nowhere' } });
      return;
    }
    const isWhole =
      sizeBytes < packBelow ||
      (sizeBytes <= WHOLE_BYTES_MAX && (chunkAbove === 0 || sizeBytes <= chunkAbove));
    const permits = isWhole
      ? [await this.#waiting.acquire(1, signal), await this.#memory.acquire(sizeBytes, signal)]
      : [await this.#cutting.acquire(1, signal)];
    const store = async () => {
      if (sizeBytes < packBelow) return this.#addPacked(content);
      const work = isWhole
        ? () => this.#storeWhole(item)
        : chunkAbove > 0
          ? () => this.#storeChunks(item)
          : () => this.#storeLarge(item);
      const stored = await attempt(work, onFailed);
      if (stored) onStored(stored);
    };
    this.#tasks.spawn(() =>
      store().finally(() => {
        for (const permit of permits) permit.release();
      }),
    );
  }

  /** Resolves when the repository has confirmed that it has everything. @throws `remoteFailed` */
  async finish(): Promise<void> {
    try {
      await this.#turn;
      this.#closePack();
    } catch (error) {
      this.#tasks.fail(error);
    }
    await this.#tasks.settle();
    const { repository, signal } = this.#options;
    for (const lost of await findUnseen(repository.store, this.#written, { limit: repository.limit, signal }))
      throw notStored(repository.store, lost);
  }

  /** Reads the object at once, then waits for its turn to be packed. */
  async #addPacked({ before: last, item, onFailed, onStored }: ContentToStore): Promise<void> {
    const before = this.#turn;
    const read = async () => {
      const { bytes, hash } = await this.#read(item);
      const isKnown = last?.blob === hash || this.#packed.has(hash);
      const { compression } = this.#options.layout;
      return { hash, bytes: isKnown ? bytes : await compressInBackground(bytes, compression) };
    };
    const reading = attempt(read, onFailed);
    // It is awaited in its turn; until then a failure must not count as unhandled.
    reading.catch(() => {});
    const turn = (async () => {
      await before;
      const content = await reading;
      if (!content) return;
      const { bytes, hash } = content;
      const known = last?.blob === hash ? last : this.#packed.get(hash);
      if (known) {
        onStored(known);
        return;
      }
      this.#pack ??= new PackBuilder();
      const stored = bytes.length < item.sizeBytes ? { storedBytes: bytes.length } : {};
      this.#placed.push({
        ...{ hash, onStored, ...stored },
        offset: this.#pack.add(hash, bytes, item.sizeBytes),
      });
      if (this.#pack.sizeBytes >= this.#options.layout.packTarget) {
        const permit = await this.#packMemory.acquire(this.#pack.sizeBytes, this.#tasks.signal);
        this.#closePack(() => permit.release());
      }
    })();
    this.#turn = turn;
    await turn;
  }

  #closePack(onSent: () => void = () => {}): void {
    const [builder, placed] = [this.#pack, this.#placed];
    [this.#pack, this.#placed] = [undefined, []];
    if (!builder || builder.count === 0) return;
    const { view } = this.#options;
    const pack = builder.finish((name) => view?.avoids(packKey(name)) === true);
    for (const { hash, onStored, ...place } of placed) {
      const location: BlobLocation = { in: 'pack', pack: pack.hash as PackHash, ...place };
      const content = { blob: hash, location };
      this.#packed.set(hash, content);
      onStored(content);
    }
    this.#tasks.spawn(() => this.#sendPack(packKey(pack.hash), pack).finally(onSent));
  }

  async #read(item: TreeItem): Promise<{ readonly hash: BlobHash; readonly bytes: Uint8Array }> {
    const bytes = await this.#options.source.read(item, this.#tasks.signal);
    this.#readBytes += bytes.length;
    return { hash: hashOf(bytes), bytes };
  }

  async #storeWhole(item: TreeItem): Promise<StoredContent> {
    const { bytes, hash } = await this.#read(item);
    return { blob: hash, location: { in: 'object', ...(await this.#storeObject(hash, bytes)) } };
  }

  async #storeChunks(item: TreeItem): Promise<StoredContent> {
    const cutter = createStreamCutter(this.#options.layout);
    const chunks: Chunk[] = [];
    const sending = new TaskSet(this.#tasks.signal);
    const send = async (cut: Iterable<{ readonly hash: BlobHash; readonly bytes: Uint8Array }>) => {
      for (const { bytes, hash } of cut) {
        const chunk = { hash, sizeBytes: bytes.length };
        const at = chunks.push(chunk) - 1;
        const permit = await this.#memory.acquire(bytes.length, sending.signal);
        const store = async () => {
          chunks[at] = { ...chunk, ...(await this.#storeObject(hash, bytes)) };
        };
        sending.spawn(() => store().finally(() => permit.release()));
      }
    };
    try {
      await this.#cat(item, (bytes) => send(cutter.add(bytes)));
      await send(cutter.finish());
    } catch (error) {
      sending.fail(error);
    }
    await sending.settle();
    return { blob: hashOfChunks(chunks), location: { in: 'chunks', chunks } };
  }

  /** A layout without chunks: the object is read once for its name, and again to be sent. */
  async #storeLarge(item: TreeItem): Promise<StoredContent> {
    const sum = createHash('sha256');
    await this.#cat(item, async (bytes) => void sum.update(bytes));
    const blob = sum.digest('hex') as BlobHash;
    const stored = await this.#once(blob, async () => {
      if ((await this.#sizeOf(this.#keyOf(blob))) !== item.sizeBytes) await this.#sendAgain(item, blob);
      return newObject(this.#options.view, blob);
    });
    return { blob, location: { in: 'object', ...stored } };
  }

  /** The store gets the last byte only when all of them were those of the first reading. */
  async #sendAgain(item: TreeItem, blob: BlobHash): Promise<void> {
    const { store } = this.#options.repository;
    const { signal } = this.#tasks;
    const { sizeBytes } = item;
    const pipe = new PassThrough({ highWaterMark: PIPE_BYTES });
    let failure: unknown;
    pipe.on('error', () => {});
    const stop = (error: unknown) => {
      failure ??= error;
      pipe.destroy(error as Error);
    };
    const sum = createHash('sha256');
    const reading = this.#cat(item, async (bytes) => {
      const own = Buffer.from(bytes);
      sum.update(own);
      if (!pipe.write(own)) await once(pipe, 'drain', { signal });
    }).then(() => {
      if (sum.digest('hex') !== blob) throw changed(item.path);
      pipe.end();
    });
    const key = this.#keyOf(blob);
    const sending = store.putStream(key, pipe, { sizeBytes, condition: { absent: true }, signal });
    const fromStore = sending.catch((error) => {
      if (failure === undefined) this.#tasks.fail(error);
      stop(error);
    });
    await Promise.all([reading.catch(stop), fromStore]);
    if (failure !== undefined) throw failure;
    this.#note(key, sizeBytes);
  }

  async #cat(item: TreeItem, write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    await this.#options.source.cat(item, write, this.#tasks.signal);
    this.#readBytes += item.sizeBytes;
  }

  #storeObject(hash: BlobHash, content: Uint8Array): Promise<StoredBlob> {
    return this.#once(hash, async () => {
      const { view } = this.#options;
      const storedBytes = await this.#sendObject(hash, content);
      return { ...newObject(view, hash), ...storedAs(content.length, storedBytes) };
    });
  }

  /** @returns The object's size on the store. */
  async #sendObject(hash: BlobHash, content: Uint8Array): Promise<number> {
    const { layout, repository } = this.#options;
    const { limit, store } = repository;
    const { signal } = this.#tasks;
    const key = this.#keyOf(hash);
    const { length: sizeBytes } = content;
    return this.#orFail(async () => {
      const found = await this.#sizeOf(key);
      if (found !== undefined) return found;
      const bytes = await compressInBackground(content, layout.compression);
      const storedBytes = await putBlob({ limit, signal, store }, { key, hash, sizeBytes, bytes });
      this.#note(key, storedBytes);
      return storedBytes;
    });
  }

  #keyOf(hash: BlobHash): RemoteKey {
    return newObjectKey(this.#options.view, hash);
  }

  #once(hash: BlobHash, send: () => Promise<StoredBlob>): Promise<StoredBlob> {
    const known = this.#objects.get(hash);
    if (known) return known;
    const sent = send();
    this.#objects.set(hash, sent);
    return sent;
  }

  async #sendPack(key: RemoteKey, { bytes, hash: sha256 }: Pick<BuiltPack, 'bytes' | 'hash'>): Promise<void> {
    const { limit, store } = this.#options.repository;
    const { signal } = this.#tasks;
    await this.#orFail(async () => {
      if ((await this.#sizeOf(key)) === bytes.length) return;
      const options = { checksum: { sha256 }, condition: { absent: true }, signal } as const;
      await limit.run(() => store.put(key, bytes, options), { bytes: bytes.length, signal });
      this.#note(key, bytes.length);
    });
  }

  /** When the repository fails, and not the object that is stored, the whole part ends. */
  async #orFail<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      this.#tasks.fail(error);
      throw error;
    }
  }

  /** A HEAD costs less than sending an object again. */
  async #sizeOf(key: RemoteKey): Promise<number | undefined> {
    const { limit, store } = this.#options.repository;
    const { signal } = this.#tasks;
    const found = await limit.run(() => store.head(key, { signal }), { bytes: 0, signal });
    return found?.sizeBytes;
  }

  #note(key: string, sizeBytes: number): void {
    this.#written.push({ key, sizeBytes });
    this.#sentBytes += sizeBytes;
  }
}

/** Undefined when `onFailed` has taken the error as one of this object alone. */
async function attempt<T>(
  work: () => Promise<T>,
  onFailed: (error: unknown) => boolean,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!onFailed(error)) throw error;
    return undefined;
  }
}

function hashOf(bytes: Uint8Array): BlobHash {
  return createHash('sha256').update(bytes).digest('hex') as BlobHash;
}
