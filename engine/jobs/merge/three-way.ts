/**
 * The two sides of a three-way merge into the working copy: what changed from the merge base to the working
 * copy, and from the merge base to the other commit.
 *
 * Where histories were merged crosswise there are several merge bases. The first one counts, except at a path
 * where they differ and the two sides differ too: nobody can tell there which side is the newer, so it is a
 * conflict.
 */
import { DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import { type Change, isSameEntry, kindOfChange } from '../../model/diff.ts';
import { type BlobHash, type CommitHash, comparePaths, type Entry } from '../../model/entry.ts';
import type { Scope } from '../../model/scope.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { diffCommits } from '../../repository/diff-commits.ts';
import { EMPTY_MANIFEST } from '../../repository/manifest/manifest.ts';
import { isForgotten, whileKept } from '../retention/forgotten.ts';
import { changesFromBase } from '../session/base/base-changes.ts';
import { type BaseCommit, fetchCommit } from '../session/base/base-commit.ts';
import type { Session } from '../session/open-workspace.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { collectChanges } from '../working-copy/conflicts.ts';
import { hashFiles, unreadAmong } from '../working-copy/hash-files.ts';
import { workingChanges } from '../working-copy/working-changes.ts';

/** Which commits are compared. Undefined: the empty state before the first commit. */
export interface ThreeCommits {
  /** At least one. */
  readonly bases: readonly (CommitHash | undefined)[];
  readonly theirs: CommitHash | undefined;
}

/** In order of path. */
export interface TwoSides {
  readonly ours: readonly Change[];
  readonly theirs: readonly Change[];
}

export interface ThreeWayOptions {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly base: BaseCommit;
  /** `all`: also what lies outside of the workspace's part, where the base stands for the working copy. */
  readonly reach?: 'part' | 'all';
}

/** @throws `forgotten` if what a merge base held is gone */
export async function findTwoSides(options: ThreeWayOptions, commits: ThreeCommits): Promise<TwoSides> {
  const { base, session } = options;
  const [first, ...others] = commits.bases;
  const theirs = await changesBetween(options, first, commits.theirs);
  const here = await changesBetween(options, first, base.hash);
  const between: Change[][] = [];
  for (const other of others) between.push(await changesBetween(options, first, other));
  const doubtful = between.flat().filter((change) => kindOfChange(change) && !change.path.endsWith('/'));
  const paths = new Set([...theirs, ...doubtful].map(({ path }) => path));
  await hashFiles(session, unreadAmong(session, paths));
  const sides = { ours: joinChanges(here, [...workingChanges(session)].flat()), theirs };
  return doubtful.length === 0 ? sides : withDoubts(sides, doubtful);
}

/** The changes from the first state to the second one, and from there on to the third. */
function joinChanges(first: readonly Change[], second: readonly Change[]): Change[] {
  const joined = new Map(first.map((change) => [change.path, change]));
  for (const { after, before, path } of second) {
    const earlier = joined.get(path);
    joined.set(path, { path, before: earlier ? earlier.before : before, after });
  }
  return inOrder(joined.values());
}

/** @param doubtful From the first merge base to another one. */
function withDoubts({ ours, theirs }: TwoSides, doubtful: readonly Change[]): TwoSides {
  const our = new Map(ours.map((change) => [change.path, change]));
  const their = new Map(theirs.map((change) => [change.path, change]));
  for (const { before, path } of doubtful) {
    const here = our.has(path) ? our.get(path)!.after : before;
    const there = their.has(path) ? their.get(path)!.after : before;
    if (here && there ? isSameEntry(here, there) : here === there) continue;
    our.set(path, { path, before: unlikeAny(path), after: here });
    their.set(path, { path, before: unlikeAny(path), after: there });
  }
  return { ours: inOrder(our.values()), theirs: inOrder(their.values()) };
}

/** Stands for merge bases that differ: both sides have changed it. */
function unlikeAny(path: string): Entry {
  const blob = `several:${path}` as BlobHash;
  return {
    kind: 'file',
    path,
    sizeBytes: 0,
    mtimeNs: 0n,
    executable: false,
    blob,
    location: { in: 'nowhere' },
  };
}

function inOrder(changes: Iterable<Change>): Change[] {
  return [...changes].sort((left, right) => comparePaths(left.path, right.path));
}

async function changesBetween(
  options: ThreeWayOptions,
  from: CommitHash | undefined,
  to: CommitHash | undefined,
): Promise<Change[]> {
  if (from === to) return [];
  const { reach = 'part', session, store } = options;
  const scope = reach === 'part' ? scopeOf(session) : undefined;
  const { signal } = session.context;
  try {
    const read = () => readChanges(options, { from, to, scope });
    return to === undefined ? await read() : await whileKept(store, to, read, { signal });
  } catch (error) {
    if (!isDamage(error) || !from || !(await isForgotten(store, from, { signal }))) throw error;
    throw forgottenMergeBase(from);
  }
}

async function readChanges(
  { base, reach, session, store }: ThreeWayOptions,
  {
    from,
    scope,
    to,
  }: {
    readonly from: CommitHash | undefined;
    readonly to: CommitHash | undefined;
    readonly scope: Scope | undefined;
  },
): Promise<Change[]> {
  const read = async (hash: CommitHash | undefined) =>
    hash === undefined ? { manifest: EMPTY_MANIFEST } : await fetchCommit(session, store, hash);
  // The index stands in for a base whose lists of files are gone.
  const isBased = base.hash !== undefined && reach !== 'all';
  if (isBased && from === base.hash)
    return await collectChanges(changesFromBase(session, store, base, await read(to)));
  if (isBased && to === base.hash) {
    const back = await collectChanges(changesFromBase(session, store, base, await read(from)));
    return back.map(({ after, before, path }) => ({ path, before: after, after: before }));
  }
  const { signal } = session.context;
  return await collectChanges(diffCommits(store, await read(from), await read(to), { scope, signal }));
}

function forgottenMergeBase(hash: CommitHash): DrayError {
  const message = `Both sides come from the commit ${hash.slice(0, 10)}, which was forgotten, so nobody can tell what each of them changed.`;
  return new DrayError('forgotten', message, {
    data: { commit: hash, reason: 'mergeBase' },
    advice: 'Take over files as they are there with "dray restore PATH --from REF".',
    command: 'dray restore',
  });
}
