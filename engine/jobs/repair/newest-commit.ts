/** Finds the commit at which a lost branch is made again, from what this workspace and the store know. */
import { DrayError } from '../../api/error.ts';
import type { CommitHash } from '../../model/entry.ts';
import { readLastRecord } from '../../repository/collection/ref-record.ts';
import { readTips, walkCommits } from '../history/verify/find-commits.ts';
import { isFinding, type VerifyTools } from '../history/verify/findings.ts';
import type { Session } from '../session/open-workspace.ts';
import { requireBase } from '../session/resolve-commit.ts';
import { findUnnamed, showUnnamed } from './unnamed-commits.ts';

/** What cannot be read leads to nothing here. */
const SKIPPED = {
  report: (error: unknown) => {
    if (!isFinding(error)) throw error;
  },
};

/**
 * The commit that no ref leads to and that follows the one at which the branch was seen, by this workspace or
 * by the last round of a collection: others have pushed it since. That one itself if none follows, and the
 * workspace's base for a branch that neither has seen.
 * @throws `conflict` if several commits follow, after an event for each; `notFound` without a base
 */
export async function findNewest(session: Session, tools: VerifyTools, branch: string): Promise<CommitHash> {
  const { remoteName, state } = session;
  const isFollowed = state.follows?.[remoteName] === branch;
  const base = isFollowed ? requireBase(session) : undefined;
  const recorded = await findRecorded(tools, `heads/${branch}`);
  if (!base && !recorded) return requireBase(session);
  const named = new Set<CommitHash>();
  const tips = (await readTips(tools, SKIPPED)) ?? [];
  const hashes = tips.map(({ commit }) => commit);
  await walkCommits(tools, { tips: hashes, findings: SKIPPED, onCommit: () => {}, seen: named });
  const unnamed = await findUnnamed(tools, named);
  const known = base && recorded && unnamed.leads(recorded, base) ? recorded : (base ?? recorded!);
  const following = unnamed.heads.filter(([hash]) => hash !== known && unnamed.leads(hash, known));
  const [newest, another] = following;
  if (!newest) return known;
  if (!another) return newest[0];
  showUnnamed(session.context, following);
  const message = `${following.length} commits without a branch follow ${known.slice(0, 10)}, at which ${branch} was seen, so nobody can say which of them it named.`;
  throw new DrayError('conflict', message, {
    data: { ref: branch, commits: following.map(([hash]) => hash), reason: 'severalCommits' },
    advice: `Name one of them: "dray repair --branch ${branch} COMMIT".`,
    command: 'dray repair',
  });
}

async function findRecorded(
  { context: { signal }, store }: VerifyTools,
  name: string,
): Promise<CommitHash | undefined> {
  try {
    const { refs } = await readLastRecord(store, { signal });
    return refs.find((ref) => ref.name === name)?.commit;
  } catch (error) {
    SKIPPED.report(error);
    return undefined;
  }
}
