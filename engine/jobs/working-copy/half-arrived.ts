/**
 * A push while a commit is arriving (`../session/base/arrivals.ts`). If the branch has that commit in its
 * history, what arrived is the branch's own, and the edits of the user go on top of the branch's commit.
 * After a part of a switch, or of a pull of another branch, the working copy would put one branch's content
 * on the other, so the push is refused while any of it is left.
 */
import { advised, DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import { type Change, isSameEntry, kindOfChange } from '../../model/diff.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { diffCommits } from '../../repository/diff-commits.ts';
import { type Arrival, arrivalsOf, isOfBranch, remoteFlag } from '../session/base/arrivals.ts';
import { type BaseCommit, dropArrivals, fetchCommit } from '../session/base/base-commit.ts';
import { isBelow } from '../session/branch/known-history.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { collectChanges } from './conflicts.ts';
import { toChange } from './working-changes.ts';

export interface PushOverArrivals {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly link: LinkedRepository;
  readonly base: BaseCommit;
  /** It stores again what the base lacks, which only a workspace on one whole commit can. */
  readonly needsWholeBase: boolean;
  readonly isDryRun: boolean;
}

/**
 * Returns the base to push from. A commit of which nothing is left here is not arriving any more.
 * @throws `conflict` while something is left of a commit that is not the branch's
 */
export async function refuseHalfArrived(push: PushOverArrivals): Promise<BaseCommit> {
  const { base, isDryRun, link, session } = push;
  const { remoteName, state } = session;
  const elsewhere = Object.entries(state.arriving ?? {}).find(([name]) => name !== remoteName);
  if (elsewhere) throw halfArrived(session, elsewhere[0], elsewhere[1].at(-1)!, []);
  if (!base.isMixed) return base;
  const arrivals = arrivalsOf(session);
  const foreign = await notOnBranch(push, arrivals);
  for (const arrival of foreign) {
    const paths = await findLeft(push, arrival, arrivals);
    if (paths === undefined || paths.length > 0) throw halfArrived(session, remoteName, arrival, paths ?? []);
  }
  const left = arrivals.filter((arrival) => !foreign.includes(arrival));
  if (push.needsWholeBase && left.length > 0) throw halfArrived(session, remoteName, left.at(-1)!, []);
  if (isDryRun || foreign.length === 0) return base;
  dropArrivals(session, link.uuid, (arrival) => foreign.includes(arrival));
  if (left.length > 0) return base;
  const { isMixed: _, ...whole } = base;
  return whole;
}

/** Those that are not in the branch's history. Requests only for commits that the index does not have. */
async function notOnBranch(
  { base, link, session, store }: PushOverArrivals,
  arrivals: readonly Arrival[],
): Promise<readonly Arrival[]> {
  const tip = link.tip?.commit;
  if (!tip) return arrivals;
  const found: Arrival[] = [];
  for (const arrival of arrivals) {
    const own = arrival.commit as CommitHash;
    if (!(await isBelow(session, store, { tip, own, base: base.hash }))) found.push(arrival);
  }
  return found;
}

/**
 * The paths at which the commit's content is left, or an edit of it. Where the base's is back, it is the base
 * of the path again.
 * @returns Undefined if the base or the commit cannot be read any more
 */
async function findLeft(
  push: PushOverArrivals,
  arrival: Arrival,
  arrivals: readonly Arrival[],
): Promise<readonly string[] | undefined> {
  const { files } = push.session.index;
  try {
    const found = await changesTo(push, arrival);
    const here = found.filter(({ after, path }) => isSame(rowOf(push.session, path)?.before, after));
    if (here.length === 0) return [];
    const alike = new Set<string>();
    for (const other of arrivals) {
      if (other === arrival) continue;
      const theirs = new Map((await changesTo(push, other)).map((change) => [change.path, change]));
      for (const { after, path } of here)
        if (theirs.has(path) && isSame(theirs.get(path)!.after, after)) alike.add(path);
    }
    const left: string[] = [];
    push.session.index.transaction(() => {
      for (const { before, path } of here) {
        if (alike.has(path)) continue;
        if (!isSame(rowOf(push.session, path)?.after, before)) left.push(path);
        else files.setBase(path, before);
      }
    });
    return left;
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** From the base commit to the arriving one. */
async function changesTo(
  { base, session, store }: PushOverArrivals,
  { commit }: Arrival,
): Promise<readonly Change[]> {
  const target = await fetchCommit(session, store, commit as CommitHash);
  const options = { scope: scopeOf(session), signal: session.context.signal };
  const changes = await collectChanges(diffCommits(store, base.commit, target, options));
  return changes.filter((change) => kindOfChange(change) !== undefined);
}

function rowOf({ index }: Session, path: string): Change | undefined {
  const row = index.files.find(path, 0);
  return row && toChange(row);
}

function isSame(one: Entry | undefined, other: Entry | undefined): boolean {
  return one && other ? isSameEntry(one, other) : one === other;
}

function halfArrived(
  session: Session,
  remoteName: string,
  arrival: Arrival,
  paths: readonly string[],
): DrayError {
  const { command, commit } = arrival;
  const [path] = paths;
  const count = paths.length;
  const what =
    path === undefined
      ? 'A transfer ended before all files arrived'
      : `${count === 1 ? path : `${path} and ${count - 1} more`} came by a transfer that did not finish`;
  return new DrayError(
    'conflict',
    `${what}, and a push would record that state on ${session.state.branch}.`,
    {
      data: { ...(path === undefined ? {} : { path, count }), commit, reason: 'halfArrived' },
      advice: `It was "${command}". ${adviceOut(session, remoteName, arrival)}, then push.`,
      command,
    },
  );
}

/** Warns commands that show changes. */
export function warnOfHalfArrived(session: Session): void {
  const [first] = Object.entries(session.state.arriving ?? {});
  const arrival = first?.[1].at(-1);
  if (first === undefined || arrival === undefined) return;
  const message = 'A transfer did not bring all files yet. Those that came do not count as changes here.';
  const advice = `It was "${arrival.command}". ${adviceOut(session, first[0], arrival)}.`;
  session.context.emit({ type: 'warning', warning: 'halfArrived', ...advised(message, advice) });
}

function adviceOut({ config, state }: Session, remoteName: string, arrival: Arrival): string {
  const base = state.bases[remoteName];
  // The branch has no commit on that remote, so there is nothing to go back to.
  if (base === undefined) return 'Run it again';
  const flag = remoteFlag({ config }, remoteName);
  const back = isOfBranch({ config, remoteName }, arrival)
    ? `dray pull ${base.slice(0, 10)}${flag}`
    : `dray switch ${state.branch}${flag}`;
  return `Run it again, or go back by "${back}"`;
}
