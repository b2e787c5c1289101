/** Forecasts a push for its dry run: objects, requests by class, bytes and money. */
import type { QueryExplanation } from '../../api/events.ts';
import type { ChangeTotals, RequestTotals } from '../../api/jobs/jobs.ts';
import { WHOLE_READ_BYTES_MAX } from '../../files/read/read-limits.ts';
import { dollarsFor } from '../../model/prices.ts';
import { HEADS_PER_PAGE } from '../../query/existence/find-unseen.ts';
import type { Commit } from '../../repository/commit.ts';
import { partSizeFor } from '../../transfer/upload/part-size.ts';
import type { LinkedRepository } from '../session/link-repository.ts';

/** Entries of a segment, on average; see segment-cutter.ts. */
const SEGMENT_ENTRIES = 2_050;
/** Keys of a page, as S3 lists them. */
const LIST_PAGE_KEYS = 1_000;
/** The commit, and the branch that moves to it. */
const COMMIT_WRITES = 2;

export interface PushForecast {
  /** Counts content that would be sent as an object. */
  object(sizeBytes: number): void;
  /** Counts content that would be sent inside a pack. */
  packed(sizeBytes: number): void;
  read(push: ForeseenPush): { readonly objects: number; readonly requests: RequestTotals };
}

export interface ForeseenPush {
  readonly query: QueryExplanation;
  readonly changes: ChangeTotals;
  readonly base: Commit | undefined;
  /** The store's row in the price table. */
  readonly provider: string;
  /** The store itself confirms what it stored, so Dray does not check again. */
  readonly confirmsWrites: boolean;
}

/** Leaves out retries of failed requests, and the requests that test a remote new to this machine. */
export function createPushForecast({
  isForeseen,
  layout: { packTarget },
}: Pick<LinkedRepository, 'isForeseen' | 'layout'>): PushForecast {
  let objects = 0;
  let sentBytes = 0;
  let packedBytes = 0;
  // The descriptor of a new repository.
  let writes = isForeseen ? 1 : 0;
  // The branch.
  let reads = 1;
  return {
    object(sizeBytes) {
      objects += 1;
      sentBytes += sizeBytes;
      if (sizeBytes <= WHOLE_READ_BYTES_MAX) writes += 1;
      else {
        // Begin, parts, complete, and the check of the result.
        writes += 2 + Math.ceil(sizeBytes / partSizeFor(sizeBytes));
        reads += 1;
      }
    },
    packed(sizeBytes) {
      packedBytes += sizeBytes;
      sentBytes += sizeBytes;
    },
    read({ base, changes, confirmsWrites, provider, query }) {
      const packs = Math.ceil(packedBytes / packTarget);
      const segments = segmentsTouched(base, changes);
      // Content is checked once after it was sent, segments and the commit before the branch moves.
      const checks = confirmsWrites ? [] : [existenceChecks(objects + packs), existenceChecks(segments + 1)];
      const sumOf = (kind: 'heads' | 'lists') => checks.reduce((sum, check) => sum + check[kind], 0);
      const counts = {
        reads: reads + (query.chosen === 'each' ? query.each.requests : 0) + sumOf('heads'),
        writes: writes + packs + segments + COMMIT_WRITES,
        lists: (query.chosen === 'list' ? query.list.requests : 0) + sumOf('lists'),
        deletes: 0,
      };
      const requests = {
        ...counts,
        total: counts.reads + counts.writes + counts.lists,
        sentBytes,
        receivedBytes: 0,
        dollars: dollarsFor(provider, counts),
      };
      return { objects: objects + packs, requests };
    },
  };
}

/** A lower bound: foreign keys between them make the listing longer. */
function existenceChecks(objects: number): { readonly heads: number; readonly lists: number } {
  return objects < HEADS_PER_PAGE
    ? { heads: objects, lists: 0 }
    : { heads: 0, lists: Math.ceil(objects / LIST_PAGE_KEYS) };
}

/** A dataset of one segment has it inside the commit. */
function segmentsTouched(base: Commit | undefined, changes: ChangeTotals): number {
  const { added, deleted, mode, modified, renamed } = changes;
  const entries = (base?.totals.files ?? 0) + added - deleted;
  const segments = Math.ceil(entries / SEGMENT_ENTRIES);
  return segments <= 1 ? 0 : Math.min(segments, added + modified + deleted + 2 * renamed + mode);
}
