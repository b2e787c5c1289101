/**
 * An older state of the store that was put back: the branch names an ancestor of a commit at which this
 * workspace has seen it. Dray only ever moves a branch forward. Merging with such a tip would take back what
 * came after it, on this machine too, without anybody having done so.
 *
 * A commit is taken for later than its ancestors. So an ordinary move costs no request, and where the clocks
 * of two writers differ, a rollback between their commits may pass.
 */
import { DrayError } from '../../api/error.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { StoredRef } from '../../repository/refs.ts';
import { fetchCommit } from './base-commit.ts';
import type { Session } from './open-workspace.ts';

const SEARCHED_MAX = 1_000;

/** @throws `damaged` */
export async function refuseRolledBack(
  session: Session,
  store: ObjectStore,
  tip: StoredRef | undefined,
): Promise<void> {
  const { remoteName, state } = session;
  const base = state.bases[remoteName] as CommitHash | undefined;
  if (!tip || !base || tip.commit === base || state.follows?.[remoteName] !== state.branch) return;
  const { time } = await fetchCommit(session, store, tip.commit);
  const seen = new Set<CommitHash>([base]);
  for (const hash of seen) {
    if (seen.size > SEARCHED_MAX) return;
    const commit = await fetchCommit(session, store, hash);
    if (commit.time < time) continue;
    if (commit.parents.includes(tip.commit)) throw rolledBack(store, tip, base);
    for (const parent of commit.parents) seen.add(parent);
  }
}

function rolledBack({ address }: ObjectStore, { commit, name }: StoredRef, base: CommitHash): DrayError {
  const message =
    `${name} at ${address} is back at ${commit.slice(0, 10)}, a commit before ${base.slice(0, 10)}, which this ` +
    'workspace has seen there. Somebody put an older state of the store back.';
  const command = `dray pull ${commit.slice(0, 10)}`;
  return new DrayError('damaged', message, {
    data: { ref: name, commit, expected: base, reason: 'rolledBack' },
    advice: `If that was meant, accept it with "${command}".`,
    command,
  });
}
