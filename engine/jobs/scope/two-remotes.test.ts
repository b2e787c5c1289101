/** A part is that of the workspace, with all its remotes. Each of these has a base of its own. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { remoteAdd } from '../remotes/remotes.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { status } from '../working-copy/status.ts';
import { planScope } from './plan-scope.ts';
import { scope } from './scope.ts';

let sandbox: Sandbox;
let whole: string;
let part: string;
const backup = { remoteName: 'backup' };
const atBackup = (root: string) => testContext(root, backup);

beforeEach(async () => {
  sandbox = createSandbox();
  [whole, part] = [sandbox.path('whole'), sandbox.path('part')];
  for (const path of ['a/1', 'a/2', 'b/1']) sandbox.write(`whole/${path}`, `of ${path}`);
  await initWorkspace(testContext(whole), { remoteUrl: sandbox.path('store') });
  await push(testContext(whole), {});
  await cloneWorkspace(testContext(sandbox.folder), {
    url: sandbox.path('store'),
    directory: 'part',
    only: ['b'],
  });
  for (const root of [whole, part])
    await remoteAdd(testContext(root), { name: 'backup', url: sandbox.path('backup') });
});
afterEach(() => sandbox[Symbol.dispose]());

const added = async (context = testContext(part)) => {
  await scope(context, { action: 'add', patterns: ['a'] });
  return eventsOf(context, 'warning').map(({ warning }) => warning);
};

describe('A workspace that holds a part and has two remotes', () => {
  it('takes nothing of one for deleted that the other does not have when it takes more in', async () => {
    const context = atBackup(part);
    await push(context, {});
    expect(eventsOf(context, 'warning')[0]).toMatchObject({
      message: expect.stringContaining('It gets only the part that this workspace holds.'),
    });
    expect(await added(atBackup(part))).toEqual(['namesNothing', 'comparesAnew']);
    expect(await push(testContext(part), {})).toMatchObject({ result: 'nothingToPush' });
    expect(await pull(testContext(whole), {})).toMatchObject({ result: 'upToDate' });
    expect(await pull(testContext(part), {})).toMatchObject({ changes: { added: 2, deleted: 0 } });
    expect(await status(testContext(part), {})).toMatchObject({ changes: { added: 0, deleted: 0 } });
  });

  it('takes more in from a remote without a base only after a pull', async () => {
    await push(atBackup(whole), {});
    await pull(atBackup(part), {});
    await added(atBackup(part));
    sandbox.write('whole/c', 'of c');
    await push(testContext(whole), {});
    const refused = { code: 'conflict', data: { reason: 'noBase', advice: expect.stringContaining('Pull') } };
    const request = { action: 'add', patterns: ['c'] } as const;
    await expect(scope(testContext(part), request)).rejects.toMatchObject(refused);
    await expect(planScope(testContext(part), { only: null })).rejects.toMatchObject(refused);
    await pull(testContext(part), {});
    expect(await planScope(testContext(part), { only: null })).toMatchObject({ fetched: 1 });
    expect(await scope(testContext(part), request)).toMatchObject({ fetched: 1 });
  });

  it('makes no branch of the part alone beside others', async () => {
    await switchBranch(testContext(whole), { name: 'trial', create: true });
    await push(atBackup(whole), {});
    sandbox.write('part/b/new', 'new');
    const refused = { code: 'conflict', data: { reason: 'noBase', advice: expect.stringContaining('Pull') } };
    await expect(push(atBackup(part), {})).rejects.toMatchObject(refused);
    await expect(push(atBackup(part), { dryRun: true })).rejects.toMatchObject(refused);
    await pull(atBackup(part), { ref: 'trial' });
    const looks = {
      code: 'conflict',
      data: { reason: 'detached', advice: expect.stringContaining('-c main') },
    };
    await expect(push(atBackup(part), {})).rejects.toMatchObject(looks);
    await switchBranch(atBackup(part), { name: 'main', create: true });
    expect(await push(atBackup(part), {})).toMatchObject({ branch: 'main', changes: { added: 1 } });
    const copy = { url: sandbox.path('backup'), directory: 'copy', ref: 'main' };
    expect(await cloneWorkspace(testContext(sandbox.folder), copy)).toMatchObject({ changes: { added: 4 } });
  });

  it('makes no commit of the part alone: it pulls before it pushes what is new', async () => {
    await push(atBackup(whole), {});
    sandbox.write('part/b/new', 'new');
    const refused = { code: 'conflict', data: { reason: 'noBase', advice: 'Pull first, then push.' } };
    await expect(push(atBackup(part), {})).rejects.toMatchObject(refused);
    await pull(atBackup(part), {});
    expect(await push(atBackup(part), {})).toMatchObject({ changes: { added: 1 } });
    // Its commit, from which the branch is made, has the rest too.
    await switchBranch(atBackup(part), { name: 'trial', create: true });
    const copy = { url: sandbox.path('backup'), directory: 'copy', ref: 'trial' };
    expect(await cloneWorkspace(testContext(sandbox.folder), copy)).toMatchObject({ changes: { added: 4 } });
  });

  it('undoes nothing of one by an older file of the other', async () => {
    await push(atBackup(whole), {});
    await pull(atBackup(part), {});
    writeFileSync(`${whole}/a/1`, 'newer');
    await push(testContext(whole), {});
    await pull(testContext(part), {});
    expect(await added(atBackup(part))).toEqual(['comparesAnew']);
    expect(readFileSync(`${part}/a/1`, 'utf8')).toBe('of a/1');
    await expect(push(testContext(part), {})).rejects.toMatchObject({ code: 'conflict' });
    expect(await pull(testContext(part), { conflicts: 'theirs' })).toMatchObject({ decided: 1 });
    expect(readFileSync(`${part}/a/1`, 'utf8')).toBe('newer');
  });

  it('goes on with a copy of the repository that has the same files', async () => {
    await push(atBackup(whole), {});
    await pull(atBackup(part), {});
    expect(await added()).toEqual(['comparesAnew']);
    expect(await push(atBackup(part), {})).toMatchObject({ result: 'nothingToPush' });
    sandbox.write('part/a/new', 'new');
    for (const context of [testContext(part), atBackup(part)])
      expect(await push(context, {})).toMatchObject({ changes: { added: 1, deleted: 0 } });
    await pull(atBackup(whole), {});
    expect(existsSync(`${whole}/a/new`)).toBe(true);
    expect(await pull(testContext(whole), {})).toMatchObject({ failed: 0, changes: { deleted: 0 } });
  });
});
