/**
 * Memory that the chunker's WebAssembly loop can access, so that files are read where they are cut. It is
 * shared: threads fill it and the main thread sends from it without copying. Moving buffers between threads
 * instead counts as memory of each thread's JavaScript heap and triggers the garbage collector (a fifth of a
 * push's CPU time).
 *
 * It lives as long as something refers to it. Pages that are never written use no RAM.
 */
import { createHmac, hash as digestOf } from 'node:crypto';

/** Addresses below this belong to the chunker. */
export const CHUNKER_MEMORY_START = 4096;

/** The range of 32-bit addresses. */
export const CHUNKER_MEMORY_BYTES_MAX = 2 ** 32 - CHUNKER_MEMORY_START;

const PAGE_BYTES = 65_536;
const GEAR_BYTES = 256 * 4;

/**
 * Passed to each thread unchanged. The buffer's type is stated here because the DOM's type of a memory has no
 * shared one.
 */
export type ChunkerMemory = WebAssembly.Memory & { readonly buffer: SharedArrayBuffer };

/**
 * A memory with room for `bytes` bytes from `CHUNKER_MEMORY_START` on. Throws RangeError above 4 GiB.
 * @param cutterKey Of an encrypted repository, whose chunks end elsewhere (`Layout.cutterKey`)
 */
export function createChunkerMemory(bytes: number, cutterKey?: string): ChunkerMemory {
  const pages = Math.ceil((CHUNKER_MEMORY_START + bytes) / PAGE_BYTES);
  // Full size from the start: a growing memory gets a new buffer each time, and threads see it at different
  // times.
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }) as ChunkerMemory;
  gearOf(memory).set(makeGear(cutterKey));
  return memory;
}

export function viewMemory(memory: ChunkerMemory, offset: number, length: number): Uint8Array {
  return new Uint8Array(memory.buffer, offset, length);
}

/** The table `gear` of the chunker's definition. */
export function gearOf(memory: ChunkerMemory): Int32Array {
  return new Int32Array(memory.buffer, 0, GEAR_BYTES / Int32Array.BYTES_PER_ELEMENT);
}

function makeGear(cutterKey: string | undefined): Int32Array {
  const key = cutterKey === undefined ? undefined : Buffer.from(cutterKey, 'hex');
  return Int32Array.from({ length: 256 }, (_, byte) => {
    const text = `dray gear ${byte}`;
    const digest = key ? createHmac('sha256', key).update(text).digest() : digestOf('sha256', text, 'buffer');
    return digest.readInt32BE(0);
  });
}
