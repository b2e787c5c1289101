/** `dray merge` and `dray revert`, which change the workspace by a three-way merge, and their `--abort`. */
import type { MergeRequest, MergeSummary } from '../../../engine/api/jobs/merge.ts';
import { merge } from '../../../engine/jobs/merge/merge.ts';
import { revert } from '../../../engine/jobs/merge/revert.ts';
import type { Files } from '../../partial/partial-files.ts';
import { attempt, type Outcome } from './attempts.ts';
import type { Decision } from './brings.ts';
import { requireRule } from './model-fault.ts';
import { describe, isUncertain } from './pushes.ts';
import type { RunFault } from './run-faults.ts';
import {
  checkDisk,
  count,
  diskOf,
  note,
  type Pending,
  pendingOf,
  setEdit,
  stateOf,
  tipOf,
  typedFor,
  type Workspace,
  type World,
} from './world.ts';

/** What is merged: the other side, and what both come from. Several where histories were merged crosswise. */
interface ThreeWay {
  readonly bases: readonly Files[];
  readonly theirs: Files;
}

export async function mergeInto(
  world: World,
  w: Workspace,
  { commit, conflicts, fault }: { commit: string; conflicts: Decision; fault: RunFault },
): Promise<void> {
  const { history } = world;
  if (w.base === undefined) return;
  const ref = typedFor(world, commit);
  const request: MergeRequest = { ref, ...(conflicts === 'stop' ? {} : { conflicts }) };
  const outcome = await attempt(world, w, { fault }, (context) => merge(context, request));
  note(
    world,
    `${w.name}: merge ${ref}${conflicts === 'stop' ? '' : ` --${conflicts}`}${describe(outcome, fault)}`,
  );
  const pending: Pending = { kind: 'merge', commit, base: w.base, taken: new Set() };
  const isOwn = ref === w.branch || commit === tipOf(world, w.branch);
  if (isOwn || mayNotMerge(w, pending)) return refusedMerge(world, w, outcome, 'merge');
  if (history.isIn(commit, w.base)) {
    requireRule(
      outcome.isMet || outcome.value?.result === 'upToDate',
      'a merge of what is there did something',
      () => ref,
    );
    count(world, 'merge of what is there');
    return checkDisk(w);
  }
  const bases = history.mergeBases(w.base, commit).map((hash) => history.filesOf(hash));
  const sides = {
    bases: bases.length === 0 ? [history.filesOf(undefined)] : bases,
    theirs: history.filesOf(commit),
  };
  settleMerge(world, w, outcome, { pending, sides, conflicts });
}

export async function revertCommit(
  world: World,
  w: Workspace,
  { commit, conflicts, fault }: { commit: string; conflicts: Decision; fault: RunFault },
): Promise<void> {
  const { draw, history } = world;
  if (w.base === undefined) return;
  const ref = typedFor(world, commit);
  const { files, parents } = history.get(commit);
  const isAgain = w.merging?.isUnfinished && w.merging.commit === commit && w.merging.kind === 'revert';
  const drawn = parents.length > 1 ? 1 + draw.below(parents.length) : undefined;
  const parent = isAgain ? w.merging!.parent : drawn;
  const request = {
    ref,
    ...(conflicts === 'stop' ? {} : { conflicts }),
    ...(parent === undefined ? {} : { parent }),
  };
  const outcome = await attempt(world, w, { fault }, (context) => revert(context, request));
  note(
    world,
    `${w.name}: revert ${ref}${parent === undefined ? '' : ` --parent ${parent}`}${describe(outcome, fault)}`,
  );
  const before = parents[(parent ?? 1) - 1];
  const pending: Pending = { kind: 'revert', commit, parent, base: w.base, taken: new Set() };
  if (mayNotMerge(w, pending)) return refusedMerge(world, w, outcome, 'revert');
  settleMerge(world, w, outcome, {
    pending,
    sides: { bases: [files], theirs: history.filesOf(before) },
    conflicts,
  });
}

/** Another one is pending, or the files are not those of a commit of the branch. */
function mayNotMerge(w: Workspace, { commit, kind }: Pending): boolean {
  const { merging } = w;
  const isSame = merging?.isUnfinished && merging.commit === commit && merging.kind === kind;
  return (merging !== undefined && !isSame) || w.isDetached || w.arriving.size > 0;
}

function refusedMerge(world: World, w: Workspace, outcome: Outcome<MergeSummary>, words: string): void {
  requireRule(outcome.error !== undefined, `a ${words} was not refused`, () => w.name);
  count(world, `${words} not possible`);
  checkDisk(w);
}

interface Plan {
  /** What a path gets of theirs. */
  readonly taken: ReadonlyMap<string, string | undefined>;
  readonly conflicts: ReadonlySet<string>;
}

function planOf(disk: Files, { bases, theirs }: ThreeWay): Plan {
  const taken = new Map<string, string | undefined>();
  const conflicts = new Set<string>();
  for (const path of new Set([
    ...disk.keys(),
    ...theirs.keys(),
    ...bases.flatMap((base) => [...base.keys()]),
  ])) {
    const [ours, its] = [disk.get(path), theirs.get(path)];
    const olds = new Set(bases.map((base) => base.get(path)));
    if (ours === its) continue;
    if (olds.size > 1) conflicts.add(path);
    else if (olds.has(ours)) taken.set(path, its);
    else if (!olds.has(its)) conflicts.add(path);
  }
  return { taken, conflicts };
}

interface Merging {
  readonly pending: Pending;
  readonly sides: ThreeWay;
  readonly conflicts: Decision;
}

function settleMerge(
  world: World,
  w: Workspace,
  outcome: Outcome<MergeSummary>,
  { conflicts: decision, pending, sides }: Merging,
): void {
  const { error, isMet, value } = outcome;
  const { kind } = pending;
  requireRule(outcome.newCommits.length === 0, `a ${kind} wrote a commit`, () => outcome.newCommits);
  const { conflicts, taken } = planOf(diskBefore(w), sides);
  const isStopped = conflicts.size > 0 && decision === 'stop';
  const after = new Map(taken);
  for (const path of conflicts)
    if (takesTheirs(w, sides, decision, path)) after.set(path, sides.theirs.get(path));
  if (value?.failed === 0) {
    requireRule(!isStopped, `a ${kind} ended in spite of a conflict`, () => [...conflicts]);
    for (const { copy } of value.copies ?? []) touch(w, copy, diskOf(w).get(copy));
    for (const [path, content] of after) setEdit(w, path, content);
    for (const path of conflicts) w.touched.add(path);
    w.merging = { ...pending, taken: new Set(taken.keys()) };
    count(world, conflicts.size > 0 ? `${kind} decided` : kind);
    checkDisk(w);
    const state = stateOf(w).merging?.origin;
    requireRule(
      state?.commit === pending.commit && !state.isUnfinished,
      `a ${kind} is not recorded`,
      () => state,
    );
    return;
  }
  if (isMet) {
    takeMerged(w, { after, pending: { ...pending, taken: new Set(taken.keys()) } });
    for (const path of conflicts) w.touched.add(path);
    count(world, `${kind} did not end`);
    return;
  }
  requireRule(value === undefined, `a ${kind} failed for some files`, () => outcome.context.events);
  requireRule(error?.code === 'conflict' && isStopped, `a ${kind} was refused without a conflict`, () => ({
    message: error?.message,
    conflicts: [...conflicts],
  }));
  count(world, `${kind} refused`);
  checkDisk(w);
}

/** The model's own: the command has run already. */
function diskBefore(w: Workspace): Files {
  const files = new Map(w.held);
  for (const [path, content] of w.edits)
    content === undefined ? files.delete(path) : files.set(path, content);
  return files;
}

/** With `both`, the only version of a file that one side deleted stays. */
function takesTheirs(w: Workspace, { theirs }: ThreeWay, decision: Decision, path: string): boolean {
  if (decision !== 'both') return decision === 'theirs';
  return theirs.has(path) || !diskBefore(w).has(path);
}

function touch(w: Workspace, path: string, content: string | undefined): void {
  setEdit(w, path, content);
  w.touched.add(path);
}

/** Each path is as it was, or as the merge leaves it. */
function takeMerged(
  w: Workspace,
  { after, pending }: { readonly after: ReadonlyMap<string, string | undefined>; readonly pending: Pending },
): void {
  const before = diskBefore(w);
  const disk = diskOf(w);
  for (const path of new Set([...before.keys(), ...disk.keys()])) {
    const [was, now] = [before.get(path), disk.get(path)];
    if (was === now) continue;
    const isCopy = / \(mine, /.test(path) && now !== undefined;
    requireRule(
      isCopy || (after.has(path) && after.get(path) === now),
      `a ${pending.kind} that did not end left something else`,
      () => ({ path, was, now }),
    );
    if (isCopy) touch(w, path, now);
    else setEdit(w, path, now);
  }
  const state = pendingOf(w);
  const hasChanged = [...new Set([...before.keys(), ...disk.keys()])].some(
    (path) => before.get(path) !== disk.get(path),
  );
  const isNamed = state?.commit === pending.commit && state.kind === pending.kind;
  requireRule(isNamed || !hasChanged, `a ${pending.kind} changed files before it was recorded`, () => state);
  if (isNamed) w.merging = { ...pending, isUnfinished: state.isUnfinished === true };
}

/** @param isNeeded Also where the model does not know what each edit is based on. */
export async function abortPending(
  world: World,
  w: Workspace,
  fault: RunFault,
  isNeeded = false,
): Promise<void> {
  const { merging } = w;
  if (!merging || w.base === undefined || (!isNeeded && (w.unconfirmed || w.isFuzzy))) return;
  const { commit, kind, parent } = merging;
  const job = kind === 'merge' ? merge : revert;
  const outcome = await attempt(world, w, { fault }, (context) => job(context, { abort: true }));
  note(world, `${w.name}: ${kind} --abort${describe(outcome, fault)}`);
  const { history } = world;
  const source = history.filesOf(kind === 'merge' ? commit : history.get(commit).parents[(parent ?? 1) - 1]);
  const back = [...w.edits].filter(([path, to]) => source.get(path) === to).map(([path]) => path);
  const disk = diskOf(w);
  const { error, isMet, value } = outcome;
  if (value?.failed === 0) {
    for (const path of back) takeBackAt(world, w, path, disk.get(path));
    w.merging = undefined;
    count(world, `${kind} aborted`);
  } else {
    requireRule(isMet, `a ${kind} cannot be aborted`, () => error?.message ?? outcome.context.events);
    for (const path of back) if (disk.get(path) === w.held.get(path)) setEdit(w, path, w.held.get(path));
    count(world, `${kind} --abort did not end`);
    const state = pendingOf(w);
    w.merging = state ? { ...merging, isUnfinished: state.isUnfinished === true } : undefined;
  }
  checkDisk(w);
}

/** It is as its edit was based on, which may be unclear while a commit arrives. */
function takeBackAt(world: World, w: Workspace, path: string, now: string | undefined): void {
  const { doubts, edits, held } = w;
  const allowed = [held.get(path), ...(doubts.get(path) ?? [])];
  if (w.isFuzzy || isUncertain(world, w, path)) allowed.push(edits.get(path));
  if (w.isFuzzy) allowed.push(world.history.filesOf(w.base).get(path));
  requireRule(allowed.includes(now), 'a merge was not taken back', () => ({ path, now, allowed }));
  setEdit(w, path, now);
}
