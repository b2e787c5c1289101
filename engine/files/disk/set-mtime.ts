/**
 * Sets a file's modification time to the nanosecond. Node's `futimes` takes seconds as a double, whose steps
 * are 238 ns today, so a pulled file would not get the pushed time. So Dray calls the C library where it can
 * be bound.
 */
import { futimesSync } from 'node:fs';
import { bindCLibrary } from './c-library.ts';

/** Sets the time of an open file. Throws Node's errors. */
export type SetMtime = (fd: number, mtimeNs: bigint) => void;

const NS_PER_SECOND = 1_000_000_000n;
/** UTIME_OMIT leaves the access time unchanged (Linux: include/uapi/linux/stat.h; macOS: sys/stat.h). */
const OMIT = { linux: (1n << 30n) - 2n, darwin: -2n };

let loaded: Promise<SetMtime> | undefined;

/**
 * Loads the exact setter (about 10 ms, once per thread), or the rounding one where the C library cannot be
 * bound.
 */
export function loadSetMtime(): Promise<SetMtime> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<SetMtime> {
  const omit = OMIT[process.platform === 'darwin' ? 'darwin' : 'linux'];
  const exact = await bindCLibrary(['linux', 'darwin'], (library) =>
    bindFutimens(library.func('int futimens(int fd, const int64_t *times)'), omit),
  );
  return exact ?? setMtimeRounded;
}

function bindFutimens(futimens: (fd: number, times: BigInt64Array) => number, omit: bigint): SetMtime {
  // {access, modification} x {seconds, nanoseconds}; one array serves all calls of a thread.
  const times = new BigInt64Array([0n, omit, 0n, 0n]);
  return (fd, mtimeNs) => {
    let nanoseconds = mtimeNs % NS_PER_SECOND;
    // Nanoseconds count upwards before 1970 too.
    if (nanoseconds < 0n) nanoseconds += NS_PER_SECOND;
    times[2] = (mtimeNs - nanoseconds) / NS_PER_SECOND;
    times[3] = nanoseconds;
    // The rounding setter either works or throws the reason.
    if (futimens(fd, times) !== 0) setMtimeRounded(fd, mtimeNs);
  };
}

/** Correct to less than a microsecond for any time until 2106. */
export const setMtimeRounded: SetMtime = (fd, mtimeNs) => {
  futimesSync(fd, Date.now() / 1000, Number(mtimeNs) / 1e9);
};
