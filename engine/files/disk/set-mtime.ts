/**
 * Sets a file's modification time to the nanosecond. Node's own `futimes` takes seconds as a double, which today
 * resolves 238 ns: a file's time would not come back as it was pushed. So the C library is called directly where it can be.
 */
import { futimesSync } from 'node:fs';

/** Sets the time of an open file. Throws Node's errors. */
export type SetMtime = (fd: number, mtimeNs: bigint) => void;

const NS_PER_SECOND = 1_000_000_000n;
/** `struct timespec` is two 64-bit integers there, with any C library. */
const WIDE_ARCHITECTURES = ['x64', 'arm64', 'ppc64', 'riscv64', 'loong64', 's390x'];
/** UTIME_OMIT: leave the access time as it is (Linux: include/uapi/linux/stat.h; macOS: sys/stat.h). */
const OMIT: Partial<Record<NodeJS.Platform, bigint>> = { linux: (1n << 30n) - 2n, darwin: -2n };

let loaded: Promise<SetMtime> | undefined;

/** The exact way (about 10 ms, once a thread), or the rounding one where that cannot be. */
export function loadSetMtime(): Promise<SetMtime> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<SetMtime> {
  const omit = OMIT[process.platform];
  if (omit === undefined || !WIDE_ARCHITECTURES.includes(process.arch)) return setMtimeRounded;
  try {
    const { default: koffi } = await import('koffi');
    return bindFutimens(koffi.load(null).func('int futimens(int fd, const int64_t *times)'), omit);
  } catch {
    return setMtimeRounded;
  }
}

function bindFutimens(futimens: (fd: number, times: BigInt64Array) => number, omit: bigint): SetMtime {
  // {access, modification} x {seconds, nanoseconds}; one array serves all calls of a thread.
  const times = new BigInt64Array([0n, omit, 0n, 0n]);
  return (fd, mtimeNs) => {
    let nanoseconds = mtimeNs % NS_PER_SECOND;
    // Before 1970 the nanoseconds still count upwards.
    if (nanoseconds < 0n) nanoseconds += NS_PER_SECOND;
    times[2] = (mtimeNs - nanoseconds) / NS_PER_SECOND;
    times[3] = nanoseconds;
    // The rounding way then either serves or says why not.
    if (futimens(fd, times) !== 0) setMtimeRounded(fd, mtimeNs);
  };
}

/** Correct to less than a microsecond for any time until 2106. */
export const setMtimeRounded: SetMtime = (fd, mtimeNs) => {
  futimesSync(fd, Date.now() / 1000, Number(mtimeNs) / 1e9);
};
