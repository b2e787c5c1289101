/**
 * `dray merge`: brings what another branch, tag or commit changed into the workspace. The next push records
 * it, with that commit as its second parent.
 */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { MergeRequest, MergeSummary } from '../../api/jobs/merge.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { CommitHash } from '../../model/entry.ts';
import { findMergeBases } from '../../repository/merge-bases.ts';
import { commandLine } from '../session/command-line.ts';
import { fetchLinks } from '../session/fetch-links.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { resolveNamed } from '../session/resolve-commit.ts';
import { abortMerge } from './abort-merge.ts';
import { baseToMergeInto, linkForMerge, mergeSummary, runMerge } from './run-merge.ts';

export async function merge(context: JobContext, request: MergeRequest): Promise<MergeSummary> {
  using session = await openSession(context, 'merge');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const run = await linkForMerge(session, remote);
  if (request.abort) return await abortMerge(run, 'merge');
  const { ref = '' } = request;
  const { commit, named } = await resolveNamed(session, store, ref);
  const { branch } = session.state;
  if (ref === branch || commit === run.link.tip?.commit) throw isOwnBranch(session, ref);
  const base = baseToMergeInto(session, { commit, kind: 'merge' });
  const read = (hash: CommitHash) => fetchLinks(session, store, hash);
  const bases = await findMergeBases(base, commit, read);
  const summary = mergeSummary(run, { commit, ref });
  if (bases.includes(commit)) return { ...summary, result: 'upToDate' };
  const message = `Merge ${ref} into ${branch}`;
  return await runMerge(
    run,
    {
      commits: { bases: bases.length === 0 ? [undefined] : bases, theirs: commit },
      pending: { kind: 'merge', commit, ref, message },
      named,
      words: `merge ${shellWord(ref)}`,
    },
    request,
  );
}

function isOwnBranch(session: Session, ref: string): DrayError {
  const { branch } = session.state;
  const command = commandLine(session, 'pull');
  return new DrayError('usage', `${ref} is what the branch ${branch} has, and this workspace is on it.`, {
    data: { ref, branch, reason: 'ownBranch' },
    advice: `Get it with "${command}".`,
    command,
  });
}
