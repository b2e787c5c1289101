/**
 * Finds the commits that only one branch or tag reaches. Without it, no ref leads to them. Forgotten ones do
 * not count: their files are lost already.
 */
import type { JobContext } from '../../api/jobs/jobs.ts';
import { countSole } from '../../repository/count-sole.ts';
import { listRefs } from '../../repository/refs.ts';
import { readForgotten } from '../retention/forgotten.ts';
import { fetchLinks } from '../session/fetch-links.ts';
import { openSession } from '../session/open-workspace.ts';
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
  const forgotten = await readForgotten(store, refs, { signal });
  const { commits, isMore } = await countSole({
    start: own.commit,
    others,
    read: (hash) => fetchLinks(session, store, hash),
    mayRead: (reads) => reads < READS_MAX,
    isCounted: (hash) => !forgotten.has(hash),
  });
  // A stopped walk has one more commit at hand.
  return { commit: own.commit, commits: isMore ? commits + 1 : commits, isMore };
}
