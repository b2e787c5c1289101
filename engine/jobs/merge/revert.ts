/** `dray revert`: takes back what one commit changed, as edits. The next push records them. */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { MergeSummary, RevertRequest } from '../../api/jobs/merge.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { Commit } from '../../repository/commit.ts';
import { fetchCommit } from '../session/base/base-commit.ts';
import { openSession } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { resolveNamed } from '../session/resolve-commit.ts';
import { abortMerge } from './abort-merge.ts';
import { baseToMergeInto, linkForMerge, runMerge } from './run-merge.ts';

/** Of the commit's first line, in the message of the revert. */
const TITLE_CHARS_MAX = 200;

export async function revert(context: JobContext, request: RevertRequest): Promise<MergeSummary> {
  using session = await openSession(context, 'revert');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const run = await linkForMerge(session, remote);
  if (request.abort) return await abortMerge(run, 'revert');
  const { parent, ref = '' } = request;
  const { commit: hash, named } = await resolveNamed(session, store, ref);
  baseToMergeInto(session, { commit: hash, kind: 'revert' });
  const commit = await fetchCommit(session, store, hash);
  const before = parentOf(commit, { parent, ref });
  const [title = ''] = commit.message.split('\n');
  const message = `Revert "${title.slice(0, TITLE_CHARS_MAX).toWellFormed()}"\n\nThis takes back ${hash}.`;
  const option = parent === undefined ? '' : ` --parent ${parent}`;
  return await runMerge(
    run,
    {
      commits: { bases: [hash], theirs: before },
      pending: { kind: 'revert', commit: hash, ref, message, ...(parent === undefined ? {} : { parent }) },
      named,
      words: `revert ${shellWord(ref)}${option}`,
    },
    request,
  );
}

/** The state to go back to; undefined: the empty one. @throws `usage` */
function parentOf(
  { parents }: Commit,
  { parent, ref }: { readonly parent: number | undefined; readonly ref: string },
) {
  if (parent === undefined && parents.length < 2) return parents[0];
  const found = parent === undefined ? undefined : parents[parent - 1];
  if (found) return found;
  const list = parents.map((hash, at) => `${at + 1} is ${hash.slice(0, 10)}`).join(', ');
  const what = parents.length < 2 ? 'is no merge' : 'is a merge, and its parents differ';
  throw new DrayError('usage', `${ref} ${what}${list === '' ? '' : `: ${list}`}.`, {
    data: { ref, parents, reason: 'parent' },
    ...(parents.length < 2
      ? {}
      : { advice: `Say which one is kept: "dray revert ${shellWord(ref)} --parent 1".` }),
  });
}
