/** One random step after the other, and what must hold after each. */
import { mkdirSync } from 'node:fs';
import { log } from '../../../engine/jobs/history/log.ts';
import { initWorkspace } from '../../../engine/jobs/remotes/init.ts';
import { createSandbox, eventsOf } from '../../../engine/jobs/session/job.fixture.ts';
import { status } from '../../../engine/jobs/working-copy/status.ts';
import { createMemoryStore } from '../../../engine/remotes/memory/memory-store.fixture.ts';
import type { ObjectStore, RemoteKey } from '../../../engine/remotes/object-store.ts';
import { hashFromCommitKey } from '../../../engine/repository/keys.ts';
import { drawFrom } from '../../seeded-draw.ts';
import { outcomeOf } from './attempts.ts';
import { cloneOnce, type Decision, lookAt, NO_FAULT, pullOnce, switchTo } from './brings.ts';
import { editFiles, loseIndex, restorePaths, setFile } from './edits.ts';
import { differing } from './history-model.ts';
import { abortPending, mergeInto, revertCommit } from './merges.ts';
import { requireRule } from './model-fault.ts';
import { expectRefs, loseOrReturnRef, nameCommit, removeName, returnRef, switchToNew } from './names.ts';
import { conflictsWith, pushBoth, pushOnce } from './pushes.ts';
import { faultyStore, type RunFault } from './run-faults.ts';
import { settleWorkspace } from './settle.ts';
import {
  BRANCHES,
  checkDisk,
  checkKept,
  contextOf,
  count,
  createWorld,
  type Edits,
  type Feature,
  isSettled,
  PATHS,
  tipOf,
  type Workspace,
  type World,
} from './world.ts';

/** The stores that the engine opens in this process, by folder: the test mocks `openFileStore`. */
export const modelStores = new Map<string, ObjectStore>();

export interface ModelRun {
  readonly counts: ReadonlyMap<string, number>;
  readonly journal: readonly string[];
  /** What a step broke, and which. */
  readonly broken?: { readonly at: number; readonly error: unknown };
}

/** Runs these steps of the seed. Each draws by itself, so some can be left out. */
export async function runModel(
  seed: number,
  steps: readonly number[],
  features: ReadonlySet<Feature>,
): Promise<ModelRun> {
  using sandbox = createSandbox();
  const store = createMemoryStore();
  const world = createWorld({ seed, sandbox, store, features });
  const noteCommit = (key: RemoteKey) => {
    const hash = hashFromCommitKey(key);
    if (hash !== undefined) world.written.push(hash);
  };
  modelStores.set(sandbox.path('store'), faultyStore(store, noteCommit));
  let at = 0;
  try {
    await start(world);
    for (at of steps) await takeStep(world, at);
    at = Number.POSITIVE_INFINITY;
    await checkAll(world);
    return { counts: world.counts, journal: world.journal };
  } catch (error) {
    return { counts: world.counts, journal: world.journal, broken: { at, error } };
  } finally {
    modelStores.delete(sandbox.path('store'));
  }
}

async function start(world: World): Promise<void> {
  const [first, ...others] = world.workspaces;
  mkdirSync(first!.root);
  const layout = world.seed % 2 === 0 ? { layout: { kind: 'objects' } as const } : {};
  await initWorkspace(contextOf(first!), { remoteUrl: world.sandbox.path('store'), ...layout });
  first!.isAbsent = false;
  for (const path of PATHS.slice(0, 7)) setFile(world, first!, path, `first ${path}`);
  await pushOnce(world, first!, NO_FAULT);
  for (const w of others) await cloneOnce(world, w, 'main', NO_FAULT);
}

async function takeStep(world: World, at: number): Promise<void> {
  world.at = at;
  world.draw = drawFrom(world.seed * 1_000_003 + at * 7919);
  world.nextContent = 0;
  const { draw } = world;
  const w = draw.of(world.workspaces);
  const others = world.workspaces.filter((one) => one !== w && !one.isAbsent);
  // Who shares a branch meets more often.
  const near = others.filter((one) => one.branch === w.branch);
  const before = new Map(world.workspaces.map((one) => [one, new Map(one.edits)]));
  await act(world, w, draw.of(near.length > 0 && draw.chance(75) ? near : others));
  for (const one of world.workspaces) {
    checkDisk(one);
    if (differing(before.get(one)! as never, one.edits as never).length > 0)
      checkEditsKept(world, one, before.get(one)!);
  }
  if (!world.features.has('half') && !isSettled(w) && tipOf(world, w.branch)) await settleWorkspace(world, w);
  if (draw.chance(30)) await checkStatus(w);
  if (draw.chance(15)) await checkLog(world, w);
  if (at % 50 === 0) await checkAll(world);
}

/** The user's own edits of this step replaced earlier ones on purpose. */
function checkEditsKept(world: World, w: Workspace, before: Edits): void {
  if (
    world.journal.at(-1)?.startsWith(`${world.at}: ${w.name}: `) &&
    /: (rm|echo|clone) /.test(world.journal.at(-1)!)
  )
    return;
  checkKept(world, w, before);
}

/** What a person does next, more often what makes interesting histories. */
async function act(world: World, w: Workspace, other: Workspace | undefined): Promise<void> {
  const { draw } = world;
  if (w.isAbsent && branchesOf(world).length === 0) return;
  if (w.isAbsent) return await cloneOnce(world, w, draw.of(branchesOf(world)), fault(world, w, undefined));
  // Nobody looks at another version for long.
  if (w.isDetached && draw.chance(30)) return await switchSome(world, w);
  const weighted: (readonly [number, () => void | Promise<void>])[] = [
    [34, () => editFiles(world, w)],
    [22, () => pushSome(world, w)],
    [16, () => pullSome(world, w)],
    [7, () => switchSome(world, w)],
    [3, () => switchToNew(world, w)],
    [8, () => (other ? pushTogether(world, w, other) : undefined)],
    [4, () => restorePaths(world, w, fault(world, w, undefined))],
    [4, () => nameCommit(world, w)],
    [2, () => removeName(world, w)],
    [3, () => loseIndex(world, w)],
    [2, () => cloneSome(world, w)],
  ];
  if (world.features.has('lost')) weighted.push([3, () => loseOrReturnRef(world)]);
  if (world.features.has('look')) weighted.push([5, () => lookSome(world, w)]);
  if (world.features.has('merge'))
    weighted.push(
      [12, () => mergeSome(world, w)],
      [7, () => revertSome(world, w)],
      [w.merging ? 10 : 0, () => abortPending(world, w, fault(world, w, undefined))],
    );
  let left = draw.below(weighted.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, job] of weighted) {
    left -= weight;
    if (left < 0) return await job();
  }
}

function branchesOf(world: World): readonly string[] {
  return BRANCHES.filter((name) => tipOf(world, name) !== undefined);
}

async function pushSome(world: World, w: Workspace): Promise<void> {
  if (w.edits.size === 0 && world.draw.chance(80)) editFiles(world, w);
  const isLate = world.draw.chance(10);
  await pushOnce(world, w, isLate ? { kind: 'killedBehindRef' } : fault(world, w, undefined));
}

async function pushTogether(world: World, w: Workspace, other: Workspace): Promise<void> {
  for (const one of [w, other]) if (one.edits.size === 0) editFiles(world, one);
  await pushBoth(world, w, other);
}

async function pullSome(world: World, w: Workspace): Promise<void> {
  const { draw } = world;
  const conflicts = draw.of<Decision>(['stop', 'stop', 'ours', 'theirs', 'both']);
  const target = tipOf(world, w.branch);
  const decided = draw.chance(20) ? conflictsWith(world, w, target).filter(() => draw.chance(60)) : [];
  const decisions = Object.fromEntries(
    decided.map((path) => [path, draw.of(['ours', 'theirs', 'both'] as const)]),
  );
  await pullOnce(world, w, fault(world, w, target), { conflicts, decisions });
}

async function switchSome(world: World, w: Workspace): Promise<void> {
  const names = branchesOf(world);
  if (names.length === 0) return;
  const name = world.draw.of(names);
  await switchTo(world, w, name, fault(world, w, tipOf(world, name)));
}

async function mergeSome(world: World, w: Workspace): Promise<void> {
  const { draw, history, refs } = world;
  if (refs.size === 0) return;
  if ((w.isDetached || w.arriving.size > 0) && draw.chance(80)) return;
  // Mostly what is not here yet.
  const news = [...refs.values()].filter((hash) => w.base === undefined || !history.isIn(hash, w.base));
  const tip = draw.of(news.length > 0 && draw.chance(80) ? news : [...refs.values()]);
  const commit =
    w.merging?.kind === 'merge' && draw.chance(70)
      ? w.merging.commit
      : draw.chance(80)
        ? tip
        : draw.of([...history.ancestorsOf(tip)]);
  const conflicts = draw.of<Decision>(['stop', 'ours', 'theirs', 'both']);
  await mergeInto(world, w, { commit, conflicts, fault: fault(world, w, commit) });
}

async function revertSome(world: World, w: Workspace): Promise<void> {
  const { draw, history } = world;
  if (w.base === undefined) return;
  const commit =
    w.merging?.kind === 'revert' && draw.chance(70)
      ? w.merging.commit
      : draw.of([...history.ancestorsOf(w.base)]);
  const conflicts = draw.of<Decision>(['stop', 'ours', 'theirs', 'both']);
  await revertCommit(world, w, { commit, conflicts, fault: fault(world, w, commit) });
}

async function lookSome(world: World, w: Workspace): Promise<void> {
  const { draw, history, refs } = world;
  if (refs.size === 0) return;
  const target = draw.of([...history.ancestorsOf(draw.of([...refs.values()]))]);
  await lookAt(world, w, target, fault(world, w, target));
}

async function cloneSome(world: World, w: Workspace): Promise<void> {
  const names = branchesOf(world);
  if (names.length === 0) return;
  const name = world.draw.of(names);
  await cloneOnce(world, w, name, fault(world, w, tipOf(world, name)));
}

/** @param target The commit that the command brings. */
function fault(world: World, w: Workspace, target: string | undefined): RunFault {
  const { draw } = world;
  if (!draw.chance(35)) return NO_FAULT;
  const at = 1 + draw.below(draw.of([10, 25, 40, 80]));
  const kinds = ['killed', 'killed', 'stopped', 'unreachable', 'answerLost', 'diskFull'] as const;
  if (target === undefined || draw.chance(60)) return { kind: draw.of(kinds), at };
  if (draw.chance(50))
    return { kind: 'readOnly', folder: draw.of([w.root, `${w.root}/d`, `${w.root}/e`, `${w.root}/e/f`]) };
  return hidden(world, w, target);
}

/** Some of the objects that the command needs are missing for this run. */
function hidden(world: World, w: Workspace, target: string): RunFault {
  const { draw, history } = world;
  const paths = differing(w.held, history.filesOf(target));
  const keys = paths.flatMap((path) => world.keys.get(target)?.get(path) ?? []).filter(() => draw.chance(40));
  return keys.length === 0 ? NO_FAULT : { kind: 'hidden', keys: new Set(keys) };
}

async function checkStatus(w: Workspace): Promise<void> {
  if (w.isAbsent || !isSettled(w)) return;
  const { context, error } = await outcomeOf(contextOf(w), (given) => status(given, {}));
  requireRule(error === undefined, 'status failed', () => error!.message);
  const found = new Set<string>();
  for (const { fromPath, kind, path } of eventsOf(context, 'change')) {
    if (kind === 'folder') continue;
    found.add(path);
    if (fromPath !== undefined) found.add(fromPath);
  }
  const expected = new Set(
    [...w.edits].filter(([path, to]) => to !== w.held.get(path)).map(([path]) => path),
  );
  const wrong = [...new Set([...found, ...expected])].filter(
    (path) => !found.has(path) || !expected.has(path),
  );
  requireRule(wrong.length === 0, 'status shows other changes than the edits', () => ({
    workspace: w.name,
    shown: [...found],
    edits: [...w.edits],
  }));
}

async function checkLog(world: World, w: Workspace): Promise<void> {
  const { draw, history } = world;
  if (w.isAbsent || branchesOf(world).length === 0) return;
  const ref = draw.of(branchesOf(world));
  const path = draw.of(PATHS);
  const { context, error } = await outcomeOf(contextOf(w), (given) =>
    log(given, { ref, path: `${w.root}/${path}` }),
  );
  const found = new Set(eventsOf(context, 'commit').map(({ commit }) => commit));
  const expected = history.changing(tipOf(world, ref)!, path);
  requireRule(error === undefined || expected.size === 0, 'log of a path failed', () => error!.message);
  const wrong = [...found, ...expected].filter((hash) => !found.has(hash) || !expected.has(hash));
  requireRule(wrong.length === 0, 'log of a path names other commits than those that changed it', () => ({
    ref,
    path,
    found: [...found],
    expected: [...expected],
  }));
  if (expected.size > 0) count(world, 'log of a path');
}

/** Everybody pulls, and has what the branches have; a clone has it too. */
async function checkAll(world: World): Promise<void> {
  for (const name of [...world.lost.keys()]) await returnRef(world, name);
  await expectRefs(world, world.refs);
  for (const w of world.workspaces) {
    await settleWorkspace(world, w);
    await checkStatus(w);
  }
}
