/**
 * The objects of a repository in a folder as their own cache: a block that was read lately is read again from
 * the object's file, because the system has it in memory. So nothing is written.
 */
import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { OPEN_TO_READ } from '../../base/open-to-read.ts';
import { etagOf } from '../../remotes/file/file-etag.ts';
import type { ObjectInfo, RemoteKey } from '../../remotes/object-store.ts';
import {
  BLOCK_BYTES,
  type BlockCacheFile,
  type BlockPart,
  type CachedBlock,
  READ_NOW_BYTES_MAX,
} from './block-file.ts';

const OPEN_FILES_MAX = 256;
/** A collection frees the room of a pack only when nobody has it open. */
const OPEN_MS = 10_000;

interface Slot {
  readonly key: RemoteKey;
  readonly position: number;
  readonly sizeBytes: number;
  readonly info: ObjectInfo;
}

/**
 * @param folder That of the repository, whose objects are stored as they are read: not encrypted.
 * @param bytesMax What the system may be thought to have in memory.
 */
export function openObjectFiles(folder: string, bytesMax: number): BlockCacheFile {
  return new ObjectFiles(folder, Math.max(1, Math.floor(bytesMax / BLOCK_BYTES)));
}

class ObjectFiles implements BlockCacheFile {
  readonly #folder: string;
  readonly #slots: LRUCache<string, Slot>;
  readonly #files: LRUCache<RemoteKey, FileHandle>;
  readonly #opening = new Map<RemoteKey, Promise<FileHandle | undefined>>();
  readonly #busy = new Set<Promise<void>>();

  constructor(folder: string, slotsMax: number) {
    this.#folder = folder;
    this.#slots = new LRUCache({ max: slotsMax });
    this.#files = new LRUCache({
      max: OPEN_FILES_MAX,
      ttl: OPEN_MS,
      ttlAutopurge: true,
      // Reads that have begun end first.
      dispose: (file) => void file.close().catch(() => {}),
    });
  }

  has(id: string): boolean {
    return this.#slots.has(id);
  }

  read(
    id: string,
    part: BlockPart,
    into?: Uint8Array,
  ): CachedBlock | undefined | Promise<CachedBlock | undefined> {
    const slot = this.#slots.get(id);
    if (!slot) return undefined;
    const sizeBytes = Math.max(0, Math.min(part.end, slot.sizeBytes) - part.start);
    const at = slot.position + part.start;
    const file = this.#files.get(slot.key);
    const bytes = into?.subarray(0, sizeBytes) ?? Buffer.allocUnsafe(sizeBytes);
    if (!file || sizeBytes > READ_NOW_BYTES_MAX) return this.#readLater(id, slot, bytes, at);
    try {
      if (readSync(file.fd, bytes, 0, sizeBytes, at) === sizeBytes) return { bytes, info: slot.info };
    } catch {}
    this.delete(id);
    return undefined;
  }

  async #readLater(id: string, slot: Slot, bytes: Uint8Array, at: number): Promise<CachedBlock | undefined> {
    const file = await this.#open(slot);
    const read = await file?.read(bytes, 0, bytes.length, at).catch(() => undefined);
    if (read?.bytesRead === bytes.length) return { bytes, info: slot.info };
    this.delete(id);
    return undefined;
  }

  /** Undefined: it is not the file that the store has read. */
  #open({ info, key }: Pick<Slot, 'info' | 'key'>): Promise<FileHandle | undefined> | FileHandle {
    const known = this.#files.get(key);
    if (known) return known;
    const running = this.#opening.get(key);
    if (running) return running;
    const opening = openSame(join(this.#folder, key), info.etag)
      .then((file) => {
        if (file) this.#files.set(key, file);
        return file;
      })
      .finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening;
  }

  write(id: string, { bytes, info }: CachedBlock): void {
    const mark = id.lastIndexOf('#');
    const key = id.slice(0, mark);
    const number = id.slice(mark + 1);
    const position = number === 'whole' ? 0 : Number(number) * BLOCK_BYTES;
    const slot = { key, position, sizeBytes: bytes.length, info };
    const noting = (async () => {
      if (await this.#open(slot)) this.#slots.set(id, slot);
    })().finally(() => this.#busy.delete(noting));
    this.#busy.add(noting);
  }

  delete(id: string): void {
    const slot = this.#slots.peek(id);
    this.#slots.delete(id);
    if (slot) this.#files.delete(slot.key);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#busy);
  }

  async close(): Promise<void> {
    await this.settled();
    this.#slots.clear();
    this.#files.clear();
  }
}

async function openSame(path: string, etag: string): Promise<FileHandle | undefined> {
  const file = await open(path, OPEN_TO_READ).catch(() => undefined);
  if (!file) return undefined;
  const stats = await file.stat({ bigint: true }).catch(() => undefined);
  if (stats && etagOf(stats) === etag) return file;
  await file.close();
  return undefined;
}
