/** Finds the commit at which a lost branch is made again, from what this workspace and the store know. */
import { DrayError } from '../../api/error.ts';
import type { CommitHash } from '../../model/entry.ts';
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
 * The commit that no ref leads to and that follows the workspace's base: others have pushed it since. The
 * base itself if there is none. Of a branch that the workspace was never on it knows nothing.
 * @throws `conflict` if several commits follow, after an event for each; `notFound` without a base
 */
export async function findNewest(session: Session, tools: VerifyTools, branch: string): Promise<CommitHash> {
  const base = requireBase(session);
  const { remoteName, state } = session;
  if (state.follows?.[remoteName] !== branch) return base;
  const named = new Set<CommitHash>();
  const tips = (await readTips(tools, SKIPPED)) ?? [];
  const hashes = tips.map(({ commit }) => commit);
  await walkCommits(tools, { tips: hashes, findings: SKIPPED, onCommit: () => {}, seen: named });
  const unnamed = await findUnnamed(tools, named);
  const following = unnamed.heads.filter(([hash]) => hash !== base && unnamed.leads(hash, base));
  const [newest, another] = following;
  if (!newest) return base;
  if (!another) return newest[0];
  showUnnamed(session.context, following);
  const message = `${following.length} commits without a branch follow ${base.slice(0, 10)}, which this workspace has, so nobody can say which of them ${branch} named.`;
  throw new DrayError('conflict', message, {
    data: { ref: branch, commits: following.map(([hash]) => hash), reason: 'severalCommits' },
    advice: `Name one of them: "dray repair --branch ${branch} COMMIT".`,
    command: 'dray repair',
  });
}
