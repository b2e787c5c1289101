/**
 * Kills a pull, and a push after a pull that did not end, before each of their changes to the file system.
 * Then others undo a part of what arrived. A push of the user sends the user's edits alone, nothing is a
 * conflict, and the next pull ends in the branch's tree.
 */
import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { readBeginnings } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { createKeptStates, type KeptStates } from './kept-states.ts';
import { STEPS, sweepKills } from './killed-command.ts';

const STRIDE = runBudget({ short: 8, long: 1 });

let sandbox: Sandbox;
let states: KeptStates;
/** The objects that the store has since the second commit: the content of `large`. */
let large: string;
beforeAll(async () => {
  sandbox = createSandbox();
  states = createKeptStates(sandbox, ['store', 'user', 'other']);
  const other = testContext(sandbox.path('other'));
  for (const name of ['a', 'b', 'gone', 'deep/er']) sandbox.write(`other/${name}`, '1');
  await initWorkspace(other, { remoteUrl: sandbox.path('store') });
  await push(other, {});
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'user' });
  sandbox.write('other/a', '2');
  sandbox.write('other/deep/er', '2');
  sandbox.write('other/x', 'x');
  rmSync(sandbox.path('other/gone'));
  sandbox.write('other/large', Buffer.alloc(1_500_000, 'large'));
  await push(other, {});
  const objects = readdirSync(sandbox.path('store/objects'), { recursive: true, withFileTypes: true });
  large = objects.filter((item) => item.isFile()).map((item) => join(item.parentPath, item.name))[0]!;
  states.keepAs('fresh');
  renameSync(large, sandbox.path('large'));
  expect(await pull(testContext(sandbox.path('user')), {})).toMatchObject({ failed: 1 });
  states.keepAs('half');
});
afterAll(() => sandbox?.[Symbol.dispose]());

const user = () => testContext(sandbox.path('user'));

/** Others take back a part of the second commit, and the user pushes an edit of something else. */
async function expectOnlyTheEdit(where: string): Promise<void> {
  sandbox.write('other/a', '1');
  rmSync(sandbox.path('other/x'));
  sandbox.write('other/gone', '1');
  await push(testContext(sandbox.path('other')), {});
  sandbox.write('user/b', 'mine');
  expect(await push(user(), {}), where).toMatchObject({
    result: 'pushed',
    changes: { modified: 1, added: 0 },
  });
  cpSync(sandbox.path('kept/fresh/store/objects'), sandbox.path('store/objects'), { recursive: true });
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'read' });
  const wanted = { a: '1', b: 'mine', 'deep/er': '2', gone: '1', large: 'largelarge' };
  expect(readBeginnings(sandbox.path('read')), where).toEqual(wanted);
  rmSync(sandbox.path('read'), { recursive: true });
  expect(await pull(user(), {}), where).toMatchObject({ failed: 0, decided: 0 });
  expect(readBeginnings(sandbox.path('user')), where).toEqual(wanted);
  expect(await push(user(), {}), where).toMatchObject({ result: 'nothingToPush' });
}

const { branchMoved, marked, stateWritten, unlocked, unmarked } = STEPS;

describe('What has arrived is never an edit', () => {
  it.each(['fresh', 'half'])('after a pull that is killed before a step, from a %s workspace', (from) =>
    sweepKills({
      parameters: ['pull'],
      options: { cwd: sandbox.path('user') },
      stride: STRIDE,
      least: 2,
      important: [stateWritten, marked, unmarked, unlocked],
      begin: () => {
        states.startFrom(from);
        if (from === 'half') cpSync(sandbox.path('large'), large);
      },
      check: expectOnlyTheEdit,
    }),
  );

  it('after a push over it that is killed before a step, and what was pushed is no conflict', () =>
    sweepKills({
      parameters: ['push'],
      options: { cwd: sandbox.path('user') },
      stride: STRIDE,
      least: 2,
      important: [branchMoved, stateWritten, unlocked],
      begin: () => {
        states.startFrom('half');
        sandbox.write('user/deep/er', 'edited');
        sandbox.write('user/own', 'own');
      },
      check: async (where) => {
        sandbox.write('user/deep/er', 'edited again');
        expect(await push(user(), {}), where).toMatchObject({ failed: 0 });
        cpSync(sandbox.path('large'), large);
        expect(await pull(user(), {}), where).toMatchObject({ failed: 0, decided: 0 });
        const wanted = { a: '2', b: '1', 'deep/er': 'edited aga', large: 'largelarge', own: 'own', x: 'x' };
        expect(readBeginnings(sandbox.path('user')), where).toEqual(wanted);
        await pull(testContext(sandbox.path('other')), {});
        expect(readBeginnings(sandbox.path('other')), where).toEqual(wanted);
      },
    }));
});
