/**
 * A file of blocks that did not fit into the memory. It is a cache of one process: on POSIX it has no name
 * once it is open, so nothing stays after a kill. Blocks are encrypted by a key that only this process has,
 * because the content of an encrypted repository must not lie on the disk.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { ObjectInfo } from '../../remotes/object-store.ts';

export const BLOCK_BYTES = 512 * 1024;

/** Part of an object. The last block of an object is shorter. */
export interface CachedBlock {
  readonly bytes: Uint8Array;
  readonly info: ObjectInfo;
}

/** Half open, in bytes. The end is capped at that of the block. */
export interface BlockPart {
  readonly start: number;
  readonly end: number;
}

/** Where blocks are when the memory has no room for them. */
export interface BlockCacheFile {
  has(id: string): boolean;
  /**
   * A part of the block, at once if it is small. Undefined if it was replaced meanwhile, or cannot be read.
   * @param into Memory that may be used for the bytes.
   */
  read(
    id: string,
    part: BlockPart,
    into?: Uint8Array,
  ): CachedBlock | undefined | Promise<CachedBlock | undefined>;
  /** In the background. A file that cannot be written, as on a full disk, is given up. */
  write(id: string, block: CachedBlock): void;
  delete(id: string): void;
  /** Resolves when all writes have ended. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const WRITES_MAX = 16;
/** Blocks that are in memory until they are written. More are left out: a cache may forget. */
const UNWRITTEN_MAX = 32;
/**
 * Read at once. The system has in memory what was written or read lately, and the way through a thread takes
 * ten times as long as the read of a few KiB (measured: 90 and 9 microseconds on two busy cores), and a
 * tenth more than that of 110 KiB.
 */
export const READ_NOW_BYTES_MAX = 128 * 1024;
const CIPHER = 'aes-256-ctr';
const CIPHER_BYTES = 16;

interface Slot {
  readonly number: number;
  readonly iv: Buffer;
  readonly sizeBytes: number;
  readonly info: ObjectInfo;
}

/** @param folder It is made if it is missing. @throws `io` */
export async function openBlockFile(folder: string, bytesMax: number): Promise<BlockCacheFile> {
  const key = createSecretKey(randomBytes(32));
  const own = makeFolder(folder);
  const path = join(own, 'blocks');
  const file = await open(path, 'wx+', 0o600);
  const removeNow = () => rmSync(own, { recursive: true, force: true });
  // Windows cannot remove what is open.
  if (process.platform !== 'win32') removeNow();
  return new Blocks(file, key, Math.max(1, Math.floor(bytesMax / BLOCK_BYTES)), removeNow);
}

class Blocks implements BlockCacheFile {
  readonly #file: FileHandle;
  readonly #key: KeyObject;
  readonly #onClosed: () => void;
  readonly #slots: LRUCache<string, Slot>;
  readonly #free: number[] = [];
  readonly #busy = new Set<Promise<void>>();
  readonly #unwritten = new Map<string, CachedBlock>();
  /** Of those, the ones whose turn has not come. */
  readonly #waiting = new Set<string>();
  #used = 0;
  readonly #slotsMax: number;
  #isOff = false;

  constructor(file: FileHandle, key: KeyObject, slotsMax: number, onClosed: () => void) {
    this.#file = file;
    this.#key = key;
    this.#slotsMax = slotsMax;
    this.#onClosed = onClosed;
    this.#slots = new LRUCache({ max: slotsMax, dispose: ({ number }) => this.#free.push(number) });
  }

  has(id: string): boolean {
    return !this.#isOff && (this.#unwritten.has(id) || this.#slots.has(id));
  }

  read(id: string, { end, start }: BlockPart): CachedBlock | undefined | Promise<CachedBlock | undefined> {
    const unwritten = this.#unwritten.get(id);
    if (unwritten) return { ...unwritten, bytes: unwritten.bytes.subarray(start, end) };
    const slot = this.#slots.get(id);
    if (!slot) return undefined;
    // The cipher counts units of 16 bytes, so it can begin at any of them.
    const from = start - (start % CIPHER_BYTES);
    const sizeBytes = Math.max(0, Math.min(end, slot.sizeBytes) - from);
    const sealed = Buffer.allocUnsafeSlow(sizeBytes);
    const at = slot.number * BLOCK_BYTES + from;
    const open = () => {
      const decipher = createDecipheriv(CIPHER, this.#key, counterAt(slot.iv, from / CIPHER_BYTES));
      return { bytes: decipher.update(sealed).subarray(start - from), info: slot.info };
    };
    if (sizeBytes <= READ_NOW_BYTES_MAX) return this.#readNow(sealed, at) ? open() : undefined;
    return this.#file.read(sealed, 0, sizeBytes, at).then(
      // If another block took the slot meanwhile, these may be its bytes.
      ({ bytesRead }) => (bytesRead === sizeBytes && this.#slots.peek(id) === slot ? open() : undefined),
      () => undefined,
    );
  }

  #readNow(into: Buffer, at: number): boolean {
    try {
      return readSync(this.#file.fd, into, 0, into.length, at) === into.length;
    } catch {
      return false;
    }
  }

  write(id: string, block: CachedBlock): void {
    if (this.#isOff || this.#unwritten.size >= UNWRITTEN_MAX || this.has(id)) return;
    this.#unwritten.set(id, block);
    this.#waiting.add(id);
    this.#writeNext();
  }

  #writeNext(): void {
    for (const id of this.#waiting) {
      if (this.#busy.size >= WRITES_MAX) return;
      this.#waiting.delete(id);
      const block = this.#unwritten.get(id)!;
      const writing = this.#writeNow(id, block)
        .catch(() => {
          this.#isOff = true;
        })
        .finally(() => {
          this.#busy.delete(writing);
          if (this.#unwritten.get(id) === block) this.#unwritten.delete(id);
          this.#writeNext();
        });
      this.#busy.add(writing);
    }
  }

  async #writeNow(id: string, block: CachedBlock): Promise<void> {
    const number = this.#takeSlot();
    if (number === undefined || this.#isOff) return;
    const iv = randomBytes(16);
    const sealed = createCipheriv(CIPHER, this.#key, iv).update(block.bytes);
    await this.#file.write(sealed, 0, sealed.length, number * BLOCK_BYTES);
    // It may have been found damaged meanwhile.
    if (this.#unwritten.get(id) !== block) this.#free.push(number);
    else this.#slots.set(id, { number, iv, sizeBytes: sealed.length, info: block.info });
  }

  delete(id: string): void {
    this.#unwritten.delete(id);
    this.#waiting.delete(id);
    this.#slots.delete(id);
  }

  async settled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy);
  }

  async close(): Promise<void> {
    this.#isOff = true;
    await this.settled();
    await this.#file.close();
    this.#onClosed();
  }

  #takeSlot(): number | undefined {
    if (this.#free.length === 0 && this.#used < this.#slotsMax) this.#free.push(this.#used++);
    if (this.#free.length === 0) this.#slots.pop();
    return this.#free.pop();
  }
}

/** The counter so many units behind the first one, which is a number of 128 bits (NIST SP 800-38A). */
function counterAt(first: Buffer, units: number): Buffer {
  const sum = BigInt.asUintN(128, BigInt(`0x${first.toString('hex')}`) + BigInt(units));
  return Buffer.from(sum.toString(16).padStart(32, '0'), 'hex');
}

function makeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return mkdtempSync(join(folder, 'gateway-'));
}
