import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { forgeCommit } from '../session/damage.fixture.ts';
import { asNobody, createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { openSession } from '../session/open-workspace.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { refreshIndex } from './refresh-index.ts';
import { status } from './status.ts';

let sandbox: Sandbox;
let work: string;
beforeEach(async () => {
  sandbox = createSandbox();
  work = sandbox.path('work');
  mkdirSync(work);
  await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store') });
});
afterEach(() => sandbox[Symbol.dispose]());

async function scanned() {
  using session = await openSession(testContext(work), 'status');
  return await refreshIndex(session);
}

describe('a scan', () => {
  it.skipIf(process.platform === 'win32')(
    'keeps everything known below a folder that can be listed but not entered (not on Windows)',
    async () => {
      for (const name of ['closed/file', 'closed/sub/x', 'closed/sub/deeper/y', 'closed-too', 'open'])
        sandbox.write(`work/${name}`, name);
      mkdirSync(`${work}/closed/empty`);
      await push(testContext(work), {});
      await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'before' });
      sandbox.write('work/open', 'changed');
      chmodSync(`${work}/closed`, 0o644);
      const context = testContext(work);
      try {
        const pushed = await asNobody(sandbox, () => push(context, {}));
        expect(pushed).toMatchObject({ result: 'pushed', failed: 3, changes: { modified: 1, deleted: 0 } });
      } finally {
        chmodSync(`${work}/closed`, 0o755);
      }
      expect(eventsOf(context, 'fileFailed').map(({ path }) => path)).toEqual([
        'closed/empty',
        'closed/file',
        'closed/sub',
      ]);
      await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'after' });
      expect(describeTree(sandbox.path('after'))).toEqual(describeTree(work));
    },
  );

  it('keeps what a commit has in a folder of unfinished files, while that folder exists', async () => {
    for (const name of ['a', 'sub/xdray-tmp/f', 'z']) sandbox.write(`work/${name}`, name);
    await push(testContext(work), {});
    forgeCommit(sandbox.path('store'), (commit) => commit.replace('sub/xdray-tmp/f', 'sub/.dray-tmp/f'));
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'copy' });
    const copy = sandbox.path('copy');
    expect(existsSync(`${copy}/sub/.dray-tmp/f`)).toBe(true);
    const context = testContext(copy);
    expect(await status(context, {})).toMatchObject({ changes: { deleted: 0 } });
    sandbox.write('copy/a', 'changed');
    expect(await push(context, {})).toMatchObject({ failed: 0, changes: { modified: 1, deleted: 0 } });
    expect(eventsOf(context, 'warning')).toEqual([]);
    rmSync(`${copy}/sub/.dray-tmp`, { recursive: true });
    expect(await push(context, {})).toMatchObject({ changes: { deleted: 1 } });
  });

  it.runIf(process.platform === 'linux')(
    'takes a folder with very many unreadable names (Linux only)',
    async () => {
      // A function call takes fewer arguments than the long run has names.
      const count = runBudget({ short: 1_000, long: 130_000 });
      mkdirSync(`${work}/many`);
      for (let at = 0; at < count; at += 1)
        symlinkSync('nowhere', Buffer.from(`${work}/many/\xff${at}`, 'latin1'));
      expect((await scanned()).problems).toHaveLength(count);
    },
  );
});
