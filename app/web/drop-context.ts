/** The job context for copies of dropped files. */
import { homedir } from 'node:os';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { type Clock, systemClock } from '../../engine/base/clock.ts';
import { createBandwidthRate } from '../../engine/host/bandwidth.ts';
import { openWindowFile } from '../../engine/host/user-files/window-file.ts';
import type { RepositoryCache } from '../../engine/jobs/places/repository-guard.ts';
import { userConfigFolder } from '../../engine/jobs/session/user-remotes.ts';
import { createThrottle } from '../../engine/remotes/wrappers/with-throttle.ts';

type Given = Pick<JobContext, 'connection' | 'environment'>;

export type DropContext = Pick<JobContext, 'directory' | 'connection' | 'throttle'> & {
  /** Read for each drop, because the user may have typed keys since the last one. */
  readonly environment: () => Promise<JobContext['environment']>;
  /** The files of one drop share it, so each folder above them is checked once. Default: not shared. */
  readonly repositories?: () => RepositoryCache;
};

const CACHED_MS = 10_000;
const CACHED_MAX = 10_000;

export interface LimitedDropsOptions {
  /** Default: the environment given. */
  readonly environment?: DropContext['environment'];
  readonly clock?: Clock;
}

/**
 * These copies run outside the engine's thread, so they share a bandwidth limit of their own, from the same
 * setting.
 */
export function limitedDrops(given: Given, options: LimitedDropsOptions = {}): DropContext {
  const { clock = systemClock, environment = async () => given.environment } = options;
  const windowFile = openWindowFile(userConfigFolder(given));
  const throttle = createThrottle({ clock, bytesPerSecond: createBandwidthRate(windowFile, clock) });
  // Relative places start at the home folder, as in Browse.
  return {
    connection: given.connection,
    environment,
    directory: homedir(),
    throttle,
    repositories: shareCache(clock),
  };
}

/** Starts an empty cache every ten seconds, because a folder may become a repository. */
function shareCache(clock: Clock): () => RepositoryCache {
  let cache: RepositoryCache = new Map();
  let sinceMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.nowMs();
    if (nowMs - sinceMs > CACHED_MS || cache.size > CACHED_MAX) {
      cache = new Map();
      sinceMs = nowMs;
    }
    return cache;
  };
}
