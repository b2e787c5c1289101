/** Makes holes in an open file: zeros that take no space on the disk. */
import { bindCLibrary } from './c-library.ts';

/** Turns a range of the file into a hole. Returns false where the file system has no holes. */
export type PunchHole = (fd: number, start: number, lengthBytes: number) => boolean;

/** FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE (Linux: include/uapi/linux/falloc.h). */
const PUNCH = 0x01 | 0x02;

let loaded: Promise<PunchHole> | undefined;

export function loadPunchHole(): Promise<PunchHole> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<PunchHole> {
  const punch = await bindCLibrary(['linux'], (library): PunchHole => {
    const fallocate = library.func('int fallocate(int fd, int mode, int64_t offset, int64_t length)');
    return (fd, start, lengthBytes) => fallocate(fd, PUNCH, start, lengthBytes) === 0;
  });
  return punch ?? (() => false);
}
