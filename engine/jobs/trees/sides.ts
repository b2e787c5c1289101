/** The two ends of a copy: a local folder or a prefix of a store, each with what the work on it needs. */
import { DrayError } from '../../api/error.ts';
import type { JobContext, RequestTotals } from '../../api/jobs.ts';
import { READ_ONLY_MESSAGE } from '../../peer-protocol/messages.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Meter } from '../../remotes/wrappers/with-meter.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';

export type TreeSide = LocalSide | RemoteSide;

export interface LocalSide {
  readonly kind: 'local';
  /** Absolute. The tree is this folder. */
  readonly root: string;
  /** For messages. */
  readonly text: string;
  /** Links and empty folders are items too, because the other side can store them. */
  readonly special?: true;
  /** Folders are listed for their modes and times, which both sides keep. */
  readonly folders?: true;
  /** The item's path below the root. It differs from its own path when one file is copied to another name. */
  readonly pathOf: (path: string) => string;
}

export interface RemoteSide {
  readonly kind: 'remote';
  /** Rooted at the tree. */
  readonly store: ObjectStore;
  readonly limit: AdaptiveLimit;
  readonly text: string;
  /** Links and empty folders are items too, because the other side can store them. */
  readonly special?: true;
  /** Folders are listed for their modes and times, which both sides keep. */
  readonly folders?: true;
  /** The item's key in the store. */
  readonly pathOf: (path: string) => string;
}

/** Both sides' stores, with one meter where they share it. */
export interface TreeMeters {
  totals(): RequestTotals;
}

export function addTotals(meters: readonly Meter[]): RequestTotals {
  const totals = meters.map((meter) => meter.totals());
  const sum = (of: keyof RequestTotals) => totals.reduce((total, each) => total + each[of], 0);
  return {
    reads: sum('reads'),
    writes: sum('writes'),
    lists: sum('lists'),
    deletes: sum('deletes'),
    total: sum('total'),
    sentBytes: sum('sentBytes'),
    receivedBytes: sum('receivedBytes'),
    dollars: sum('dollars'),
  };
}

/** Whether the second store can copy from the first without sending the bytes through this machine. */
export function sharesService(from: ObjectStore, to: ObjectStore): boolean {
  return from.place !== undefined && from.place.service === to.place?.service;
}

/** The error of the first write to a read-only peer. One request; none to other stores. */
export async function readOnlyRefusal(
  { store, text }: { readonly store: ObjectStore; readonly text: string },
  signal: AbortSignal,
): Promise<DrayError | undefined> {
  if (!(await store.files?.isReadOnly({ signal }))) return undefined;
  return readOnlyError(text);
}

/** @param text The place, for messages. */
export function readOnlyError(text: string): DrayError {
  return new DrayError('accessDenied', `${text}: ${READ_ONLY_MESSAGE}`, {
    data: { place: text, reason: 'readOnly' },
  });
}

/** Neither a local folder nor one of a peer. */
export function isObjectStore(side: TreeSide): boolean {
  return side.kind === 'remote' && side.store.files === undefined;
}

/** The user's cache folder: `DRAY_CACHE`, or the system's. */
export function cacheFolder(context: JobContext, home: string): string {
  const { DRAY_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = context.environment;
  if (DRAY_CACHE) return DRAY_CACHE;
  if (XDG_CACHE_HOME) return `${XDG_CACHE_HOME}/dray`;
  if (process.platform === 'win32' && LOCALAPPDATA) return `${LOCALAPPDATA}/dray/cache`;
  return process.platform === 'darwin' ? `${home}/Library/Caches/dray` : `${home}/.cache/dray`;
}
