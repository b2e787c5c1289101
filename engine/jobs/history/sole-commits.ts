/** Finds the commits that only one branch or tag reaches. Without it, no ref leads to them. */
import type { JobContext } from '../../api/jobs.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { listRefs } from '../../repository/refs.ts';
import { fetchCommit } from '../session/base-commit.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { resolveCommit } from '../session/resolve-commit.ts';

/** The most commits to read. Each costs a request unless the index has it. */
const READS_MAX = 2_000;

export interface SoleCommits {
  /** The commit that the ref has now; absent when there is no such ref. */
  readonly commit?: string;
  readonly commits: number;
  /** True if the walk ended at its bound, so there may be more. */
  readonly isMore: boolean;
}

/** @param ref `to`: the commit, branch or tag that it would move to; absent when it would be removed. */
export async function findSoleCommits(
  context: JobContext,
  { kind, name, to }: { readonly kind: 'heads' | 'tags'; readonly name: string; readonly to?: string },
): Promise<SoleCommits> {
  using session = await openSession(context, 'history', 'shared');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const { signal } = context;
  const [heads, tags] = await Promise.all([
    listRefs(store, 'heads', { signal }),
    listRefs(store, 'tags', { signal }),
  ]);
  const refs = [...heads, ...tags];
  const own = refs.find((ref) => ref.name === `${kind}/${name}`);
  if (!own) return { commits: 0, isMore: false };
  const others = new Set(refs.filter((ref) => ref !== own).map(({ commit }) => commit));
  if (to !== undefined) others.add(await resolveCommit(session, store, to));
  return { commit: own.commit, ...(await countSole(session, store, own.commit, others)) };
}

/**
 * Walks from both sides, newest first, until other refs reach every open commit. Commits with wrong times can
 * make the count too high, never too low.
 */
async function countSole(
  session: Session,
  store: ObjectStore,
  start: CommitHash,
  others: ReadonlySet<CommitHash>,
): Promise<Omit<SoleCommits, 'commit'>> {
  if (others.has(start)) return { commits: 0, isMore: false };
  const held = new Set<CommitHash>(others);
  const sole = new Set<CommitHash>();
  const seen = new Set<CommitHash>([start, ...others]);
  let reads = 0;
  const load = async (hash: CommitHash) => {
    reads += 1;
    return [hash, await fetchCommit(session, store, hash)] as const;
  };
  const open: (readonly [CommitHash, Commit])[] = [await load(start)];
  for (const hash of others) if (reads < READS_MAX) open.push(await load(hash));
  while (open.some(([hash]) => !held.has(hash))) {
    if (reads >= READS_MAX) return { commits: sole.size + 1, isMore: true };
    open.sort(([, left], [, right]) => (left.time < right.time ? 1 : left.time > right.time ? -1 : 0));
    const [hash, { parents }] = open.shift()!;
    const isHeld = held.has(hash);
    if (!isHeld) sole.add(hash);
    for (const parent of parents) {
      if (isHeld) {
        held.add(parent);
        sole.delete(parent);
      }
      if (seen.has(parent)) continue;
      seen.add(parent);
      open.push(await load(parent));
    }
  }
  return { commits: sole.size, isMore: false };
}
