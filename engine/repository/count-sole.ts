import type { CommitHash } from '../model/entry.ts';
import type { Commit } from './commit.ts';

/** Of a commit, what a walk needs. */
export type CommitLinks = Pick<Commit, 'parents' | 'time'>;

export interface SoleWalk {
  readonly start: CommitHash;
  readonly others: ReadonlySet<CommitHash>;
  readonly read: (hash: CommitHash) => Promise<CommitLinks>;
  /** Whether the walk may go on after this number of commits. */
  readonly mayRead: (reads: number) => boolean;
  /** Whether a commit counts. Default: all do. */
  readonly isCounted?: (hash: CommitHash) => boolean;
}

export interface SoleCount {
  readonly commits: number;
  /** True if `mayRead` stopped the walk: there may be more. */
  readonly isMore: boolean;
  /** Whether a counted commit has one of the others as its parent. */
  readonly meetsOthers: boolean;
}

/**
 * Counts the commits that `start` leads to and no other one does. Walks from both sides, newest first, until
 * others reach every open commit. Commits with wrong times can make the count too high, never too low.
 */
export async function countSole({
  isCounted = () => true,
  mayRead,
  others,
  read,
  start,
}: SoleWalk): Promise<SoleCount> {
  const links = new Map<CommitHash, CommitLinks>();
  const held = new Set<CommitHash>(others);
  const sole = new Set<CommitHash>();
  let reads = 0;
  const load = async (hash: CommitHash) => {
    reads += 1;
    // A whole commit can be large.
    const { parents, time } = await read(hash);
    return [hash, { parents, time }] as const;
  };
  const open = others.has(start) ? [] : [await load(start)];
  for (const hash of open.length === 0 ? [] : others) if (mayRead(reads)) open.push(await load(hash));
  const seen = new Set(open.map(([hash]) => hash));
  // A line that ends without meeting the others: those may lead to it by commits with wrong times.
  const isUnmet = () => [...sole].some((hash) => links.get(hash)!.parents.length === 0);
  const end = (isMore: boolean): SoleCount => {
    const meetsOthers = [...sole].some((hash) => links.get(hash)!.parents.some((one) => others.has(one)));
    return { commits: [...sole].filter(isCounted).length, isMore, meetsOthers };
  };
  while (open.some(([hash]) => !held.has(hash)) || (open.length > 0 && isUnmet())) {
    if (!mayRead(reads)) return end(true);
    open.sort(([, left], [, right]) => (left.time < right.time ? 1 : left.time > right.time ? -1 : 0));
    const [hash, commit] = open.shift()!;
    links.set(hash, commit);
    if (held.has(hash)) hold(commit.parents, { held, links, sole });
    else sole.add(hash);
    for (const parent of commit.parents) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      open.push(await load(parent));
    }
  }
  return end(false);
}

/** The others lead to these commits, and to all below them that were read. */
function hold(
  hashes: readonly CommitHash[],
  known: {
    readonly held: Set<CommitHash>;
    readonly links: ReadonlyMap<CommitHash, CommitLinks>;
    readonly sole: Set<CommitHash>;
  },
): void {
  const { held, links, sole } = known;
  const open = [...hashes];
  for (let hash = open.pop(); hash !== undefined; hash = open.pop()) {
    if (held.has(hash)) continue;
    held.add(hash);
    sole.delete(hash);
    open.push(...(links.get(hash)?.parents ?? []));
  }
}
