/** What all ports of one engine share: the user's files, the lists of changes, the queue of transfers. */
import { DrayError } from '../api/error.ts';
import type { ConnectionFlags, JobContext, Throttle } from '../api/jobs.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { userConfigFolder } from '../jobs/remotes/user-remotes.ts';
import { createThrottle } from '../remotes/wrappers/with-throttle.ts';
import { createBandwidthRate } from './bandwidth.ts';
import { type ChangeLists, createChangeLists } from './changes/change-lists.ts';
import type { TransferQueue } from './transfers/transfer-queue.ts';
import { openUsageFile, type UsageFile } from './usage-file.ts';
import { openWindowFile, type WindowFile } from './window-file.ts';

export interface HostState {
  /** What every job gets when it begins; replaced as a whole when keys were added. */
  readonly environment: JobContext['environment'];
  setEnvironment(environment: JobContext['environment']): void;
  /** Where the user's files lie. */
  readonly folder: string;
  readonly clock: Clock;
  readonly windowFile: WindowFile;
  readonly changeLists: ChangeLists;
  readonly usageFile: UsageFile;
  /** The command's own, and what the settings say of requests in flight, now. */
  connectionFlags(): ConnectionFlags;
  /** What the settings say of bandwidth, at each moment; shared by all transfers. */
  readonly throttle: Throttle;
  /** Opened when it is first asked for; what a killed engine left is in it. @throws `aborted` once the host is closed. */
  transfers(): Promise<TransferQueue>;
  /** Stops transfers; those that ran go on when the next host opens the queue. */
  close(): Promise<void>;
}

export interface HostOptions {
  readonly environment: JobContext['environment'];
  /** Flags of the command that the host serves. They win over the settings. */
  readonly connection?: ConnectionFlags;
  readonly clock?: Clock;
}

export function createHost({
  clock = systemClock,
  connection = {},
  environment: given,
}: HostOptions): HostState {
  let environment = given;
  const folder = userConfigFolder({ environment });
  const windowFile = openWindowFile(folder);
  let queue: Promise<TransferQueue> | undefined;
  let isClosed = false;
  const host: HostState = {
    get environment() {
      return environment;
    },
    setEnvironment(next) {
      environment = next;
    },
    folder,
    clock,
    windowFile,
    changeLists: createChangeLists(),
    usageFile: openUsageFile(folder),
    connectionFlags() {
      const { transfers } = windowFile.read().settings;
      return transfers === null ? connection : { transfers, ...connection };
    },
    throttle: createThrottle({ clock, bytesPerSecond: createBandwidthRate(windowFile, clock) }),
    transfers() {
      // A request whose handler was still being loaded: nobody would give back what is opened for it.
      if (isClosed) return Promise.reject(new DrayError('aborted', 'The engine has been closed.'));
      if (queue) return queue;
      const opening = import('./transfers/transfer-queue.ts').then(({ openTransferQueue }) =>
        openTransferQueue(host),
      );
      queue = opening;
      // A disk that was full, or not there, may be mended: who asks next tries again.
      opening.catch(() => {
        if (queue === opening) queue = undefined;
      });
      return opening;
    },
    async close() {
      isClosed = true;
      const opened = await queue?.catch(() => undefined);
      await opened?.close();
    },
  };
  return host;
}
