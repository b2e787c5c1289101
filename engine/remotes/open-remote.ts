/**
 * From a URL to a store that is ready for use: retry(throttle(meter(log(store)))). Missing parts of the URL
 * come from the command's flags, then the remote's settings, then the AWS_* variables, then ~/.aws;
 * `s3/open-s3-store.ts` handles the last two.
 */
import type { CallListener, ConnectionFlags, Throttle } from '../api/jobs/jobs.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { ObjectStore } from './object-store.ts';
import type { KnownPeersOptions } from './peer/known-peers.ts';
import {
  checkLocation,
  type PeerRemoteUrl,
  type RemoteUrl,
  type S3Location,
  type S3RemoteUrl,
} from './remote-url.ts';
import { withCallLog } from './wrappers/with-call-log.ts';
import { type Meter, withMeter } from './wrappers/with-meter.ts';
import { type RetryOptions, withRetry } from './wrappers/with-retry.ts';
import { createThrottle, withRequestRate, withThrottle } from './wrappers/with-throttle.ts';

export interface OpenRemoteOptions {
  readonly connection: ConnectionFlags;
  /** The workspace's settings for this remote. */
  readonly settings?: S3Location;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For a `file:` remote whose folder does not exist; see `FileStoreOptions`. Buckets are never created. */
  readonly create?: boolean | 'alone';
  readonly mayBeMissing?: boolean;
  /** For a peer: its plain files, not the objects of a repository there. */
  readonly plainFiles?: boolean;
  /** For a peer: whose certificates are trusted. */
  readonly knownPeers?: KnownPeersOptions;
  /** Counts the requests. */
  readonly meter?: Meter;
  readonly onCall?: CallListener;
  readonly clock?: Clock;
  /** At most this many bytes of content a second, sent and received together; absent: no limit. */
  readonly bandwidthBytesPerSecond?: number;
  /** Shares its limit between this store and others. */
  readonly throttle?: Throttle;
  /** Shares its limit of requests in the same way. */
  readonly requestThrottle?: Throttle;
  /** Changes to the usual retry policy. */
  readonly retry?: Omit<RetryOptions, 'clock'>;
}

/** The caller closes the store. */
export async function openRemote(url: RemoteUrl, options: OpenRemoteOptions): Promise<ObjectStore> {
  const clock = options.clock ?? systemClock;
  const store = await openPlain(url, options, clock);
  const { onCall } = options;
  // Calls to a folder are disk operations, not requests.
  const logged = onCall && url.kind !== 'file' ? withCallLog(store, onCall) : store;
  const metered = options.meter ? withMeter(logged, options.meter) : logged;
  const { bandwidthBytesPerSecond: bytesPerSecond } = options;
  const { requestThrottle } = options;
  const paced = requestThrottle ? withRequestRate(metered, requestThrottle) : metered;
  const shared = options.throttle ? withThrottle(paced, options.throttle) : paced;
  const throttled = bytesPerSecond
    ? withThrottle(shared, createThrottle({ bytesPerSecond: () => bytesPerSecond, clock }))
    : shared;
  return withRetry(throttled, { ...options.retry, clock });
}

/** The location from the URL, the flags and the settings, in this order. */
export function resolveLocation(
  url: S3RemoteUrl,
  connection: ConnectionFlags,
  settings: S3Location = {},
): S3Location {
  const given = {
    endpoint: url.endpoint ?? connection.endpoint ?? settings.endpoint,
    region: url.region ?? connection.region ?? settings.region,
    profile: url.profile ?? connection.profile ?? settings.profile,
    pathStyle: url.pathStyle ?? connection.pathStyle ?? settings.pathStyle,
    anonymous: url.anonymous ?? connection.anonymous ?? settings.anonymous,
  };
  return checkLocation(given, 'The region of the remote');
}

/** Each kind is loaded at its first use: a command on a folder does not wait for an HTTP client. */
function openPlain(url: RemoteUrl, options: OpenRemoteOptions, clock: Clock): Promise<ObjectStore> {
  switch (url.kind) {
    case 's3':
      return openS3(url, options);
    case 'peer':
      return openPeer(url, options);
    case 'file':
      return openFolder(url.path, options, clock);
  }
}

async function openPeer(url: PeerRemoteUrl, options: OpenRemoteOptions): Promise<ObjectStore> {
  const { openPeerRemote } = await import('./peer/open-peer.ts');
  const { meter } = options;
  return openPeerRemote(url, { ...options, ...(meter ? { onWire: meter.onWire } : {}) });
}

async function openS3(url: S3RemoteUrl, options: OpenRemoteOptions): Promise<ObjectStore> {
  const { openS3Store } = await import('./s3/open-s3-store.ts');
  const { connection, environment, meter } = options;
  return openS3Store({
    bucket: url.bucket,
    prefix: url.prefix,
    ...resolveLocation(url, connection, options.settings),
    ...(connection.transfers === undefined ? {} : { maxConnections: connection.transfers }),
    environment,
    ...(meter ? { onWire: meter.onWire } : {}),
  });
}

async function openFolder(path: string, options: OpenRemoteOptions, clock: Clock): Promise<ObjectStore> {
  const { openFileStore } = await import('./file/file-store.ts');
  const { create = false, mayBeMissing = false } = options;
  return openFileStore({ root: path, create, mayBeMissing, clock });
}
