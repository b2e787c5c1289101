/** The job context for copies of dropped files. */
import { homedir } from 'node:os';
import type { JobContext } from '../../engine/api/jobs.ts';
import { type Clock, systemClock } from '../../engine/base/clock.ts';
import { createBandwidthRate } from '../../engine/host/bandwidth.ts';
import { openWindowFile } from '../../engine/host/user-files/window-file.ts';
import { userConfigFolder } from '../../engine/jobs/session/user-remotes.ts';
import { createThrottle } from '../../engine/remotes/wrappers/with-throttle.ts';

export type DropContext = Pick<JobContext, 'directory' | 'connection' | 'environment' | 'throttle'>;

/**
 * These copies do not run in the engine's thread, so they share a bandwidth limit of their own, from the same
 * setting.
 */
export function limitedDrops(context: DropContext, clock: Clock = systemClock): DropContext {
  const windowFile = openWindowFile(userConfigFolder(context));
  const throttle = createThrottle({ clock, bytesPerSecond: createBandwidthRate(windowFile, clock) });
  const { connection, environment } = context;
  // Places are resolved as in Browse, whatever folder the window was started in. The page names them, not a
  // command line, so no flag applies.
  return { connection, environment, directory: homedir(), throttle };
}
