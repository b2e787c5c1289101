/**
 * Stores the content of streams in a repository, without a folder and without a copy on disk. It shares the
 * rules of a push: packs for small content, chunks for large content, compression, and names that no
 * collection has condemned.
 *
 * Each source checks its own content and fails at its end if it is not what was expected. Content becomes
 * known to the index only after that.
 */
import { createHash, hash as hashOf } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import { Budget } from '../../base/budget.ts';
import { TaskSet } from '../../base/task-set.ts';
import { type CutChunk, createStreamCutter } from '../../files/chunks/stream-cutter.ts';
import type { Index } from '../../index/open-index.ts';
import { type BlobHash, type Chunk, EMPTY_BLOB, type StoredBlob } from '../../model/entry.ts';
import type { Layout } from '../../model/layout.ts';
import { newObject, newObjectKey } from '../../repository/collection/collection-view.ts';
import { packKey } from '../../repository/keys.ts';
import { hashOfChunks } from '../../repository/packs/chunked-blob.ts';
import type { PackBuilder } from '../../repository/packs/pack.ts';
import { createOpenPacks } from '../push/open-packs.ts';
import { sendPack } from '../push/send-pack.ts';
import { createStoredBlobs, storedAs } from '../push/stored-blobs.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { StreamStart } from './stream-start.ts';

export interface ContentSource {
  /** For messages. */
  readonly name: string;
  /**
   * Opens the content from its start. The body fails at its end if the content is not the expected one. An
   * object too large for memory in a repository without chunks is opened twice.
   */
  open(): Promise<ContentStream>;
}

export interface ContentStream {
  /** Undefined: known at its end. */
  readonly sizeBytes: number | undefined;
  /** A piece is used before the next one is asked for. */
  readonly body: AsyncIterable<Uint8Array>;
}

type SizedStream = ContentStream & { readonly sizeBytes: number };

export interface WrittenContent {
  readonly hash: BlobHash;
  readonly sizeBytes: number;
}

export interface ContentWriter {
  /** Resolves when the content is on the store, or in a pack that `settle` sends. */
  put(source: ContentSource): Promise<WrittenContent>;
  /** Whether `settle` will send it with a pack. */
  holds(hash: BlobHash): boolean;
  /** Sends the last packs and waits for all. */
  settle(): Promise<void>;
  /** What was sent so far. */
  sent(): { readonly objects: number; readonly bytes: number };
  close(): Promise<void>;
}

export interface ContentWriterOptions {
  readonly remote: OpenedRemote;
  readonly index: Index;
  readonly link: Pick<LinkedRepository, 'blobs' | 'layout' | 'view' | 'isEmpty'>;
  readonly signal: AbortSignal;
}

/** Content in memory at once, besides the packs. */
const MEMORY_BYTES = 160 * 1024 * 1024;
const PACK_MEMORY_BYTES = 128 * 1024 * 1024;
const MIB = 1024 * 1024;
/** Content above this is not held whole in a repository without chunks. */
const WHOLE_BYTES_MAX = 64 * MIB;
/** Content of unknown size up to this waits for no other. */
const SHORT_BYTES_MAX = MIB;
/** Files that are being cut at once, and chunks of one file that are being sent. */
const CUTS_MAX = 2;
const CHUNKS_IN_FLIGHT = 4;

export function createContentWriter(options: ContentWriterOptions): ContentWriter {
  return new Writer(options);
}

class Writer implements ContentWriter {
  readonly #options: ContentWriterOptions;
  readonly #tasks: TaskSet;
  readonly #memory = new Budget(MEMORY_BYTES);
  readonly #packMemory = new Budget(PACK_MEMORY_BYTES);
  readonly #cuts = new Budget(CUTS_MAX);
  readonly #blobs: ReturnType<typeof createStoredBlobs>;
  readonly #packs: ReturnType<typeof createOpenPacks>;
  /** Content in packs that are not on the store yet. */
  readonly #packing = new Set<BlobHash>();
  /** Objects that are being sent. */
  readonly #sending = new Map<BlobHash, Promise<StoredBlob>>();
  #objects = 0;
  #bytes = 0;

  constructor(options: ContentWriterOptions) {
    this.#options = options;
    const { link, remote, signal } = options;
    this.#tasks = new TaskSet(signal);
    const { layout } = link;
    this.#blobs = createStoredBlobs({ ...remote, layout, signal: this.#tasks.signal });
    const isSealed = remote.store.sealing !== undefined;
    this.#packs = createOpenPacks(layout, { contentBytes: layout.packTarget, isSealed });
  }

  async put(source: ContentSource): Promise<WrittenContent> {
    this.#tasks.check();
    const { layout } = this.#options.link;
    const { body, sizeBytes } = await source.open();
    if (sizeBytes === undefined) return await this.#putUnsized(source, body);
    const { signal } = this.#tasks;
    if (isCut(layout, sizeBytes) || sizeBytes > WHOLE_BYTES_MAX) {
      using _cut = await this.#cuts.acquire(1, signal);
      const stream = { body, sizeBytes };
      return await (isCut(layout, sizeBytes) ? this.#cut(source, stream) : this.#putLarge(source, stream));
    }
    using _memory = await this.#memory.acquire(sizeBytes, signal);
    return await this.#putWhole(await readWhole(source, { body, sizeBytes }));
  }

  /** Longer content takes turns, because it may need the memory of the largest that is held whole. */
  async #putUnsized(source: ContentSource, body: AsyncIterable<Uint8Array>): Promise<WrittenContent> {
    const { chunkAbove } = this.#options.link.layout;
    const { signal } = this.#tasks;
    using _memory = await this.#memory.acquire(SHORT_BYTES_MAX, signal);
    await using start = new StreamStart(body);
    if (await start.readTo(SHORT_BYTES_MAX)) return await this.#putWhole(toShared(start.bytes()));
    using _cut = await this.#cuts.acquire(1, signal);
    if (await start.readTo(chunkAbove > 0 ? chunkAbove : WHOLE_BYTES_MAX))
      return await this.#putWhole(toShared(start.bytes()));
    if (chunkAbove > 0) return await this.#cut(source, { body: start.all(), sizeBytes: undefined });
    const message = `${source.name} has more than ${WHOLE_BYTES_MAX / MIB} MiB, and its size was not given.`;
    throw new DrayError('usage', `${message} This repository, which has no chunks, needs it.`, {
      data: { path: source.name },
    });
  }

  /** @param bytes In memory that threads share. */
  async #putWhole(bytes: Uint8Array): Promise<WrittenContent> {
    const { blobs, layout } = this.#options.link;
    const sizeBytes = bytes.length;
    if (sizeBytes === 0) return { hash: EMPTY_BLOB, sizeBytes };
    const hash = hashOf('sha256', bytes, 'hex') as BlobHash;
    if (blobs.has(hash) || this.#packing.has(hash)) return { hash, sizeBytes };
    if (sizeBytes < layout.packBelow) await this.#pack(hash, bytes);
    else await this.#putObject(hash, bytes);
    return { hash, sizeBytes };
  }

  holds(hash: BlobHash): boolean {
    return this.#packing.has(hash);
  }

  async settle(): Promise<void> {
    for (const pack of this.#packs.rest()) await this.#closePack(pack);
    await this.#tasks.settle();
  }

  sent() {
    return { objects: this.#objects, bytes: this.#bytes };
  }

  async close(): Promise<void> {
    this.#tasks.end();
    await this.#tasks.settle().catch(() => {});
    await this.#blobs.close();
  }

  async #pack(hash: BlobHash, bytes: Uint8Array): Promise<void> {
    this.#packing.add(hash);
    const sizeBytes = bytes.length;
    const [frame] = await this.#blobs.frames([bytes]);
    const full = this.#packs.add(hash, frame!, sizeBytes);
    if (full) await this.#closePack(full);
  }

  async #closePack(builder: PackBuilder): Promise<void> {
    const { index, link, remote } = this.#options;
    const { signal } = this.#tasks;
    const permit = await this.#packMemory.acquire(builder.sizeBytes, signal);
    this.#tasks.spawn(async () => {
      try {
        const pack = await sendPack({ ...remote, view: link.view, signal }, builder);
        index.transaction(() => {
          this.#note(packKey(pack.hash), pack.bytes.length);
          link.blobs.addPack(pack.hash, pack.blobs);
        });
        for (const { hash } of pack.blobs) this.#packing.delete(hash);
      } finally {
        permit.release();
      }
    });
  }

  /** The object, sent once however often it is asked for. */
  #putObject(hash: BlobHash, bytes: Uint8Array): Promise<StoredBlob> {
    const { link } = this.#options;
    const known = link.blobs.objectOf(hash);
    if (known) return Promise.resolve(known);
    const sending = this.#sending.get(hash) ?? this.#sendObject(hash, bytes);
    this.#sending.set(hash, sending);
    const forget = () => this.#sending.delete(hash);
    sending.then(forget, forget);
    return sending;
  }

  async #sendObject(hash: BlobHash, bytes: Uint8Array): Promise<StoredBlob> {
    const { link } = this.#options;
    const key = newObjectKey(link.view, hash);
    const sizeBytes = bytes.length;
    const found = await this.#find(key);
    const storedBytes = found ?? (await this.#blobs.put(key, hash, bytes));
    return this.#place(hash, { sizeBytes, storedBytes, isSent: found === undefined });
  }

  /** The size of an object that is on the store. A new repository has none. */
  async #find(key: string): Promise<number | undefined> {
    const { link, remote } = this.#options;
    if (link.isEmpty) return undefined;
    const { signal } = this.#tasks;
    const info = await remote.limit.run(() => remote.store.head(key, { signal }), { bytes: 0, signal });
    return info?.sizeBytes;
  }

  #place(
    hash: BlobHash,
    object: { readonly sizeBytes: number; readonly storedBytes: number; readonly isSent: boolean },
  ): StoredBlob {
    const { index, link } = this.#options;
    const { isSent, sizeBytes, storedBytes } = object;
    const stored = { ...newObject(link.view, hash), ...storedAs(sizeBytes, storedBytes) };
    index.transaction(() => {
      if (isSent) this.#note(newObjectKey(link.view, hash), storedBytes);
      link.blobs.add(hash, { in: 'object', ...stored });
    });
    return stored;
  }

  async #cut(source: ContentSource, { body, sizeBytes }: ContentStream): Promise<WrittenContent> {
    const { index, link } = this.#options;
    const { signal } = this.#tasks;
    const inFlight = new Budget(CHUNKS_IN_FLIGHT);
    const sends: Promise<Chunk>[] = [];
    const cutter = createStreamCutter(link.layout, toShared);
    const send = async (cut: Iterable<CutChunk>) => {
      for (const { bytes, hash } of cut) {
        const permit = await inFlight.acquire(1, signal);
        const { length } = bytes;
        const sent = this.#putObject(hash, bytes)
          .then((stored) => ({ hash, sizeBytes: length, ...stored }))
          .finally(() => permit.release());
        sent.catch((error) => this.#tasks.fail(error));
        sends.push(sent);
      }
    };
    try {
      for await (const piece of body) await send(cutter.add(piece));
      await send(cutter.finish());
      const chunks = await Promise.all(sends);
      const read = chunks.reduce((sum, chunk) => sum + chunk.sizeBytes, 0);
      if (sizeBytes !== undefined && read !== sizeBytes) throw otherSize(source, sizeBytes);
      const hash = hashOfChunks(chunks);
      index.transaction(() => link.blobs.add(hash, { in: 'chunks', chunks }));
      return { hash, sizeBytes: read };
    } finally {
      await Promise.allSettled(sends);
    }
  }

  /** Reads twice: the name of the object is the hash of its content. */
  async #putLarge(source: ContentSource, first: SizedStream): Promise<WrittenContent> {
    const { link, remote } = this.#options;
    const { signal } = this.#tasks;
    const { sizeBytes } = first;
    const sum = createHash('sha256');
    for await (const piece of first.body) sum.update(piece);
    const hash = sum.digest('hex') as BlobHash;
    if (link.blobs.has(hash)) return { hash, sizeBytes };
    const key = newObjectKey(link.view, hash);
    const found = await this.#find(key);
    if (found === undefined) {
      const { body } = await source.open();
      const condition = { absent: true } as const;
      await remote.limit.run(() => remote.store.putStream(key, body, { condition, sizeBytes, signal }), {
        bytes: sizeBytes,
        signal,
      });
    }
    this.#place(hash, { sizeBytes, storedBytes: found ?? sizeBytes, isSent: found === undefined });
    return { hash, sizeBytes };
  }

  /** Call it in a transaction. */
  #note(key: string, storedBytes: number): void {
    const { link, remote } = this.#options;
    this.#objects += 1;
    this.#bytes += storedBytes;
    if (!remote.store.confirmsWrites) link.blobs.noteSent(key, storedBytes);
  }
}

function isCut({ chunkAbove }: Layout, sizeBytes: number): boolean {
  return chunkAbove > 0 && sizeBytes > chunkAbove;
}

/** A copy that threads can compress in place. */
function toShared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/** In shared memory, so that threads can compress it in place. */
async function readWhole(source: ContentSource, { body, sizeBytes }: SizedStream): Promise<Uint8Array> {
  const bytes = new Uint8Array(new SharedArrayBuffer(sizeBytes));
  let filled = 0;
  for await (const piece of body) {
    if (filled + piece.length > sizeBytes) throw otherSize(source, sizeBytes);
    bytes.set(piece, filled);
    filled += piece.length;
  }
  if (filled < sizeBytes) throw otherSize(source, sizeBytes);
  return bytes;
}

function otherSize({ name }: ContentSource, sizeBytes: number): DrayError {
  const message = `${name} has another size than the ${sizeBytes} bytes that were announced.`;
  return new DrayError('damaged', message, { data: { path: name } });
}
