/** Commands that bring a commit into a workspace: pull, switch, clone. */
import type { PullRequest, PullSummary } from '../../../engine/api/jobs/jobs.ts';
import { cloneWorkspace } from '../../../engine/jobs/pull/clone.ts';
import { pull } from '../../../engine/jobs/pull/pull.ts';
import { switchBranch } from '../../../engine/jobs/pull/switch.ts';
import type { Files } from '../../partial/partial-files.ts';
import { attempt, type Outcome } from './attempts.ts';
import { differing } from './history-model.ts';
import { requireRule } from './model-fault.ts';
import {
  checkBase,
  conflictsWith,
  describe,
  isTakenBack,
  isUncertain,
  mayConflict,
  refusedForLost,
  settleOnBase,
} from './pushes.ts';
import type { RunFault } from './run-faults.ts';
import {
  addDoubt,
  arrivingOf,
  checkDisk,
  count,
  diskOf,
  type Edits,
  isReplaced,
  isSettled,
  isWorkspace,
  note,
  pendingOf,
  removeTree,
  stateOf,
  tipOf,
  typedFor,
  type Workspace,
  type World,
} from './world.ts';

export type Decision = 'stop' | 'ours' | 'theirs' | 'both';

export const NO_FAULT: RunFault = { kind: 'none' };

interface Bringing {
  readonly target: string;
  readonly decide: (path: string) => Decision;
  readonly branch: string;
  readonly isDetached?: boolean;
  /** What a person typed. */
  readonly words: string;
}

export async function pullOnce(
  world: World,
  w: Workspace,
  fault: RunFault,
  { conflicts, decisions = {} }: Pick<PullRequest, 'decisions'> & { readonly conflicts: Decision },
): Promise<void> {
  const target = tipOf(world, w.branch);
  const wasReplaced = isReplaced(world, w);
  const request = { decisions, ...(conflicts === 'stop' ? {} : { conflicts }) };
  const outcome = await attempt(world, w, { fault }, (context) => pull(context, request));
  const words = `pull${conflicts === 'stop' ? '' : ` --${conflicts}`}${Object.keys(decisions).length > 0 ? ` ${JSON.stringify(decisions)}` : ''}`;
  note(world, `${w.name}: ${words}${describe(outcome, fault)}`);
  if (target === undefined || wasReplaced || isTakenBack(world, w, outcome))
    return refusedForLost(world, w, outcome, 'pull');
  const decide = (path: string) => decisions[path] ?? conflicts;
  settleBring(world, w, outcome, { target, decide, branch: w.branch, words: 'pull' });
}

/** `pull REF`: the workspace looks at another version. */
export async function lookAt(
  world: World,
  w: Workspace,
  target: string,
  fault: RunFault,
  conflicts: 'stop' | 'theirs' = 'stop',
): Promise<void> {
  const typed = typedFor(world, target);
  // The branch by its name is no choice of another version.
  const ref = typed === w.branch ? target : typed;
  const outcome = await attempt(world, w, { fault }, (context) => pull(context, { ref, conflicts }));
  note(world, `${w.name}: pull ${ref}${describe(outcome, fault)}`);
  // Somebody who follows the branch from behind goes on to do so.
  const isHere = w.base === target && !w.isDetached && !w.unconfirmed && w.arriving.size === 0;
  const isDetached = target !== tipOf(world, w.branch) && !isHere;
  settleBring(world, w, outcome, {
    ...{ target, isDetached, decide: () => conflicts, branch: w.branch },
    words: 'look',
  });
}

export async function switchTo(world: World, w: Workspace, name: string, fault: RunFault): Promise<void> {
  const isRefused = name === w.branch && isReplaced(world, w);
  const target = tipOf(world, name)!;
  const outcome = await attempt(world, w, { fault }, (context) => switchBranch(context, { name }));
  note(world, `${w.name}: switch ${name}${describe(outcome, fault)}`);
  if (isRefused || (name === w.branch && isTakenBack(world, w, outcome)))
    return refusedForLost(world, w, outcome, 'switch');
  settleBring(world, w, outcome, { target, decide: () => 'stop', branch: name, words: 'switch' });
}

/** In the workspace's place, which is emptied first; or where an earlier clone did not end. */
export async function cloneOnce(world: World, w: Workspace, branch: string, fault: RunFault): Promise<void> {
  const target = tipOf(world, branch)!;
  const before = stateIfThere(w);
  const isResumed = before !== undefined && before.bases.origin === undefined;
  if (!isResumed) {
    removeTree(w);
    Object.assign(w, {
      held: new Map(),
      edits: new Map(),
      base: undefined,
      branch,
      unconfirmed: undefined,
      unknown: undefined,
      isFuzzy: false,
      isDetached: false,
      merging: undefined,
    });
    w.uncertain.clear();
    w.doubts.clear();
    w.touched.clear();
    w.arriving = new Set();
  }
  const request = { url: world.sandbox.path('store'), directory: w.root, ref: branch };
  const options = { fault, directory: world.sandbox.folder };
  const outcome = await attempt(world, w, options, (context) => cloneWorkspace(context, request));
  note(world, `${w.name}: clone ${branch}${describe(outcome, fault)}`);
  w.isAbsent = !isWorkspace(w);
  if (w.isAbsent) {
    requireRule(outcome.isMet, 'a clone left nothing', () => outcome.error?.message);
    count(world, 'clone left nothing');
    return;
  }
  settleBring(world, w, outcome, { target, decide: () => 'stop', branch, words: 'clone' });
}

function stateIfThere(w: Workspace): ReturnType<typeof stateOf> | undefined {
  return isWorkspace(w) ? stateOf(w) : undefined;
}

export function settleBring(
  world: World,
  w: Workspace,
  outcome: Outcome<PullSummary>,
  bringing: Bringing,
): void {
  const { error, isMet, value } = outcome;
  const { decide, target, words } = bringing;
  if (isBlocked(w, words) && (outcome.error || !w.unconfirmed)) {
    refusedForLost(world, w, outcome, words);
    return;
  }
  requireRule(outcome.newCommits.length === 0, `a ${words} wrote a commit`, () => outcome.newCommits);
  const met = conflictsWith(world, w, target);
  const isStopped = met.some((path) => decide(path) === 'stop');
  const isUpToDate = w.base === target && isSettled(w);
  if (value?.failed === 0) {
    const isExpected = !isStopped || isUpToDate || w.isFuzzy;
    requireRule(isExpected, `a ${words} ended in spite of a conflict`, () => ({ workspace: w.name, met }));
    count(world, met.length > 0 ? `${words} decided` : words);
    acceptCommit(world, w, value, { ...bringing, isUpToDate });
    return;
  }
  if (isMet) {
    count(world, `${words} did not end`);
    takeArrived(world, w, { ...bringing, isCut: value === undefined });
    return;
  }
  requireRule(value === undefined, `a ${words} failed for some files`, () => ({
    workspace: w.name,
    events: outcome.context.events,
  }));
  requireRule(error?.code === 'conflict', `a ${words} failed`, () => error?.message);
  requireRule(
    isStopped || mayConflict(world, w, target),
    `a ${words} was refused without a conflict`,
    () => ({
      workspace: w.name,
      message: error?.message,
      edits: [...w.edits],
    }),
  );
  count(world, `${words} refused`);
  checkDisk(w);
}

/** A merge is not whole yet, or would not be any more. */
function isBlocked({ merging }: Workspace, words: string): boolean {
  if (!merging || words === 'switch -c' || words === 'clone') return false;
  return merging.isUnfinished === true || words !== 'pull';
}

/** The workspace has all of the commit, and the edits that no decision gave up. */
function acceptCommit(
  world: World,
  w: Workspace,
  summary: PullSummary,
  {
    branch,
    decide,
    isDetached = false,
    isUpToDate,
    target,
    words,
  }: Bringing & { readonly isUpToDate: boolean },
): void {
  const theirs = world.history.filesOf(target);
  const disk = diskOf(w);
  const conflictsMet = new Set(isUpToDate ? [] : conflictsWith(world, w, target));
  if (!isUpToDate) {
    const unclear = unclearPaths(world, w);
    const edits = editsAfter(w, theirs, { met: conflictsMet, decide, disk, unclear });
    for (const { copy, path } of summary.copies ?? []) {
      requireRule(w.edits.get(path) === disk.get(copy), 'a copy has other content than the edit', () => ({
        path,
        copy,
      }));
      edits.set(copy, disk.get(copy));
      w.touched.add(copy);
    }
    w.edits = edits;
    w.held = new Map(theirs);
    w.uncertain.clear();
    w.doubts.clear();
  }
  for (const path of conflictsMet) w.touched.add(path);
  w.base = target;
  w.branch = branch;
  w.isDetached = isDetached;
  w.arriving = new Set();
  w.unconfirmed = undefined;
  w.isFuzzy = false;
  checkDisk(w);
  const { bases, branch: named } = stateOf(w);
  requireRule(bases.origin === target, `a ${words} that ended has another base`, () => ({
    workspace: w.name,
    target,
    bases,
  }));
  requireRule(named === branch, `a ${words} that ended is on another branch`, () => named);
  checkBase(world, w);
  settlePending(world, w);
}

/** The base may have the merged commit by now. */
function settlePending(world: World, w: Workspace): void {
  const { merging } = w;
  if (!merging) return;
  const isPending = pendingOf(w) !== undefined;
  const isThere = merging.kind === 'merge' && world.history.isIn(merging.commit, w.base);
  requireRule(isPending !== isThere, 'a merge is pending, or is not', () => ({
    workspace: w.name,
    merging,
    isThere,
  }));
  if (!isPending) w.merging = undefined;
}

interface Deciding {
  readonly met: ReadonlySet<string>;
  readonly decide: (path: string) => Decision;
  readonly disk: Files;
  readonly unclear: ReadonlySet<string>;
}

/** Edits that may count as none, or be based on something else. */
function unclearPaths(world: World, w: Workspace): ReadonlySet<string> {
  const isUnclear = (path: string) => w.isFuzzy || w.doubts.has(path) || isUncertain(world, w, path);
  return new Set([...w.edits.keys()].filter(isUnclear));
}

/** With `both`, the only version of a file that one side deleted stays. */
function isKeptOurs(decision: Decision, its: string | undefined): boolean {
  return decision === 'ours' || (decision === 'both' && its === undefined);
}

/** The edits that are left when the commit has come. */
function editsAfter(w: Workspace, theirs: Files, { decide, disk, met, unclear }: Deciding): Edits {
  const edits: Edits = new Map();
  for (const [path, to] of w.edits) {
    const its = theirs.get(path);
    if (to === its) continue;
    const isUnclear = unclear.has(path);
    if (isUnclear && disk.get(path) === its) continue;
    const side = met.has(path) ? decide(path) : 'ours';
    if (isUnclear || side === 'ours' || (side === 'both' && its === undefined)) edits.set(path, to);
  }
  return edits;
}

/** Each path is as it was, or as the commit has it. No edit has changed, unless it was given up. */
function takeArrived(
  world: World,
  w: Workspace,
  { decide, isCut, target, words }: Bringing & { readonly isCut: boolean },
): void {
  const theirs = world.history.filesOf(target);
  const disk = diskOf(w);
  const met = new Set(conflictsWith(world, w, target));
  const before = new Map(w.edits);
  const unclear = unclearPaths(world, w);
  const kept: string[] = [];
  let hasChanged = false;
  for (const path of new Set([...theirs.keys(), ...disk.keys(), ...w.held.keys(), ...before.keys()])) {
    const now = disk.get(path);
    const its = theirs.get(path);
    const details = () => ({
      workspace: w.name,
      path,
      now,
      held: w.held.get(path),
      edit: before.get(path),
      its,
    });
    if (!before.has(path)) {
      if (now !== undefined && isCopyOf(path, now, before)) {
        w.edits.set(path, now);
        w.touched.add(path);
        continue;
      }
      requireRule(
        now === w.held.get(path) || now === its,
        `a ${words} that did not end left something else`,
        details,
      );
      hasChanged ||= now !== w.held.get(path);
      // Its row may not have been saved: a later edit is then based on what was here.
      if (isCut && now !== w.held.get(path)) addDoubt(w, path, w.held.get(path));
      setOrDelete(w.held, path, now);
      continue;
    }
    const to = before.get(path);
    if (now === to) {
      if (its === to) w.uncertain.add(path);
      else if (met.has(path) && isKeptOurs(decide(path), its)) kept.push(path);
      continue;
    }
    const isGivenUp = met.has(path) && decide(path) !== 'ours' && decide(path) !== 'stop';
    requireRule(
      (isGivenUp || unclear.has(path)) && now === its,
      `a ${words} that did not end changed an edit`,
      details,
    );
    w.edits.delete(path);
    w.uncertain.delete(path);
    w.doubts.delete(path);
    w.touched.add(path);
    setOrDelete(w.held, path, now);
    hasChanged = true;
  }
  const { bases, branch, detached } = stateOf(w);
  const wasArriving = w.arriving.size > 0;
  w.arriving = new Set(arrivingOf(w));
  // The effect may be there, and the command ended without knowing it.
  if (bases.origin === target && w.arriving.size === 0) {
    Object.assign(w, {
      base: target,
      branch,
      isDetached: detached?.origin !== undefined,
      isFuzzy: false,
      unconfirmed: undefined,
    });
    const missing = differing(w.held, theirs).filter((one) => !w.edits.has(one));
    requireRule(
      missing.length === 0,
      `a ${words} that did not end has taken the whole commit for arrived`,
      () => missing,
    );
    settleOnBase(world, w);
    return;
  }
  // The decision may be kept.
  if (w.arriving.size > 0) for (const path of kept) addDoubt(w, path, theirs.get(path));
  const isRecorded = w.arriving.size > 0 || !hasChanged;
  requireRule(isRecorded, `files of a ${words} came before it was recorded`, () => w.name);
  if (wasArriving && w.arriving.size === 0) settleOnBase(world, w);
  if (hasChanged) count(world, 'left half of a commit');
}

function isCopyOf(path: string, content: string, edits: Edits): boolean {
  return / \(mine, /.test(path) && [...edits.values()].includes(content);
}

function setOrDelete(files: Map<string, string>, path: string, content: string | undefined): void {
  if (content === undefined) files.delete(path);
  else files.set(path, content);
}
