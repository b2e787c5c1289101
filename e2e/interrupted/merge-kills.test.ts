/**
 * Kills a merge, and its `--abort`, before each of their changes to the file system. After each kill what the
 * user wrote is here or in the bin, a push records no part of a merge, and both ways on work: the same
 * command again, and `--abort`.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DrayError } from '../../engine/api/error.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { log } from '../../engine/jobs/history/log.ts';
import { merge } from '../../engine/jobs/merge/merge.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { switchBranch } from '../../engine/jobs/pull/switch.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import type { WorkspaceState } from '../../engine/workspace/workspace-folder.ts';
import { type Files, readTree } from '../partial/partial-files.ts';
import { createKeptStates, type KeptStates } from './kept-states.ts';
import { STEPS, sweepKills } from './killed-command.ts';

const STRIDE = runBudget({ short: 40, long: 1 });
const MINE = 'an edit of the user';
const OVERWRITTEN = 'an edit that the merge overwrites';

let sandbox: Sandbox;
let states: KeptStates;
let main: string;
let exp: string;
const user = () => testContext(sandbox.path('user'));
/** The user's files before the merge, and after it. */
const BEFORE = { a: '1', b: 'main', both: OVERWRITTEN, 'deep/er': '1', gone: '1', mine: MINE };
const AFTER = { a: '1', b: 'main', both: 'exp', 'deep/er': 'exp', 'exp.txt': 'exp', mine: MINE };

beforeAll(async () => {
  sandbox = createSandbox();
  states = createKeptStates(sandbox, ['store', 'user']);
  for (const path of ['a', 'b', 'both', 'gone', 'deep/er']) sandbox.write(`user/${path}`, '1');
  await initWorkspace(user(), { remoteUrl: sandbox.path('store') });
  await push(user(), {});
  await switchBranch(user(), { name: 'exp', create: true });
  for (const path of ['both', 'deep/er', 'exp.txt']) sandbox.write(`user/${path}`, 'exp');
  rmSync(sandbox.path('user/gone'));
  exp = (await push(user(), {})).commit!;
  await switchBranch(user(), { name: 'main' });
  sandbox.write('user/b', 'main');
  main = (await push(user(), {})).commit!;
  sandbox.write('user/mine', MINE);
  sandbox.write('user/both', OVERWRITTEN);
  states.keepAs('before');
  await merge(user(), { ref: 'exp', conflicts: 'theirs' });
  expect(filesOf('user')).toEqual(AFTER);
  states.keepAs('merged');
});
afterAll(() => sandbox?.[Symbol.dispose]());

function filesOf(name: string): Record<string, string> {
  const tree: Files = readTree(sandbox.path(name));
  return Object.fromEntries([...tree].sort());
}

function binContents(): readonly string[] {
  const bin = sandbox.path('user/.dray/kept');
  if (!existsSync(bin)) return [];
  return readdirSync(bin).flatMap((run) => [...readTree(join(bin, run, 'files')).values()]);
}

function pendingMerge(): NonNullable<WorkspaceState['merging']>[string] | undefined {
  const state = JSON.parse(readFileSync(sandbox.path('user/.dray/state.json'), 'utf8')) as WorkspaceState;
  return state.merging?.origin;
}

async function tip(): Promise<{ readonly commit: string; readonly parents: readonly string[] }> {
  const context = user();
  await log(context, { ref: 'main', limit: 1 });
  return eventsOf(context, 'commit')[0]!;
}

/** Each path is as before or as the merge has it, and what the user wrote is here or in the bin. */
function expectNothingLost(where: string): void {
  const files = filesOf('user');
  for (const path of new Set([...Object.keys(files), ...Object.keys(BEFORE), ...Object.keys(AFTER)])) {
    const known = [BEFORE, AFTER, { both: '1' }].map((one) => (one as Record<string, string>)[path]);
    expect(known, `${where}: ${path}`).toContain(files[path]);
  }
  expect(files.mine, where).toBe(MINE);
  expect([files.both, ...binContents()], where).toContain(OVERWRITTEN);
}

/** No part of a merge is pushed. */
async function expectNoPartPushed(where: string): Promise<void> {
  const pending = pendingMerge();
  if (!pending?.isUnfinished) return;
  const error = await push(user(), {}).catch((failure: unknown) => failure);
  expect(error, where).toBeInstanceOf(DrayError);
  expect(error, where).toMatchObject({ code: 'conflict' });
  expect(await tip(), where).toMatchObject({ commit: main });
}

async function expectPushed(where: string, { files, parents }: { files: object; parents: string[] }) {
  expect(await push(user(), {}), where).toMatchObject({ result: 'pushed', failed: 0 });
  expect(await tip(), where).toMatchObject({ parents });
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'read' });
  expect(filesOf('read'), where).toEqual(files);
  rmSync(sandbox.path('read'), { recursive: true });
  expect(await push(user(), {}), where).toMatchObject({ result: 'nothingToPush' });
}

/** The merge goes on by the same command, and is pushed whole. */
async function goOn(where: string): Promise<void> {
  const pending = pendingMerge();
  if (!pending || pending.isUnfinished)
    expect(await merge(user(), { ref: 'exp', conflicts: 'theirs' }), where).toMatchObject({ failed: 0 });
  expectNothingLost(where);
  expect(filesOf('user'), where).toEqual(AFTER);
  await expectPushed(where, { files: AFTER, parents: [main, exp] });
}

/** The merge is taken back, and the user's edits are pushed alone. */
async function takeBack(where: string): Promise<void> {
  if (pendingMerge()) expect(await merge(user(), { abort: true }), where).toMatchObject({ failed: 0 });
  expectNothingLost(where);
  const { both } = filesOf('user');
  expect([OVERWRITTEN, '1'], where).toContain(both);
  const files = { ...BEFORE, both };
  expect(filesOf('user'), where).toEqual(files);
  await expectPushed(where, { files, parents: [main] });
}

const { marked, stateWritten, unlocked, unmarked } = STEPS;
type Way = readonly [name: string, goOn: (where: string, kills: number) => Promise<void>];
const inTurn: Way = [
  'goes on or is taken back, in turn',
  (where, kills) => (kills % 2 ? goOn : takeBack)(where),
];
const WAYS = runBudget<readonly Way[]>({
  short: [inTurn],
  long: [
    ['goes on by the same command', goOn],
    ['is taken back', takeBack],
  ],
});

async function sweep(parameters: readonly string[], from: string, then: Way[1]): Promise<void> {
  const met = new Set<boolean | undefined>();
  await sweepKills({
    parameters,
    options: { cwd: sandbox.path('user') },
    stride: STRIDE,
    least: 1,
    important: [stateWritten, marked, unmarked, unlocked],
    begin: () => states.startFrom(from),
    check: async (where, kills) => {
      met.add(pendingMerge()?.isUnfinished);
      expectNothingLost(where);
      await expectNoPartPushed(where);
      await then(where, kills);
    },
  });
  expect(met, 'kills that left a part of a merge').toContain(true);
}

describe('Nothing is lost, and no part of a merge is pushed,', () => {
  it.each(WAYS)('when a merge is killed before a step and %s', (_, then) =>
    sweep(['merge', 'exp', '--theirs'], 'before', then),
  );

  it.each(WAYS)('when its abort is killed before a step and the merge %s', (_, then) =>
    sweep(['merge', '--abort'], 'merged', then),
  );
});
