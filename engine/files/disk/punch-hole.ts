/** Zeros that take no room, in the middle of a file that is open. Node has no call for it, so the C library is called directly. */

/** Makes a hole of the bytes from `start` on, which are zeros then; false where that cannot be. */
export type PunchHole = (fd: number, start: number, lengthBytes: number) => boolean;

/** FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE (Linux: include/uapi/linux/falloc.h). */
const PUNCH = 0x01 | 0x02;
/** `off_t` is a 64-bit integer there, with any C library. */
const WIDE_ARCHITECTURES = ['x64', 'arm64', 'ppc64', 'riscv64', 'loong64', 's390x'];

let loaded: Promise<PunchHole> | undefined;

export function loadPunchHole(): Promise<PunchHole> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<PunchHole> {
  if (process.platform !== 'linux' || !WIDE_ARCHITECTURES.includes(process.arch)) return () => false;
  try {
    const { default: koffi } = await import('koffi');
    const fallocate = koffi
      .load(null)
      .func('int fallocate(int fd, int mode, int64_t offset, int64_t length)');
    return (fd, start, lengthBytes) => fallocate(fd, PUNCH, start, lengthBytes) === 0;
  } catch {
    return () => false;
  }
}
