/** The job context for copies of dropped files. */
import { homedir } from 'node:os';
import type { JobContext } from '../../engine/api/jobs.ts';
import { type Clock, systemClock } from '../../engine/base/clock.ts';
import { createBandwidthRate } from '../../engine/host/bandwidth.ts';
import type { FolderMemory } from '../../engine/host/browse/repository-guard.ts';
import { openWindowFile } from '../../engine/host/user-files/window-file.ts';
import { userConfigFolder } from '../../engine/jobs/session/user-remotes.ts';
import { createThrottle } from '../../engine/remotes/wrappers/with-throttle.ts';

type Given = Pick<JobContext, 'connection' | 'environment'>;

export type DropContext = Pick<JobContext, 'directory' | 'connection' | 'throttle'> & {
  /** Read for each drop: keys may have been typed into the window since the last one. */
  readonly environment: () => Promise<JobContext['environment']>;
  /** So that the files of one drop ask once for each folder above them; default: each file asks. */
  readonly memory?: () => FolderMemory;
};

const REMEMBERED_MS = 10_000;
const REMEMBERED_MAX = 10_000;

export interface LimitedDropsOptions {
  /** Default: the environment given. */
  readonly environment?: DropContext['environment'];
  readonly clock?: Clock;
}

/**
 * These copies do not run in the engine's thread, so they share a bandwidth limit of their own, from the same
 * setting.
 */
export function limitedDrops(given: Given, options: LimitedDropsOptions = {}): DropContext {
  const { clock = systemClock, environment = async () => given.environment } = options;
  const windowFile = openWindowFile(userConfigFolder(given));
  const throttle = createThrottle({ clock, bytesPerSecond: createBandwidthRate(windowFile, clock) });
  // Places are resolved as in Browse, whatever folder the window was started in. The page names them, not a
  // command line, so no flag applies.
  return {
    connection: given.connection,
    environment,
    directory: homedir(),
    throttle,
    memory: createMemory(clock),
  };
}

/** Forgets all at once: a repository may be made meanwhile. */
function createMemory(clock: Clock): () => FolderMemory {
  let memory: FolderMemory = new Map();
  let sinceMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.nowMs();
    if (nowMs - sinceMs > REMEMBERED_MS || memory.size > REMEMBERED_MAX) {
      memory = new Map();
      sinceMs = nowMs;
    }
    return memory;
  };
}
