/**
 * State that all ports of one engine share: the user's files, the lists of changes, the queue of transfers.
 */
import { DrayError } from '../api/error.ts';
import type { FleetLink } from '../api/host/fleet-link.ts';
import type { AccessKeys } from '../api/host/remotes.ts';
import type { CollectSummary, ConnectionFlags, JobContext, Throttle } from '../api/jobs/jobs.ts';
import type { SealedRepository } from '../api/jobs/repositories.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { RunDray } from '../jobs/saved/dray-process.ts';
import { createMasterKeys, type HeldMasterKeys } from '../jobs/session/master-keys.ts';
import { userConfigFolder } from '../jobs/session/user-remotes.ts';
import { createThrottle } from '../remotes/wrappers/with-throttle.ts';
import { createBandwidthRate } from './bandwidth.ts';
import type { PlaceListing } from './browse/entry-list.ts';
import { createKeptChoices, type KeptChoicesStore } from './changes/kept-choices.ts';
import type { RowList } from './changes/row-list.ts';
import { createKeptLists, type KeptLists } from './rows/kept-lists.ts';
import { createOwnDray, type OwnDray } from './saved/own-dray.ts';
import type { TransferQueue } from './transfers/transfer-queue.ts';
import { createTypedKeys } from './typed-keys.ts';
import { openUsageFile, type UsageFile } from './user-files/usage-file.ts';
import { openWindowFile, type WindowFile } from './user-files/window-file.ts';

const CHANGE_LISTS_MAX = 16;
const WORKSPACES_MAX = 500;
const ENTRY_LISTS_MAX = 16;

export interface HostState {
  /** The environment of new jobs, with all typed keys. A change of keys or passwords replaces the object. */
  readonly environment: JobContext['environment'];
  setEnvironment(environment: JobContext['environment']): void;
  /** The profiles whose typed keys are held. */
  typedProfiles(): readonly string[];
  /** Holds keys until the engine ends. @param keys Undefined: removes them. @throws `usage` if too many. */
  holdKeys(profile: string, keys: AccessKeys | undefined): void;
  /** Of the encrypted repositories that were opened, until the engine ends. */
  readonly masterKeys: HeldMasterKeys;
  /** Tries a password. Transfers that wait for it try again. @throws As `HeldMasterKeys.unlock`. */
  unlock(repository: SealedRepository, password: string): Promise<void>;
  /** The folder of the user's files. */
  readonly folder: string;
  readonly clock: Clock;
  readonly windowFile: WindowFile;
  readonly changeLists: KeptLists<RowList>;
  /** Adds a workspace at the top of the user's list. */
  addWorkspace(root: string): void;
  /** Records what a collection of a workspace's remote left. */
  noteCollected(root: string, summary: CollectSummary): Promise<void>;
  readonly keptChoices: KeptChoicesStore;
  readonly entryLists: KeptLists<PlaceListing>;
  readonly usageFile: UsageFile;
  /** The command's own flags, and the current settings for requests in flight. */
  connectionFlags(): ConnectionFlags;
  /** The current bandwidth limit of the settings, shared by all transfers. */
  readonly throttle: Throttle;
  /** Opens the queue at first use. @throws `aborted` once the host is closed. */
  transfers(): Promise<TransferQueue>;
  /** Runs `dray` in processes of its own. Absent if this program cannot start processes. */
  readonly dray?: OwnDray;
  /** Loads the code that talks to Temporal. Absent if this program has none. */
  readonly fleetLink?: () => Promise<FleetLink>;
  /** Called when the engine ends. */
  atEnd(act: () => void): void;
  /** Stops transfers. Those that ran resume when the next host opens the queue. */
  close(): Promise<void>;
}

export interface HostOptions {
  readonly environment: JobContext['environment'];
  /** Flags of the command that the host serves. They override the settings. */
  readonly connection?: ConnectionFlags;
  readonly clock?: Clock;
  readonly runDray?: RunDray;
  readonly fleetLink?: () => Promise<FleetLink>;
}

export function createHost({
  clock = systemClock,
  connection = {},
  environment: given,
  fleetLink,
  runDray,
}: HostOptions): HostState {
  const typed = createTypedKeys();
  const masterKeys = createMasterKeys();
  let own = given;
  let environment = given;
  const renew = () => {
    environment = typed.over({ ...own });
    // Transfers that wait for keys try again.
    queue?.then((opened) => opened.onKeys()).catch(() => {});
  };
  const folder = userConfigFolder({ environment });
  const windowFile = openWindowFile(folder);
  let queue: Promise<TransferQueue> | undefined;
  let isClosed = false;
  const endings: (() => void)[] = [() => host.keptChoices.flush()];
  const host: HostState = {
    get environment() {
      return environment;
    },
    setEnvironment(next) {
      own = next;
      renew();
    },
    typedProfiles: typed.profiles,
    holdKeys(profile, keys) {
      typed.hold(profile, keys);
      renew();
    },
    masterKeys,
    async unlock(repository, password) {
      await masterKeys.unlock(repository, password);
      renew();
    },
    folder,
    clock,
    windowFile,
    ...(runDray ? { dray: createOwnDray(runDray) } : {}),
    ...(fleetLink ? { fleetLink } : {}),
    changeLists: createKeptLists({
      most: CHANGE_LISTS_MAX,
      gone: 'This list of changes is gone. Open it again.',
    }),
    addWorkspace(root) {
      windowFile.change((facts) => ({
        ...facts,
        workspaces: [root, ...facts.workspaces.filter((known) => known !== root)].slice(0, WORKSPACES_MAX),
      }));
    },
    noteCollected: async (root, summary) =>
      (await import('./repositories/garbage.ts')).noteCollected(host, root, summary),
    keptChoices: createKeptChoices(folder),
    entryLists: createKeptLists({
      most: ENTRY_LISTS_MAX,
      gone: 'This list of entries is gone. Read the folder again.',
      onDrop: (listing) => listing.close(),
    }),
    usageFile: openUsageFile(folder),
    connectionFlags() {
      const { transfers } = windowFile.read().settings;
      return transfers === null ? connection : { transfers, ...connection };
    },
    throttle: createThrottle({ clock, bytesPerSecond: createBandwidthRate(windowFile, clock) }),
    transfers() {
      // A request may arrive here after the close. Nothing would close a queue that it opened.
      if (isClosed) return Promise.reject(new DrayError('aborted', 'The engine was closed.'));
      if (queue) return queue;
      const opening = import('./transfers/transfer-queue.ts').then(({ openTransferQueue }) =>
        openTransferQueue(host),
      );
      queue = opening;
      // The error may be temporary, such as a full disk, so the next call tries again.
      opening.catch(() => {
        if (queue === opening) queue = undefined;
      });
      return opening;
    },
    atEnd: (act) => void endings.push(act),
    async close() {
      isClosed = true;
      const opened = await queue?.catch(() => undefined);
      await opened?.close();
      for (const act of endings) act();
    },
  };
  return host;
}
