/** What copies of dropped files are given. */
import { homedir } from 'node:os';
import type { JobContext } from '../../engine/api/jobs.ts';
import { type Clock, systemClock } from '../../engine/base/clock.ts';
import { createBandwidthRate } from '../../engine/host/bandwidth.ts';
import { openWindowFile } from '../../engine/host/window-file.ts';
import { userConfigFolder } from '../../engine/jobs/remotes/user-remotes.ts';
import { createThrottle } from '../../engine/remotes/wrappers/with-throttle.ts';

export type DropContext = Pick<JobContext, 'directory' | 'connection' | 'environment' | 'throttle'>;

/** They do not go through the engine's thread: the limit of bandwidth that the settings name is held here as well, for all of them together. */
export function limitedDrops(context: DropContext, clock: Clock = systemClock): DropContext {
  const windowFile = openWindowFile(userConfigFolder(context));
  const throttle = createThrottle({ clock, bytesPerSecond: createBandwidthRate(windowFile, clock) });
  const { connection, environment } = context;
  // Places are read as in Browse, wherever the window was started. The page names them and nobody typed them,
  // so nothing else comes from the command line.
  return { connection, environment, directory: homedir(), throttle };
}
