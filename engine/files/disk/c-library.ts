/**
 * Binds functions of the C library that Node does not offer, through koffi. Every caller has a fallback, so a
 * system without them loses speed or precision and nothing else.
 */
import type { LibraryHandle } from 'koffi';

/**
 * The processors where `off_t` and both halves of `struct timespec` are 64-bit integers with any C library.
 */
const ARCHITECTURES_64_BIT = ['x64', 'arm64', 'ppc64', 'riscv64', 'loong64', 's390x'];

/**
 * Takes about 10 ms the first time in a thread. Undefined on another system, or where the library lacks a
 * call.
 */
export async function bindCLibrary<Calls>(
  systems: readonly NodeJS.Platform[],
  bind: (library: LibraryHandle) => Calls,
): Promise<Calls | undefined> {
  if (!systems.includes(process.platform) || !ARCHITECTURES_64_BIT.includes(process.arch)) return undefined;
  try {
    const { default: koffi } = await import('koffi');
    return bind(koffi.load(null));
  } catch {
    return undefined;
  }
}
