/**
 * Kills a clone before each of its changes to the file system in turn. The same command, run again, then
 * succeeds and leaves the same workspace as a clone that was never killed.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { runWhole, STEPS, sweepKills } from './killed-command.ts';

/** The clone is killed before every so many steps, and before the important ones. */
const STRIDE = runBudget({ short: 13, long: 1 });

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox();
  const work = sandbox.path('work');
  sandbox.write('work/a', 'one');
  sandbox.write('work/b/c', 'two');
  sandbox.write('work/large', Buffer.alloc(2_000_000, 'large'));
  await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store') });
  await push(testContext(work), {});
});
afterAll(() => sandbox?.[Symbol.dispose]());

const clone = () => ['clone', sandbox.path('store'), sandbox.path('copy')];

async function expectWhole(): Promise<void> {
  const copy = sandbox.path('copy');
  expect(describeTree(copy)).toEqual(describeTree(sandbox.path('work')));
  const { branch, changes } = await status(testContext(copy), {});
  expect({ branch, ...changes }).toMatchObject({ branch: 'main', added: 0, modified: 0, deleted: 0 });
  // A killed run's marker that its files were not synced is kept for a week.
  const left = readdirSync(sandbox.path('copy/.dray/tmp')).filter((name) => !name.startsWith('unsynced-'));
  expect(left).toEqual([]);
}

describe('A clone', () => {
  it('that is killed before a step completes when it runs again', async () => {
    await runWhole(clone());
    await expectWhole();
    const { marked, stateWritten, unlocked, unmarked } = STEPS;
    await sweepKills({
      parameters: clone(),
      stride: STRIDE,
      least: 2,
      important: [stateWritten, /^mkdir .*\/copy\/b$/, marked, unmarked, unlocked],
      begin: () => rmSync(sandbox.path('copy'), { recursive: true, force: true }),
      check: async (where) => {
        const request = { url: sandbox.path('store'), directory: sandbox.path('copy') };
        const again = await cloneWorkspace(testContext(sandbox.folder), request);
        expect(again, where).toMatchObject({ failed: 0 });
        await expectWhole();
      },
    });
  });

  it('that was killed after its last step is up to date when it runs again', async () => {
    rmSync(sandbox.path('copy'), { recursive: true, force: true });
    await runWhole(clone());
    writeFileSync(sandbox.path('copy/mine'), 'an edit');
    const again = await runWhole(clone());
    expect(again.stdout).toContain('up to date');
    expect(readFileSync(sandbox.path('copy/mine'), 'utf8')).toBe('an edit');
  });
});

describe('A clone into an existing folder', () => {
  it('that is a workspace of another branch or URL is refused and changes nothing', async () => {
    const request = { url: sandbox.path('store'), directory: sandbox.path('elsewhere') };
    await cloneWorkspace(testContext(sandbox.folder), request);
    const statePath = sandbox.path('elsewhere/.dray/state.json');
    const state = readFileSync(statePath, 'utf8')
      .replace('"main"', '"other"')
      .replace(/[0-9a-f]{64}/, '0'.repeat(64));
    writeFileSync(statePath, state);
    const refused = { code: 'workspaceExists' };
    await expect(cloneWorkspace(testContext(sandbox.folder), request)).rejects.toMatchObject(refused);
    expect(readFileSync(statePath, 'utf8')).toBe(state);
    sandbox.write('work2/a', 'x');
    const work2 = sandbox.path('work2');
    await initWorkspace(testContext(work2), { remoteUrl: sandbox.path('store2') });
    await push(testContext(work2), {});
    const other = { ...request, url: sandbox.path('store2') };
    await expect(cloneWorkspace(testContext(sandbox.folder), other)).rejects.toMatchObject(refused);
  });

  it('is refused when an unfinished .dray there holds a foreign file', async () => {
    sandbox.write('taken/.dray/notes', 'mine');
    const request = { url: sandbox.path('store'), directory: sandbox.path('taken') };
    await expect(cloneWorkspace(testContext(sandbox.folder), request)).rejects.toMatchObject({
      code: 'usage',
    });
    expect(readFileSync(sandbox.path('taken/.dray/notes'), 'utf8')).toBe('mine');
  });
});
