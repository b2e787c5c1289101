/** Pushes, and what each of their commits may have. */

import type { PushSummary } from '../../../engine/api/jobs/jobs.ts';
import { push } from '../../../engine/jobs/push/push.ts';
import { attempt, learnWritten, noteSettled, type Outcome, outcomeOf } from './attempts.ts';
import { differing, type ModelCommit } from './history-model.ts';
import { ModelFault, requireRule } from './model-fault.ts';
import type { RunFault } from './run-faults.ts';
import {
  arrivingOf,
  beforeCommand,
  checkDisk,
  contextOf,
  count,
  diskOf,
  type Edits,
  hasForeign,
  isReplaced,
  isSettled,
  note,
  pendingOf,
  readStoredRefs,
  stateOf,
  tipOf,
  type Workspace,
  type World,
} from './world.ts';

export async function pushOnce(world: World, w: Workspace, fault: RunFault): Promise<void> {
  const tip = tipOf(world, w.branch);
  const wasReplaced = isReplaced(world, w);
  const outcome = await attempt(world, w, { fault }, (context) => push(context, { allowEmptied: true }));
  checkWrittenCommits(world, outcome.newCommits);
  note(world, `${w.name}: push${describe(outcome, fault)}`);
  const isHeld = w.merging?.isUnfinished && !w.unconfirmed;
  if (world.lost.has(`heads/${w.branch}`) || wasReplaced || isHeld || isTakenBack(world, w, outcome))
    return refusedForLost(world, w, outcome, 'push');
  await settlePush(world, w, outcome, [tip]);
}

/** What is arriving was the branch's, which is no longer based on it: an explicit choice is needed. */
export function isTakenBack(world: World, w: Workspace, { error }: Outcome<unknown>): boolean {
  return error?.code === 'damaged' && hasForeign(world, w);
}

/**
 * Nobody can tell where a branch was that is gone, and a merge that is not whole must not be recorded:
 * nothing is sent and nothing changes.
 */
export function refusedForLost(world: World, w: Workspace, outcome: Outcome<unknown>, words: string): void {
  const { error, newCommits, value } = outcome;
  const isNothing = w.edits.size === 0 && words === 'push' && w.merging?.kind !== 'merge';
  const isRefused = error !== undefined || isNothing;
  requireRule(isRefused, `a ${words} went on without its branch`, () => ({ workspace: w.name, value }));
  requireRule(newCommits.length === 0, `a ${words} without its branch sent a commit`, () => newCommits);
  if (pendingOf(w) === undefined) w.merging = undefined;
  count(world, `${words} without its branch`);
  checkDisk(w);
}

/** Two at once: either may come first. */
export async function pushBoth(world: World, one: Workspace, other: Workspace): Promise<void> {
  const before = [tipOf(world, one.branch), tipOf(world, other.branch)] as const;
  if (before.includes(undefined) || [one, other].some((w) => isReplaced(world, w) || w.merging?.isUnfinished))
    return await pushOnce(world, one, { kind: 'none' });
  for (const w of [one, other]) beforeCommand(world, w);
  const job = (w: Workspace) => outcomeOf(contextOf(w), (context) => push(context, { allowEmptied: true }));
  const ended = await Promise.all([job(one), job(other)]);
  const newCommits = await learnWritten(world);
  checkWrittenCommits(world, newCommits);
  for (const w of [one, other]) if (w.unconfirmed) noteSettled(w);
  const [mine, its] = ended.map((outcome) => ({ ...outcome, isMet: false, newCommits }));
  note(world, `${one.name} and ${other.name}: push at once${describe(mine!)}, ${describe(its!)}`);
  count(world, 'pushed at once');
  for (const [w, own, rival, tip] of [
    [one, mine!, its!, before[0]],
    [other, its!, mine!, before[1]],
  ] as const) {
    if (isTakenBack(world, w, own)) refusedForLost(world, w, { ...own, newCommits: [] }, 'push');
    else await settlePush(world, w, own, [tip, rival.value?.commit ?? undefined]);
  }
}

export function describe({ error, value }: Outcome<unknown>, fault?: RunFault): string {
  const what = fault === undefined || fault.kind === 'none' ? '' : ` (${describeFault(fault)})`;
  const { commit } = (value ?? {}) as { commit?: string | null };
  return `${what}: ${error ? `${error.code} ${error.data.reason ?? ''}` : (commit ?? 'done').slice(0, 8)}`;
}

function describeFault(fault: RunFault): string {
  if ('at' in fault) return `${fault.kind} at step ${fault.at}`;
  if (fault.kind === 'killedBehindRef') return 'killed behind its ref';
  if (fault.kind === 'hidden') return `${fault.keys.size} objects missing`;
  return fault.kind === 'readOnly' ? `${fault.folder.split('/').at(-1)} is read-only` : '';
}

/** The paths at which the workspace's user and the branch changed differently. */
export function conflictsWith(world: World, w: Workspace, target: string | undefined): string[] {
  const theirs = world.history.filesOf(target);
  return [...w.edits.keys()].filter((path) => {
    const known = [w.held.get(path), w.edits.get(path), ...(w.doubts.get(path) ?? [])];
    const isClear = !isUncertain(world, w, path) && !isUnseen(world, w, path);
    return isClear && !known.includes(theirs.get(path));
  });
}

/**
 * Whether an edit may count as none: it equals what is arriving, or it takes back what arrived of a commit
 * that the branch does not have.
 */
export function isUncertain(world: World, w: Workspace, path: string): boolean {
  const { edits, uncertain } = w;
  if (uncertain.has(path)) return true;
  return hasForeign(world, w) && world.history.filesOf(w.base).get(path) === edits.get(path);
}

/** Without an index nobody can tell whether a file has not arrived yet, or was removed. */
function isUnseen({ history }: World, { base, edits, isFuzzy }: Workspace, path: string): boolean {
  return isFuzzy && edits.get(path) === undefined && !history.filesOf(base).has(path);
}

/** Whether the merged commit has something of the branch that the base lacks. */
function mayWaitForPull({ history }: World, { base, merging }: Workspace, tip: string | undefined): boolean {
  if (merging?.kind !== 'merge' || base === undefined || tip === undefined) return false;
  return history.mergeBases(merging.commit, tip).some((hash) => !history.isIn(hash, base));
}

/** Whether there may be a conflict, although the model knows none. */
export function mayConflict(world: World, w: Workspace, target: string | undefined): boolean {
  const theirs = world.history.filesOf(target);
  const unclear = [...w.edits.keys()].filter((path) => isUncertain(world, w, path));
  return w.isFuzzy || [...w.doubts.keys(), ...unclear].some((path) => theirs.get(path) !== w.edits.get(path));
}

/**
 * A commit of a push is what it was made on with exactly its user's edits; a merge has the changes of all its
 * parents.
 */
function checkWrittenCommits(world: World, hashes: readonly string[]): void {
  for (const hash of hashes) {
    const commit = world.history.get(hash);
    const w = world.workspaces.find(({ name }) => name === commit.author);
    if (!w) throw new ModelFault('a commit has an unknown author', commit.author);
    checkEdits(world, w, commit);
    checkMerge(world, w, commit);
  }
}

function checkEdits(world: World, w: Workspace, commit: ModelCommit): void {
  const [first] = commit.parents;
  const onto = world.history.filesOf(first);
  const { files } = commit;
  const isOnTip = commit.parents.length > 1 || first !== w.base;
  for (const path of new Set([...onto.keys(), ...files.keys(), ...w.edits.keys()])) {
    const isEdited = w.edits.has(path);
    const allowed = isEdited ? [w.edits.get(path)] : [onto.get(path)];
    const mayBeNone = isEdited && (isUnseen(world, w, path) || isUncertain(world, w, path));
    if (mayBeNone) allowed.push(onto.get(path));
    const details = () => ({
      workspace: w.name,
      commit: commit.hash.slice(0, 8),
      parents: commit.parents.map((one) => one.slice(0, 8)),
      path,
      expected: allowed,
      found: files.get(path),
      onto: onto.get(path),
      held: w.held.get(path),
    });
    requireRule(allowed.includes(files.get(path)), 'a push sent something else than its edits', details);
    if (!isEdited || !isOnTip || mayBeNone || w.isFuzzy) continue;
    const seen = [w.held.get(path), w.edits.get(path), ...(w.doubts.get(path) ?? [])];
    // Where all that arrived was changed since, the edits are those of the base again.
    if (hasForeign(world, w)) seen.push(world.history.filesOf(w.base).get(path));
    const isSeen = seen.includes(onto.get(path));
    requireRule(isSeen, 'a push replaced a change that its user had not seen', details);
  }
}

/** The content of a merge has the changes of both sides. */
function checkMerge(world: World, w: Workspace, { files, hash, parents }: ModelCommit): void {
  const [one, other] = parents;
  if (one === undefined || other === undefined) return;
  const { history } = world;
  const sides = [history.filesOf(one), history.filesOf(other)];
  for (const path of new Set([...files.keys(), ...sides.flatMap((side) => [...side.keys()])])) {
    if (other === w.merging?.commit && isDecided(world, w, one, path)) continue;
    const allowed = history.mergedAt(one, other, path);
    requireRule(allowed.includes(files.get(path)), 'a merge lacks a change of a parent', () => ({
      commit: hash.slice(0, 8),
      parents: parents.map((parent) => parent.slice(0, 8)),
      path,
      found: files.get(path),
      expected: allowed,
    }));
  }
}

/** Whether the user chose the content at the path, or the merge did when the base was another one. */
function isDecided({ history }: World, w: Workspace, base: string, path: string): boolean {
  const { base: former, commit, taken } = w.merging!;
  if (w.touched.has(path)) return true;
  if (former === base) return w.edits.has(path) && !taken.has(path);
  // What both sides had was nothing to merge, and the branch may have changed it since.
  const isSame = history.get(former).files.get(path) === history.get(commit).files.get(path);
  return isSame || w.edits.has(path) || taken.has(path);
}

/** @param tips The branch's commits that the push may have met. */
async function settlePush(
  world: World,
  w: Workspace,
  outcome: Outcome<PushSummary>,
  tips: readonly (string | undefined)[],
): Promise<void> {
  const { error, isMet, value } = outcome;
  const before = world.refs;
  world.refs = await readStoredRefs(world);
  checkOtherRefs(before, world.refs, `heads/${w.branch}`);
  const name = `heads/${w.branch}`;
  const tip = world.refs.get(name);
  const own = outcome.newCommits
    .map((hash) => world.history.get(hash))
    .filter(({ author }) => author === w.name);
  const isPublished = own.some(({ hash }) => world.history.isIn(hash, tip));
  if (value && value.failed === 0) {
    acceptPush(world, w, value, tips);
    return;
  }
  requireRule(error !== undefined, 'a push failed for some files', () => outcome.context.events);
  count(world, isMet ? 'push with a fault' : `push refused: ${error!.code} ${error!.data.reason ?? ''}`);
  if (isPublished) {
    requireRule(isMet, 'a push that failed has moved the branch', () => error!.message);
    const onBase = own.filter(({ parents }) => parents[0] === w.base).map(({ hash }) => hash);
    const commits = own.map(({ hash }) => hash);
    w.unconfirmed = { edits: w.edits, held: new Map(w.held), commits, onBase };
    w.held = new Map(diskOf(w));
    w.edits = new Map();
    w.uncertain.clear();
    count(world, 'push published without knowing it');
    return;
  }
  requireRule(
    w.base === stateOf(w).bases.origin || !isSettled(w),
    'a push that failed has a new base',
    () => w.name,
  );
  // It may have found that all of what arrived is here, before it failed.
  if (!w.unconfirmed && stateOf(w).bases.origin !== w.base && arrivingOf(w).length === 0) {
    w.arriving = new Set();
    settleOnBase(world, w);
  }
  if (isMet) return;
  const isExpected = tips.some(
    (one) => conflictsWith(world, w, one).length > 0 || mayConflict(world, w, one),
  );
  if (w.isDetached && w.edits.size > 0) return;
  if (error!.data.reason === 'mergePending' && tips.some((one) => mayWaitForPull(world, w, one))) return;
  requireRule(error!.code === 'conflict', 'a push failed', () => error!.message);
  requireRule(isExpected || !isSettled(w), 'a push was refused without a conflict', () => ({
    workspace: w.name,
    message: error!.message,
    edits: [...w.edits],
  }));
}

function checkOtherRefs(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  own: string,
): void {
  const others = differing(before, after).filter((name) => name !== own);
  // Another push runs at the same time, on a branch.
  const isStrange = (name: string) => !name.startsWith('heads/') || !before.has(name) || !after.has(name);
  requireRule(!others.some(isStrange), 'a command moved a ref that it did not name', () => others);
}

function acceptPush(
  world: World,
  w: Workspace,
  summary: PushSummary,
  tips: readonly (string | undefined)[],
): void {
  const { history } = world;
  const { commit } = summary;
  const base = stateOf(w).bases.origin;
  const hadArriving = w.arriving.size > 0;
  w.arriving = new Set(arrivingOf(w));
  if (summary.result === 'pushed') {
    // The branch may have been moved to that version: the workspace follows it again.
    const isLook = w.isDetached && !tips.includes(w.base);
    requireRule(!isLook, 'a push went on from a version that is only looked at', () => w.name);
    w.isDetached = false;
    requireRule(
      tips.every((one) => conflictsWith(world, w, one).length > 0) === false,
      'a push ended in spite of a conflict',
      () => ({ workspace: w.name, edits: [...w.edits] }),
    );
    requireRule(history.isIn(commit!, tipOf(world, w.branch)), 'a push is not on its branch', () => commit);
    count(world, summary.mergedWith ? 'push merged' : 'pushed');
    const { merging } = w;
    const isRecorded = merging?.kind !== 'merge' || history.isIn(merging.commit, commit!);
    requireRule(isRecorded, 'a push did not record the merge', () => ({ workspace: w.name, merging }));
    requireRule(pendingOf(w) === undefined, 'a merge is pending after its push', () => pendingOf(w));
    w.held = new Map(diskOf(w));
    w.edits = new Map();
    w.uncertain.clear();
    w.doubts.clear();
    w.unconfirmed = undefined;
    w.merging = undefined;
    w.touched.clear();
    if (w.arriving.size > 0) return;
    w.isFuzzy = false;
    w.base = base;
    checkBase(world, w);
    requireRule(!isReplaced(world, w), 'a push left a base that its branch does not have', () => w.name);
    return;
  }
  const theirs = history.filesOf(tipOf(world, w.branch));
  const mayBeNone = (path: string) => isUnseen(world, w, path) || isUncertain(world, w, path);
  const unsent = [...w.edits].filter(([path, to]) => theirs.get(path) !== to && !mayBeNone(path));
  requireRule(unsent.length === 0, 'a push has nothing to push, in spite of edits', () => ({
    workspace: w.name,
    unsent,
  }));
  const isLeftOut = w.merging?.kind === 'merge' && !history.isIn(w.merging.commit, tipOf(world, w.branch));
  requireRule(!isLeftOut, 'a push left a merge out', () => ({ workspace: w.name, merging: w.merging }));
  if (pendingOf(w) === undefined) w.merging = undefined;
  count(world, 'nothing to push');
  if (w.arriving.size === 0 && (hadArriving || stateOf(w).bases.origin !== w.base || w.unconfirmed))
    settleOnBase(world, w);
}

/** The engine may have found that what lies here is the branch's commit, or one of an earlier push. */
export function settleOnBase(world: World, w: Workspace): void {
  w.base = stateOf(w).bases.origin;
  const disk = diskOf(w);
  w.held = new Map(world.history.filesOf(w.base));
  const edits: Edits = new Map(differing(w.held, disk).map((path) => [path, disk.get(path)]));
  for (const [path, to] of edits)
    requireRule(
      w.edits.has(path) && w.edits.get(path) === to,
      'something that nobody edited counts as an edit',
      () => ({ workspace: w.name, path, to }),
    );
  w.edits = edits;
  w.uncertain.clear();
  w.doubts.clear();
  w.unconfirmed = undefined;
}

/** In a settled workspace all that is not an edit is as the base has it. */
export function checkBase(world: World, w: Workspace): void {
  const wrong = differing(w.held, world.history.filesOf(w.base));
  requireRule(wrong.length === 0, 'a workspace is based on another content than it holds', () => ({
    workspace: w.name,
    base: w.base,
    wrong,
  }));
}
