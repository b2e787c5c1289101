/**
 * Memory that the chunker's WebAssembly loop can see, so that files are read where they are cut. Shared: threads fill
 * it and the main thread sends from it, with nothing copied. Buffers that were moved between threads instead counted as memory of
 * each thread's JavaScript heap, which set the garbage collector off every few of them (a fifth of a push's CPU time).
 *
 * It lasts as long as something refers to it. What is never written to takes no memory of the machine.
 */
import { hash as digestOf } from 'node:crypto';
import { buildChunkerModule, FUNCTION_EXPORT, type MayCut, MEMORY_IMPORT } from './chunker-wasm.ts';

/** Addresses below this are the chunker's own. */
export const CHUNKER_MEMORY_START = 4096;

/** All that 32-bit addresses reach. */
export const CHUNKER_MEMORY_BYTES_MAX = 2 ** 32 - CHUNKER_MEMORY_START;

const PAGE_BYTES = 65_536;
const GEAR_BYTES = 256 * 4;

/** Given to each thread as it is. The buffer's type is told here: browsers' type of a memory knows no shared one. */
export type ChunkerMemory = WebAssembly.Memory & { readonly buffer: SharedArrayBuffer };

/** A memory with room for `bytes` bytes from `CHUNKER_MEMORY_START` on. Throws RangeError above 4 GiB. */
export function createChunkerMemory(bytes: number): ChunkerMemory {
  const pages = Math.ceil((CHUNKER_MEMORY_START + bytes) / PAGE_BYTES);
  // Of its full size from the start: a memory that grows has a new buffer each time, in each thread at another time.
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }) as ChunkerMemory;
  gearOf(memory).set(makeGear());
  return memory;
}

export function viewMemory(memory: ChunkerMemory, offset: number, length: number): Uint8Array {
  return new Uint8Array(memory.buffer, offset, length);
}

/** The table `gear` of the chunker's definition. */
export function gearOf(memory: ChunkerMemory): Int32Array {
  return new Int32Array(memory.buffer, 0, GEAR_BYTES / Int32Array.BYTES_PER_ELEMENT);
}

/** Compiles the loop for this thread: under a millisecond. */
export function openMayCut(memory: ChunkerMemory): MayCut {
  const module = new WebAssembly.Module(buildChunkerModule());
  const { exports } = new WebAssembly.Instance(module, {
    [MEMORY_IMPORT.module]: { [MEMORY_IMPORT.name]: memory },
  });
  return exports[FUNCTION_EXPORT] as MayCut;
}

function makeGear(): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) =>
    digestOf('sha256', `dray gear ${byte}`, 'buffer').readInt32BE(0),
  );
}
