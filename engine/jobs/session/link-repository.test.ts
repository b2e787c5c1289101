import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { remoteAdd } from '../remotes/remotes.ts';
import { status } from '../working-copy/status.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from './job.fixture.ts';

let sandbox: Sandbox;
let work: string;
beforeEach(async () => {
  sandbox = createSandbox();
  work = sandbox.path('work');
  mkdirSync(work);
  await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store') });
  sandbox.write('work/a', 'one');
  await push(testContext(work), {});
});
afterEach(() => sandbox[Symbol.dispose]());

describe('a branch that another repository left where a new one was made', () => {
  it('is refused by push, pull and clone, and the error names both ids', async () => {
    const { repository } = JSON.parse(readFileSync(sandbox.path('store/refs/heads/main'), 'utf8'));
    rmSync(sandbox.path('store/dray.json'));
    const other = sandbox.path('other');
    mkdirSync(other);
    const { repositoryId } = await initWorkspace(testContext(other), { remoteUrl: sandbox.path('store') });
    sandbox.write('other/b', 'two');
    const request = { url: sandbox.path('store'), directory: 'copy' };
    for (const job of [
      () => push(testContext(other), {}),
      () => pull(testContext(other), {}),
      () => cloneWorkspace(testContext(sandbox.folder), request),
    ])
      await expect(job()).rejects.toMatchObject({
        code: 'notARepository',
        data: { ref: 'heads/main', found: repository, expected: repositoryId },
      });
  });
});

describe('an empty remote', () => {
  const backup = { remoteName: 'backup' };
  const refusedByReaders = async () => {
    for (const job of [
      () => pull(testContext(work, backup), {}),
      () => status(testContext(work, backup), { remote: true }),
      () => verify(testContext(work, backup), {}),
    ])
      await expect(job()).rejects.toMatchObject({
        code: 'notARepository',
        message: expect.stringContaining('The first "dray push" makes one'),
      });
  };
  const firstPush = () => push(testContext(work, backup), {});
  beforeEach(async () => {
    mkdirSync(sandbox.path('backup'));
    await remoteAdd(testContext(work), { name: 'backup', url: sandbox.path('backup') });
  });

  it('becomes a repository of the same layout by the first push, which reports it', async () => {
    const context = testContext(work, backup);
    expect(await push(context, {})).toMatchObject({ result: 'pushed', changes: { added: 1 } });
    expect(eventsOf(context, 'warning').map(({ warning }) => warning)).toEqual(['repositoryMade']);
    const [layout, itsLayout] = ['store', 'backup'].map(
      (name) => JSON.parse(readFileSync(sandbox.path(name, 'dray.json'), 'utf8')).layout,
    );
    expect(itsLayout).toEqual(layout);
    const again = testContext(work, backup);
    expect(await push(again, {})).toMatchObject({ result: 'nothingToPush' });
    expect(eventsOf(again, 'warning')).toEqual([]);
  });

  it('may be a missing folder: only the first push makes it', async () => {
    rmSync(sandbox.path('backup'), { recursive: true });
    await refusedByReaders();
    const dry = await push(testContext(work, backup), { dryRun: true });
    expect(dry).toMatchObject({ result: 'wouldPush', changes: { added: 1 }, uploadedObjects: 1 });
    expect(existsSync(sandbox.path('backup'))).toBe(false);
    const made = await firstPush();
    expect(made).toMatchObject({ result: 'pushed', changes: { added: 1 }, uploadedObjects: 1 });
    // The dry run does not count the test of conditional writes.
    expect(dry.forecast?.writes).toBeLessThanOrEqual(made.requests.writes);
    // Its disk may not be mounted.
    rmSync(sandbox.path('backup'), { recursive: true });
    sandbox.write('work/a', 'two');
    await expect(firstPush()).rejects.toMatchObject({ code: 'bucketMissing' });
  });

  it('stays empty after all other commands, and after a dry run, which forecasts the first push', async () => {
    await refusedByReaders();
    const foreseen = {
      result: 'wouldPush',
      changes: { added: 1 },
      uploadedObjects: 1,
      forecast: { writes: 4 },
    };
    for (const _ of [1, 2])
      expect(await push(testContext(work, backup), { dryRun: true })).toMatchObject(foreseen);
    expect(readdirSync(sandbox.path('backup'))).toEqual([]);
    expect(await push(testContext(work), {})).toMatchObject({ result: 'nothingToPush' });
    expect(await firstPush()).toMatchObject({ result: 'pushed', uploadedObjects: 1 });
  });

  it('is refused and not made when its parent folder is missing: the disk may not be mounted', async () => {
    await remoteAdd(testContext(work), { name: 'disk', url: `${sandbox.folder}/disk/backup` });
    const disk = { remoteName: 'disk' };
    for (const job of [
      () => push(testContext(work, disk), { dryRun: true }),
      () => push(testContext(work, disk), {}),
      () => pull(testContext(work, disk), {}),
      () => status(testContext(work, disk), { remote: true }),
      () => verify(testContext(work, disk), {}),
    ])
      await expect(job()).rejects.toMatchObject({ code: 'bucketMissing' });
    expect(existsSync(`${sandbox.folder}/disk`)).toBe(false);
  });

  it('is a sound repository before its first push has ended', async () => {
    const fresh = sandbox.path('fresh');
    mkdirSync(fresh);
    await initWorkspace(testContext(fresh), { remoteUrl: sandbox.path('new') });
    expect(await verify(testContext(fresh), {})).toMatchObject({ commits: 0, missing: 0, damaged: 0 });
  });

  it('is not recreated once the workspace has met it, or where refs exist', async () => {
    await firstPush();
    rmSync(sandbox.path('backup/dray.json'));
    rmSync(sandbox.path('backup/refs'), { recursive: true });
    await expect(firstPush()).rejects.toMatchObject({ code: 'notARepository' });
    mkdirSync(sandbox.path('third/refs/heads'), { recursive: true });
    writeFileSync(sandbox.path('third/refs/heads/other'), '{}');
    await remoteAdd(testContext(work), { name: 'third', url: sandbox.path('third') });
    await expect(push(testContext(work, { remoteName: 'third' }), {})).rejects.toMatchObject({
      code: 'notARepository',
    });
  });
});

describe('a command that does not wait for the workspace', () => {
  it('leaves the settings alone, because another command may be writing them', async () => {
    const path = `${work}/.dray/config.json`;
    const config = JSON.parse(readFileSync(path, 'utf8'));
    const { url } = config.remotes.origin;
    // As "remote add" leaves it, before the repository is known.
    const text = JSON.stringify({ ...config, remotes: { origin: { url } } });
    writeFileSync(path, text);
    const holder = { pid: 1, host: 'elsewhere', command: 'push', since: new Date().toISOString() };
    writeFileSync(`${work}/.dray/lock`, JSON.stringify(holder));
    const context = testContext(work);
    expect(await status(context, { remote: true })).toMatchObject({ files: 1, upstream: { state: 'same' } });
    expect(eventsOf(context, 'warning').map(({ warning }) => warning)).toEqual(['workspaceBusy']);
    expect(readFileSync(path, 'utf8')).toBe(text);
    rmSync(`${work}/.dray/lock`);
    await status(testContext(work), { remote: true });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(config);
  });
});
