/**
 * `dray pull REF` shows another version than that of the workspace's branch. The workspace is *detached*
 * there: a commit made from it would have that version as its parent, and on the branch it would claim to be
 * a merge of what it does not have. So a push from there is refused. `dray pull` and `dray switch` end it.
 *
 * The same holds for a base that nobody has looked at on purpose, such as that of a second remote after a
 * switch: a commit may be merged with the branch only if the branch leads to its base.
 */
import { DrayError } from '../../../api/error.ts';
import type { DetachedAt } from '../../../api/jobs/pending-merge.ts';
import type { CommitHash } from '../../../model/entry.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import { isInHistory } from '../../../repository/merge-bases.ts';
import type { StoredRef } from '../../../repository/refs.ts';
import { withDetached } from '../base/detached-state.ts';
import { commandLine } from '../command-line.ts';
import { fetchLinks } from '../fetch-links.ts';
import type { Session } from '../open-workspace.ts';

/** Undefined if the workspace follows its branch. */
export function detachedAt({
  remoteName,
  state,
}: Pick<Session, 'remoteName' | 'state'>): DetachedAt | undefined {
  const at = state.detached?.[remoteName];
  const commit = state.bases[remoteName];
  return at && commit !== undefined ? { ref: at.ref, commit } : undefined;
}

/** For summaries. */
export function detachedField(session: Pick<Session, 'remoteName' | 'state'>): {
  readonly detached?: DetachedAt;
} {
  const detached = detachedAt(session);
  return detached ? { detached } : {};
}

/** The base is a commit of the branch, and nothing had to be written to get there. */
export function followBranch(session: Session): void {
  const { remoteName, state } = session;
  if (!state.detached?.[remoteName] && state.follows?.[remoteName] === state.branch) return;
  const follows = { ...state.follows, [remoteName]: state.branch };
  session.saveState({ ...withDetached(state, remoteName, undefined), follows });
}

/** No request if the workspace follows its branch. @throws `conflict` */
export async function refuseDetached(
  session: Session,
  store: ObjectStore,
  tip: StoredRef | undefined,
): Promise<void> {
  const { remoteName, state } = session;
  const base = state.bases[remoteName] as CommitHash | undefined;
  if (!base || tip?.commit === base || state.follows?.[remoteName] === state.branch) return;
  const at = detachedAt(session);
  if (at) throw detached(session, at, tip !== undefined);
  if (!tip) return;
  const read = (hash: CommitHash) => fetchLinks(session, store, hash);
  if (await isInHistory(base, tip.commit, read)) return;
  const { branch } = state;
  const command = commandLine(session, 'pull');
  throw new DrayError(
    'conflict',
    `This workspace is based on ${base.slice(0, 10)}, which is not in the history of ${branch} at ${store.address}.`,
    {
      data: { branch, commit: base, reason: 'detached' },
      advice: `Pull first with "${command}", then push.`,
      command,
    },
  );
}

function detached(session: Session, { commit, ref }: DetachedAt, hasBranch: boolean): DrayError {
  const { branch } = session.state;
  const command = commandLine(session, hasBranch ? `switch ${branch}` : `switch -c ${branch}`);
  return new DrayError(
    'conflict',
    `This workspace shows ${ref} (${commit.slice(0, 10)}), and a push would not know whether ${branch} should get that too. Nothing was sent.`,
    {
      data: { branch, ref, commit, reason: 'detached' },
      advice: hasBranch
        ? `Take the changes to ${branch} with "${command}", or to a new branch with ` +
          `"${commandLine(session, 'switch -c NAME')}".`
        : `Make the branch ${branch} from this version with "${command}", then push.`,
      command,
    },
  );
}
