/**
 * Decompressed contents of many MiB come and go. Once one was freed, glibc takes the next ones from a heap
 * that it does not give back: 64 clients took 60 MiB more for it. See mallopt(3).
 */
import { bindCLibrary } from '../files/disk/c-library.ts';

const M_MMAP_THRESHOLD = -3;
/** Smaller ones stay in the heap: each new page would cost a reader of plain content a tenth of its time. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024;

/** From now on, larger buffers are given back to the system once they are freed. Only with glibc. */
export async function giveBackFreedMemory(): Promise<void> {
  const calls = await bindCLibrary(['linux'], (library) => ({
    mallopt: library.func('int mallopt(int parameter, int value)') as (name: number, value: number) => number,
  }));
  calls?.mallopt(M_MMAP_THRESHOLD, KEPT_BYTES_MAX);
}
