/** `dray switch`: the workspace follows another branch. Local edits stay, as in a pull. */
import { DrayError, messageWithoutAdvice } from '../../api/error.ts';
import type { JobContext, PullSummary, SwitchRequest } from '../../api/jobs/jobs.ts';
import { checkRefName } from '../../repository/ref-name.ts';
import { createBranch } from '../history/refs.ts';
import { refusePending } from '../merge/pending-merge.ts';
import { settleLastPush } from '../push/unconfirmed-push.ts';
import { withDetached } from '../session/base/detached-state.ts';
import { refuseReplaced, seenBranch } from '../session/branch/replaced-history.ts';
import { linkRepository } from '../session/link-repository.ts';
import { openSession } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { pullCommit } from './pull.ts';

export async function switchBranch(context: JobContext, request: SwitchRequest): Promise<PullSummary> {
  const { name } = request;
  checkRefName(name);
  using session = await openSession(context, 'switch');
  await using remote = await openSessionRemote(session);
  // What it published is the old branch's.
  await settleLastPush(session, remote.store);
  // `-c` stays at the base: a pending merge comes along.
  if (!request.dryRun && !request.create) refusePending(session);
  if (request.create) await createBranch(session, remote.store, name);
  const link = await linkRepository(session, remote.store, name);
  if (name === session.state.branch) await refuseReplaced(session, remote, seenBranch(link));
  if (!link.tip) {
    throw new DrayError('notFound', `There is no branch ${name} on ${remote.store.address}.`, {
      data: { branch: name },
      advice: `Create it with "dray switch -c ${name}".`,
      command: `dray switch -c ${name}`,
    });
  }
  const { branch } = session.state;
  // Saved together with the base, so that no command sees the files of one branch under the name of
  // another.
  session.state = { ...session.state, branch: name };
  const { commit } = link.tip;
  const named = { kind: 'branch', name } as const;
  const target = { commit, named, isOfBranch: true, words: `switch ${name}` } as const;
  const options = request.dryRun ? { dryRun: true } : {};
  const summary = await pullCommit(session, remote, link, target, options).catch((error: unknown) => {
    throw ownConflict(error);
  });
  if (request.dryRun) return summary;
  const isThere = session.state.bases[session.remoteName] === commit;
  const follows = { ...session.state.follows, [session.remoteName]: name };
  if (isThere) session.saveState({ ...withDetached(session.state, session.remoteName, undefined), follows });
  return { ...summary, branch: isThere ? name : branch };
}

/** A pull has options that decide conflicts. A switch has none: the change belongs to the old branch. */
function ownConflict(error: unknown): unknown {
  if (!(error instanceof DrayError) || error.code !== 'conflict' || !Array.isArray(error.data.paths))
    return error;
  const { branch, count, paths } = error.data;
  return new DrayError('conflict', messageWithoutAdvice(error), {
    data: { branch, count, paths, reason: 'switch' },
    advice: 'Push or restore what changed here, then switch.',
    cause: error,
  });
}
