/**
 * The three-way merge of two sides' changes to one base, path by path. Pure and symmetric, except that the
 * result is expressed as changes to our side.
 *
 * Invariant: three valid trees merge into a valid tree, whichever way the conflicts are decided. In a valid
 * tree no path is a file and also lies above another, and an empty folder is an entry exactly while it
 * contains nothing.
 */
import { type Change, isSameEntry } from './diff.ts';
import { diffSorted } from './diff-sorted.ts';
import { comparePaths, type Entry } from './entry.ts';

/** `same`: both sides made the same change, or none. */
export type MergeDecision = 'same' | 'takeTheirs' | 'keepOurs' | 'conflict';

/** The entries at one path. */
export interface MergeSides {
  readonly base: Entry | undefined;
  readonly ours: Entry | undefined;
  readonly theirs: Entry | undefined;
}

/**
 * Changes of both sides that exclude each other. Mostly one of each, of one path. When one side has a file or
 * link where the other has a folder, also the other's changes in that folder.
 */
export interface MergeConflict {
  readonly path: string;
  readonly ours: readonly Change[];
  readonly theirs: readonly Change[];
}

export interface Merge {
  /** The changes to make on our side, in order of path: `before` is our entry. */
  readonly takeTheirs: readonly Change[];
  /** In order of path. */
  readonly conflicts: readonly MergeConflict[];
}

/** Decides one path by itself. A changed time is not a change. */
export function mergePath({ base, ours, theirs }: MergeSides): MergeDecision {
  if (isEqual(ours, theirs)) return 'same';
  if (isEqual(base, ours)) return 'takeTheirs';
  if (isEqual(base, theirs)) return 'keepOurs';
  return 'conflict';
}

/**
 * Goes beyond `mergePath` by finding clashes between paths. A file on one side and entries in a folder of
 * that name on the other are a conflict. An empty folder to which the other side added something stops being
 * an entry.
 *
 * @param ours From the base to our state, in strictly ascending order of path.
 * @param theirs From the base to theirs, likewise.
 */
export function mergeChanges(ours: Iterable<Change>, theirs: Iterable<Change>): Merge {
  const merging: Merging = { slots: [], conflicts: [], open: [] };
  for (const { path, left, right } of diffSorted(realChanges(ours), realChanges(theirs), () => false)) {
    closePassed(merging, path);
    const step = decide(path, left, right);
    merging.slots.push(step.slot);
    if (left && !left.after) noteRemoval(merging, 'ours', path);
    if (right && !right.after) noteRemoval(merging, 'theirs', path);
    if (left?.after && !right?.after) meet(merging, 'ours', left, step);
    else if (right?.after && !left?.after) meet(merging, 'theirs', right, step);
    if (step.conflict?.path === path) merging.conflicts.push(step.conflict);
  }
  closePassed(merging, undefined);
  const conflicts = merging.conflicts.map((draft) => ({
    path: draft.path,
    ours: inOrder(draft.ours),
    theirs: inOrder(draft.theirs),
  }));
  return {
    takeTheirs: merging.slots.flatMap((slot) => (slot.change ? [slot.change] : [])),
    conflicts: inOrder(conflicts),
  };
}

/** All changes to make on our side when one side wins each conflict: in order, one change for each path. */
export function resolveMerge(
  merge: Merge,
  winner: 'ours' | 'theirs' | ((conflict: MergeConflict) => 'ours' | 'theirs'),
): Change[] {
  const changes = new Map(merge.takeTheirs.map((change) => [change.path, change]));
  const winnerOf = typeof winner === 'function' ? winner : () => winner;
  const lost = new Set<string>();
  for (const conflict of merge.conflicts) {
    const { ours, theirs } = conflict;
    if (winnerOf(conflict) === 'ours') {
      for (const { path, after } of theirs) if (after?.kind === 'folder') lost.add(path);
      continue;
    }
    for (const { path, left, right } of diffSorted(inOrder(ours), inOrder(theirs), () => false)) {
      // A side without a change of its own has the base's entry, which the other side's `before` gives.
      const before = left ? left.after : right?.before;
      const after = right ? right.after : left?.before;
      if (!isEqual(before, after)) changes.set(path, { path, before, after });
    }
  }
  // Their empty folder belongs to every conflict about its content. A conflict that ours won leaves something
  // in it.
  for (const path of lost) if (changes.get(path)?.after?.kind === 'folder') changes.delete(path);
  return inOrder(changes.values());
}

type Side = 'ours' | 'theirs';

interface ConflictDraft {
  readonly path: string;
  readonly ours: Change[];
  readonly theirs: Change[];
}

/** A place in `takeTheirs`, kept in order until it is known whether a change goes there. */
interface Slot {
  change: Change | undefined;
}

/** The result for one path, as far as it is known. */
interface Step {
  readonly slot: Slot;
  conflict: ConflictDraft | undefined;
}

/** An entry that only one side has now, while paths inside a folder of its name may still follow. */
interface Open {
  /** The entry's path with a `/` appended. */
  readonly prefix: string;
  readonly side: Side;
  readonly change: Change;
  readonly step: Step;
  /** For an empty folder: conflicts about paths inside it. */
  readonly inside: ConflictDraft[];
  /** For an empty folder: the other side's merged content makes the folder non-empty. */
  isFilled: boolean;
  /** For an empty folder: the other side's file in place of a folder above it. */
  readonly rival: Open | undefined;
  /** For an empty folder: the remains of a folder of the base, not a new folder. */
  isRemnant: boolean;
}

interface Merging {
  readonly slots: Slot[];
  readonly conflicts: ConflictDraft[];
  /** Nested; the innermost, which ends first, is last. At most as many as a path has prefixes. */
  readonly open: Open[];
}

function decide(path: string, ours: Change | undefined, theirs: Change | undefined): Step {
  const slot: Slot = { change: ours ? undefined : theirs };
  const isConflict =
    ours && theirs && mergePath({ base: ours.before, ours: ours.after, theirs: theirs.after }) === 'conflict';
  return { slot, conflict: isConflict ? { path, ours: [ours], theirs: [theirs] } : undefined };
}

/**
 * Checks an entry that only one side has against the other side's entry above it. A valid tree has at most
 * one such entry.
 */
function meet(merging: Merging, side: Side, change: Change, step: Step): void {
  const host = merging.open.find((open) => open.side !== side && change.path.startsWith(open.prefix));
  const rival = host?.change.after?.kind === 'folder' ? undefined : host;
  // An empty folder against a file is settled once everything inside the folder has passed.
  if (rival && change.after?.kind !== 'folder') joinConflict(merging, rival, side, change, step);
  else if (rival) step.slot.change = undefined;
  else if (host && step.conflict) host.inside.push(step.conflict);
  else if (host) host.isFilled = true;
  const prefix = change.path.endsWith('/') ? change.path : `${change.path}/`;
  merging.open.push({ prefix, side, change, step, inside: [], isFilled: false, rival, isRemnant: false });
}

/** Records a conflict of a file or link with the other side's entries in a folder of its name. */
function joinConflict(merging: Merging, host: Open, side: Side, change: Change, step: Step): void {
  if (!host.step.conflict) {
    host.step.conflict = { path: host.change.path, ours: [], theirs: [] };
    host.step.conflict[host.side].push(host.change);
    host.step.slot.change = undefined;
    merging.conflicts.push(host.step.conflict);
  }
  const joined = host.step.conflict;
  if (step.conflict) {
    joined.ours.push(...step.conflict.ours);
    joined.theirs.push(...step.conflict.theirs);
  } else {
    joined[side].push(change);
  }
  step.conflict = joined;
  step.slot.change = undefined;
}

/** Settles the entries that contain no path from `path` on; without `path`, all of them. */
function closePassed(merging: Merging, path: string | undefined): void {
  for (let last = merging.open.at(-1); last; last = merging.open.at(-1)) {
    const isPassed =
      path === undefined || (!path.startsWith(last.prefix) && comparePaths(path, last.prefix) > 0);
    if (!isPassed) return;
    merging.open.pop();
    if (last.change.after?.kind === 'folder') settleFolder(merging, last);
  }
}

/** Settles an empty folder that one side has now: it stays an entry only if the merge leaves it empty. */
function settleFolder(merging: Merging, folder: Open): void {
  const { change, side, step, inside, isFilled, rival, isRemnant } = folder;
  if (rival && !isRemnant) {
    joinConflict(merging, rival, side, change, step);
    return;
  }
  if (rival) {
    // Both sides emptied the folder and one replaced it by a file: the other side loses nothing.
    const { path, after } = change;
    step.slot.change = side === 'ours' ? { path, before: after, after: undefined } : undefined;
    return;
  }
  if (isFilled) {
    const { path, after } = change;
    step.slot.change = side === 'ours' ? { path, before: after, after: undefined } : undefined;
    return;
  }
  if (inside.length === 0) return;
  // Whether it stays empty depends on those conflicts, so it is a part of each.
  for (const conflict of inside) conflict[side].push(change);
  step.slot.change = undefined;
}

/**
 * Notes that a side removed something inside its own empty folder, which is then only the remains of a base
 * folder.
 */
function noteRemoval(merging: Merging, side: Side, path: string): void {
  for (const open of merging.open)
    if (open.side === side && path.startsWith(open.prefix)) open.isRemnant = true;
}

function* realChanges(changes: Iterable<Change>): Generator<Change> {
  for (const change of changes) if (!isEqual(change.before, change.after)) yield change;
}

function isEqual(one: Entry | undefined, other: Entry | undefined): boolean {
  return one && other ? isSameEntry(one, other) : one === other;
}

function inOrder<T extends { readonly path: string }>(items: Iterable<T>): T[] {
  return [...items].sort((one, other) => comparePaths(one.path, other.path));
}
