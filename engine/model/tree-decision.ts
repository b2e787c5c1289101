/**
 * Decides what to do with one item of a copy: a pure rule over the evidence about both sides. The caller asks
 * again with more evidence until no further check is needed; the cheapest check comes first.
 *
 * Items of different sizes differ, without a check. Among equal sizes, by default, items that the index knows
 * to be equal are equal. Otherwise content decides where it is known without a request (two MD5 etags, or a
 * small file's MD5 against an etag). Then the times decide, or the content where one side has no time.
 *
 * If the content is equal, the destination gets the time of the source unless it is known to have it,
 * whatever its size and whatever the index knows. Where one side keeps no time, there is nothing to set.
 */
import type { CompareMode } from '../api/jobs/trees.ts';
import type { TreeItem } from './tree-item.ts';

export type Decision =
  | { readonly do: 'copy'; readonly why: 'absent' | 'size' | 'content' | 'time' }
  | { readonly do: 'same' }
  /** The content is equal and the time differs. */
  | { readonly do: 'touch' }
  | { readonly do: 'skip'; readonly why: 'newerAtDestination' }
  | { readonly do: 'refuse'; readonly why: 'immutable' }
  /**
   * `hash`: MD5s, of which at most one has to be computed; `head`: both times; `content`: anything that
   * proves it.
   */
  | { readonly do: 'look'; readonly at: Look };

export type Look = 'hash' | 'head' | 'content';

/** The evidence so far. A check without a result is still recorded in `looked`. */
export interface Evidence {
  readonly content?: 'equal' | 'differs';
  readonly sourceMtimeNs?: bigint;
  readonly destinationMtimeNs?: bigint;
  readonly looked?: readonly Look[];
}

/**
 * The index's knowledge of both states. `equal`: content was compared or copied, and the times are the same.
 * `equalByTime`: only size and time were compared, which does not prove content. `equalContent`: content was
 * compared and times were not.
 */
export type Recalled = 'equal' | 'equalByTime' | 'equalContent' | 'unknown';

export interface DecisionInput {
  readonly source: TreeItem;
  readonly destination: TreeItem | undefined;
  readonly recalled: Recalled;
  readonly compare: CompareMode;
  readonly update: boolean;
  readonly immutable: boolean;
  /**
   * An interrupted run may have written the destination, so its size and time prove nothing about its
   * content.
   */
  readonly isInDoubt?: boolean;
  readonly evidence: Evidence;
}

const SAME: Decision = { do: 'same' };
const NEWER: Decision = { do: 'skip', why: 'newerAtDestination' };
const MD5 = /^[0-9a-f]{32}$/;
/** The MD5 of the parts' MD5s, and the number of parts. */
const MD5_OF_PARTS = /^[0-9a-f]{32}-\d{1,5}$/;
/** Reading and hashing this much takes about as long as a HEAD over a fast network. */
const HASHED_BYTES_MAX = 1024 * 1024;

export function decideItem(input: DecisionInput): Decision {
  const { destination, source } = input;
  if (!destination) return { do: 'copy', why: 'absent' };
  if (source.sizeBytes !== destination.sizeBytes) return replace(input, 'size');
  if (input.recalled === 'equal') return SAME;
  const isInDoubt = input.isInDoubt === true;
  if (isInDoubt && input.evidence.content === undefined)
    return { do: 'look', at: canHash(input) ? 'hash' : 'content' };
  if (isInDoubt && input.evidence.content === 'differs') return replace(input, 'content');
  if (input.compare === 'sizeOnly') return SAME;
  if (input.compare === 'checksum')
    return input.recalled === 'equalContent' && !isInDoubt ? SAME : byContent(input);
  return input.recalled === 'equalByTime' && !isInDoubt ? SAME : byTime(input);
}

/**
 * Whether an object's etag is the MD5 of its content. Wrong only when its store encrypts with its own keys.
 */
export function etagIsMd5(etag: string): boolean {
  return MD5.test(etag);
}

function hashIsCheaper(sizeBytes: number): boolean {
  return sizeBytes <= HASHED_BYTES_MAX;
}

function byContent(input: DecisionInput): Decision {
  const { evidence } = input;
  switch (evidence.content) {
    case 'equal':
      return SAME;
    case 'differs':
      return replace(input, 'content');
    default:
      if (hasLooked(evidence, 'content')) return replace(input, 'content');
      return { do: 'look', at: canHash(input) ? 'hash' : 'content' };
  }
}

function byTime(input: DecisionInput): Decision {
  const { evidence } = input;
  const times = timesOf(input);
  if (input.update && times === 'destinationNewer') return NEWER;
  if (evidence.content === 'differs') return replace(input, 'content');
  if (evidence.content === 'equal' || input.recalled === 'equalContent') return keepContent(input);
  if (times === 'equal') return SAME;
  if (times === 'unknown' && canHash(input) && isCheapToHash(input)) return look(input, 'hash');
  if (times === 'unknown' && !hasLooked(evidence, 'head')) return look(input, 'head');
  // The times differ or one is missing: equal content still need not be sent.
  return look(input, canHash(input) ? 'hash' : 'content');
}

/** The content is equal: at most the time is set, and never on an immutable item. */
function keepContent(input: DecisionInput): Decision {
  const times = timesOf(input);
  if (input.immutable || times === 'equal') return SAME;
  if (times !== 'unknown') return { do: 'touch' };
  return hasLooked(input.evidence, 'head') ? SAME : { do: 'look', at: 'head' };
}

function look(input: DecisionInput, at: Look): Decision {
  return hasLooked(input.evidence, at) ? replace(input, 'time') : { do: 'look', at };
}

/** Something differs; `--update` and `--immutable` decide. */
function replace(input: DecisionInput, why: 'size' | 'content' | 'time'): Decision {
  const { destination, evidence, immutable, source, update } = input;
  if (immutable) return { do: 'refuse', why: 'immutable' };
  if (!update) return { do: 'copy', why };
  switch (timesOf(input)) {
    case 'destinationNewer':
      return NEWER;
    case 'equal':
    case 'sourceNewer':
      return { do: 'copy', why };
    case 'unknown':
      if (!hasLooked(evidence, 'head')) return { do: 'look', at: 'head' };
      // One side has no time of its own, so the upload time has to do.
      return destination!.modifiedMs > source.modifiedMs ? NEWER : { do: 'copy', why };
  }
}

type Times = 'equal' | 'sourceNewer' | 'destinationNewer' | 'unknown';

function timesOf({ destination, evidence, source }: DecisionInput): Times {
  const here = evidence.sourceMtimeNs ?? source.mtimeNs;
  const there = evidence.destinationMtimeNs ?? destination!.mtimeNs;
  if (here === undefined || there === undefined) return scannedTimes(source, destination!);
  if (here === there) return 'equal';
  return there > here ? 'destinationNewer' : 'sourceNewer';
}

/**
 * Two steps of a double that holds current milliseconds: how much equal times may differ after a conversion.
 */
const SCANNED_STEP_MS = 0.0005;

/** For files of two machines: the times of their scans are exact to a quarter of a microsecond. */
function scannedTimes(source: TreeItem, destination: TreeItem): Times {
  const isScanned = [source, destination].every(({ isFile, kind }) => kind === 'file' || isFile === true);
  // Between two local files, the exact times are cheap to read.
  if (!isScanned || (source.kind === 'file' && destination.kind === 'file')) return 'unknown';
  const laterMs = destination.modifiedMs - source.modifiedMs;
  if (Math.abs(laterMs) <= SCANNED_STEP_MS) return 'equal';
  return laterMs > 0 ? 'destinationNewer' : 'sourceNewer';
}

/**
 * Whether MD5s can decide: an etag can be one, and a file's can be computed. Two objects uploaded in parts
 * are equal when their etags are; different etags prove nothing, since parts may differ in size.
 */
function canHash({ destination, evidence, source }: DecisionInput): boolean {
  const items = [source, destination!];
  if (hasLooked(evidence, 'hash') || items.every(({ kind }) => kind === 'file')) return false;
  const areObjects = items.every(({ kind }) => kind === 'object');
  if (areObjects && source.token === destination!.token && MD5_OF_PARTS.test(source.token)) return true;
  return items.every(({ kind, token }) => kind === 'file' || etagIsMd5(token));
}

function isCheapToHash({ destination, source }: DecisionInput): boolean {
  return hashIsCheaper(source.sizeBytes) || (source.kind === 'object' && destination!.kind === 'object');
}

function hasLooked({ looked }: Evidence, at: Look): boolean {
  return looked?.includes(at) ?? false;
}
