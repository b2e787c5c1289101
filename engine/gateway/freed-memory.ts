/**
 * Decompressed contents of many MiB come and go. Once one was freed, glibc takes the next ones from its heap,
 * between smaller buffers, and what lies there is not given back. See mallopt(3).
 */
import { bindCLibrary } from '../files/disk/c-library.ts';

const M_TRIM_THRESHOLD = -1;
const M_MMAP_THRESHOLD = -3;
const MIB = 1024 * 1024;
/** Smaller ones stay in the heap, since new pages would cost a reader a tenth of its time. */
const KEPT_BYTES_MAX = 2 * MIB;
/** What the heap may keep at its end. With 16 MiB a file of 110 kB took 0.13 ms more of the processor. */
const SPARE_BYTES = 64 * MIB;

/** From now on, larger buffers are given back to the system once they are freed. Only with glibc. */
export async function giveBackFreedMemory(): Promise<void> {
  const calls = await bindCLibrary(['linux'], (library) => ({
    mallopt: library.func('int mallopt(int parameter, int value)') as (name: number, value: number) => number,
  }));
  calls?.mallopt(M_MMAP_THRESHOLD, KEPT_BYTES_MAX);
  calls?.mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
}
