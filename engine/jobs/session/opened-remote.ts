/** Opens a remote: its store, the meter that counts its requests, and the limit on requests in flight. */

import { performance } from 'node:perf_hooks';
import { type DrayError, messageWithoutAdvice } from '../../api/error.ts';
import type { RemoteUsedEvent } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { SealedRepository } from '../../api/jobs/repositories.ts';
import { systemClock } from '../../base/clock.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { openRemote, resolveLocation } from '../../remotes/open-remote.ts';
import type { KnownPeersOptions } from '../../remotes/peer/known-peers.ts';
import type { PeerClient } from '../../remotes/peer/peer-client.ts';
import {
  formatRemoteUrl,
  type ParseUrlOptions,
  type PeerRemoteUrl,
  parseRemoteUrl,
  type RemoteUrl,
} from '../../remotes/remote-url.ts';
import { createMeter, type Meter } from '../../remotes/wrappers/with-meter.ts';
import { withRelocations } from '../../repository/packs/relocated-reads.ts';
import { type AdaptiveLimit, createAdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { workspaceConfigPath } from '../../workspace/workspace-folder.ts';
import type { Session } from './open-workspace.ts';
import type { PasswordContext } from './password.ts';
import { openSealed } from './sealed-remote.ts';
import { changingSettings, userConfigFolder } from './user-remotes.ts';

/** Its end, by `await using`, closes the store. */
export interface OpenedRemote extends AsyncDisposable {
  readonly store: ObjectStore;
  readonly meter: Meter;
  /** Adapts to the link; the store's wrapper reports retries to it. */
  readonly limit: AdaptiveLimit;
}

/** Connects to the session's remote. */
export async function openSessionRemote(
  session: Session,
  options: Pick<JobRemoteOptions, 'create'> & Pick<RepositoryOptions, 'known'> = {},
): Promise<OpenedRemote> {
  const remote = session.config.remotes[session.remoteName]!;
  // The first push makes the folder. If it is missing later, its disk may not be mounted.
  const mayBeMissing = remote.repository === undefined;
  const setting = Number(session.config.settings.transfers);
  const transfers = Number.isInteger(setting) && setting > 0 ? setting : undefined;
  const { context, remoteName, workspace } = session;
  reportRemote(context, { name: remoteName, url: remote.url, keptIn: workspaceConfigPath(workspace) });
  return openRepositoryAt(context, parseRemoteUrl(remote.url, workspace.root), {
    ...knownOf(remote),
    ...options,
    mayBeMissing,
    transfers,
  });
}

/** What a workspace's settings say of the repository of a remote. */
export function knownOf({
  repository: id,
  sealed: check,
}: Session['config']['remotes'][string]): Pick<RepositoryOptions, 'known'> {
  return id === undefined ? {} : { known: check === undefined ? 'plain' : { id, check } };
}

export interface RepositoryOptions extends JobRemoteOptions {
  /**
   * What the workspace knows of the repository: it is not encrypted, or it is and by which keys. Absent: what
   * is read first tells. `locked`: it may be encrypted, and its keys are not needed.
   */
  readonly known?: 'plain' | 'locked' | SealedRepository;
}

/**
 * Like `openRemoteAt`, with the password of an encrypted repository. Packs can be read although a collection
 * wrote them anew.
 */
export async function openRepositoryAt(
  context: RemoteContext & PasswordContext,
  url: RemoteUrl,
  { known, ...options }: RepositoryOptions = {},
): Promise<OpenedRemote> {
  const opened = await openRemoteAt(context, url, options);
  if (known === 'plain' || known === 'locked') return { ...opened, store: withRelocations(opened.store) };
  return openSealed(context, opened, { ...(known && { known }), finish: withRelocations });
}

export interface JobRemoteOptions {
  /** Make the folder of a `file:` remote, or treat a missing one as empty; see `FileStoreOptions`. */
  readonly create?: boolean | 'alone';
  readonly mayBeMissing?: boolean;
  /** The workspace's own bound on requests in flight; the command's flag overrides it. */
  readonly transfers?: number | undefined;
  /** Access a peer's plain files instead of the objects of a repository there. */
  readonly plainFiles?: boolean;
  /** Bounds of the adaptive limit, where the defaults do not fit. */
  readonly limit?: { readonly initial: number; readonly max: number };
  /** The most attempts of a call. Default: the usual retry policy. */
  readonly attemptsMax?: number;
  /** Another connection of this job: both share one limit when they reach one service. */
  readonly beside?: Pick<OpenedRemote, 'store' | 'limit'> | undefined;
}

/** Parses a request's URL, which a person may have typed. Relative paths start at `baseFolder`. */
export function parseGivenUrl(
  { isTyped }: Pick<JobContext, 'isTyped'>,
  url: string,
  baseFolder: string,
  options: Omit<ParseUrlOptions, 'from'> = {},
): RemoteUrl {
  return parseRemoteUrl(url, baseFolder, { ...options, from: isTyped ? 'typed' : 'elsewhere' });
}

/** Reports in which settings a remote's name was found. */
export function reportRemote({ emit }: Pick<JobContext, 'emit'>, found: Omit<RemoteUsedEvent, 'type'>): void {
  emit({ type: 'remoteUsed', ...found });
}

type RemoteContext = Pick<
  JobContext,
  | 'connection'
  | 'emit'
  | 'environment'
  | 'onCall'
  | 'onRetry'
  | 'requestThrottle'
  | 'throttle'
  | 'trustsNewPeer'
>;

export async function openRemoteAt(
  context: RemoteContext,
  url: RemoteUrl,
  options: JobRemoteOptions = {},
): Promise<OpenedRemote> {
  const transfers = context.connection.transfers ?? options.transfers;
  let limit = createAdaptiveLimit({
    clock: systemClock,
    idleMs: () => performance.eventLoopUtilization().idle,
    fixed: transfers,
    ...options.limit,
  });
  const meter = createMeter();
  const warnOfOutage = outageWarner(context);
  const { attemptsMax, beside, create, mayBeMissing } = options;
  const { bandwidthBytesPerSecond } = context.connection;
  const connections = transfers ?? options.limit?.max;
  const store = await openRemote(url, {
    connection: { ...context.connection, ...(connections === undefined ? {} : { transfers: connections }) },
    environment: context.environment,
    knownPeers: knownPeersOf(context),
    meter,
    retry: {
      ...(attemptsMax === undefined ? {} : { attemptsMax }),
      onRetry: (error) => {
        limit.report(error.retry);
        warnOfOutage(error);
        context.onRetry?.(error.code);
      },
    },
    ...(create ? { create } : {}),
    ...(mayBeMissing ? { mayBeMissing } : {}),
    ...(options.plainFiles ? { plainFiles: true } : {}),
    ...(bandwidthBytesPerSecond === undefined ? {} : { bandwidthBytesPerSecond }),
    ...(context.throttle ? { throttle: context.throttle } : {}),
    ...(context.requestThrottle ? { requestThrottle: context.requestThrottle } : {}),
    ...(context.onCall ? { onCall: context.onCall } : {}),
  });
  if (beside && beside.limit.fixed === transfers && sharesService(beside.store, store)) limit = beside.limit;
  return { store, meter, limit, [Symbol.asyncDispose]: () => store.close() };
}

/** The certificates that are trusted, and the callback that decides about a new one. */
export function knownPeersOf(context: Pick<JobContext, 'environment' | 'trustsNewPeer'>): KnownPeersOptions {
  return {
    folder: userConfigFolder(context),
    changing: (change) => changingSettings(context, change),
    ...(context.trustsNewPeer ? { trustsNew: context.trustsNewPeer } : {}),
  };
}

/** Connects to a peer for calls outside the object store. The caller closes it. */
export async function connectJobToPeer(
  context: Pick<JobContext, 'connection' | 'environment' | 'trustsNewPeer'>,
  url: PeerRemoteUrl,
): Promise<PeerClient> {
  const { connectPeer } = await import('../../remotes/peer/open-peer.ts');
  const { connection, environment } = context;
  return connectPeer(url, { connection, environment, knownPeers: knownPeersOf(context), retries: true });
}

const OUTAGE_WARNING_EVERY_MS = 5_000;

/** Returns a listener that warns during an outage, now and then: retries can take many seconds. */
function outageWarner(context: Pick<JobContext, 'emit'>): (error: DrayError) => void {
  let warnedMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    const nowMs = systemClock.monotonicMs();
    if (error.code !== 'unreachable' || nowMs < warnedMs + OUTAGE_WARNING_EVERY_MS) return;
    warnedMs = nowMs;
    context.emit({
      type: 'warning',
      warning: 'retrying',
      message: `${messageWithoutAdvice(error)} Trying again.`,
    });
  };
}

/**
 * The URL as the settings store it: absolute, with the flags about the place (endpoint, region, profile), so
 * that later commands need no flags. Never a secret. A workspace stores no token file: anyone who can write
 * its settings could choose which secret is sent where.
 * @throws DrayError `usage`
 */
export function urlToKeep(
  context: JobContext,
  {
    baseFolder,
    of,
    url,
  }: { readonly url: string; readonly baseFolder: string; readonly of: 'user' | 'workspace' },
): string {
  const parsed = parseRemoteUrl(url, baseFolder, { from: of === 'user' ? 'user' : 'elsewhere' });
  if (parsed.kind !== 's3') return formatRemoteUrl(parsed);
  return formatRemoteUrl({ ...parsed, ...resolveLocation(parsed, context.connection) });
}

/** Whether the second store can copy from the first without sending the bytes through this machine. */
export function sharesService(from: ObjectStore, to: ObjectStore): boolean {
  return from.place !== undefined && from.place.service === to.place?.service;
}
