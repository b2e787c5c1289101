/**
 * Counts the commits that a branch has and a workspace lacks. What was read of a commit stays in memory, so
 * each commit is read once, and a walk that failed continues where it ended.
 */
import type { IncomingCount } from '../api/host/home.ts';
import type { OpenedRemote } from '../jobs/session/opened-remote.ts';
import type { CommitHash } from '../model/entry.ts';
import { readCommit } from '../repository/commit.ts';
import { type CommitLinks, countSole } from '../repository/count-sole.ts';
import { readLinks } from '../repository/history-end.ts';

/** The most commits to count. */
const COMMITS_MAX = 1_000;
/** The most requests of one look: for these commits, for the one above them, and for the base. */
const REQUESTS_MAX = COMMITS_MAX + 2;
/** A commit of a large dataset has some hundred kilobytes. */
const RECEIVED_BYTES_MAX = 32 * 1024 * 1024;
/** The most commits of a branch to keep in memory. */
const KEPT_MAX = 2 * COMMITS_MAX;

export interface CountedTip {
  readonly tip: CommitHash;
  /**
   * By the base of a workspace; undefined for one without commits. A base is missing if its count failed, and
   * has null if the bound was too low to know anything.
   */
  readonly counts: ReadonlyMap<CommitHash | undefined, IncomingCount | null>;
  readonly links: ReadonlyMap<CommitHash, CommitLinks>;
}

export interface IncomingQuestion {
  readonly tip: CommitHash;
  readonly bases: Iterable<CommitHash | undefined>;
  /** The last answer about the branch. */
  readonly before: CountedTip | undefined;
  readonly signal: AbortSignal;
}

/** No request if this tip was counted before. An error of the store leaves a base without a count. */
export async function countIncoming(
  { meter, store }: Pick<OpenedRemote, 'meter' | 'store'>,
  { bases, before, signal, tip }: IncomingQuestion,
): Promise<CountedTip> {
  const used = new Map<CommitHash, CommitLinks>();
  let requests = 0;
  const read = async (hash: CommitHash): Promise<CommitLinks> => {
    let links = used.get(hash) ?? before?.links.get(hash);
    if (!links) {
      requests += 1;
      const readIt = () => readCommit(store, hash, { signal });
      const { parents, time } = await readLinks(store, hash, readIt, { signal });
      links = { parents, time };
    }
    used.set(hash, links);
    return links;
  };
  const counts = new Map(before?.tip === tip ? before.counts : []);
  for (const base of bases) {
    if (base === tip || counts.has(base)) continue;
    const others = new Set(base === undefined ? [] : [base]);
    const readsMax = COMMITS_MAX + 1 + others.size;
    const mayRead = (reads: number) =>
      reads < readsMax && requests < REQUESTS_MAX && meter.totals().receivedBytes < RECEIVED_BYTES_MAX;
    try {
      const { commits, isMore, meetsOthers } = await countSole({ start: tip, others, read, mayRead });
      const isRewritten = base !== undefined && !isMore && !meetsOthers;
      counts.set(base, isMore && commits === 0 ? null : { commits, isMore, isRewritten });
    } catch {
      // "To pull" stays without a number, and the next look continues.
    }
  }
  const links = new Map([...(before?.links ?? []), ...used]);
  return { tip, counts, links: links.size > KEPT_MAX ? used : links };
}
