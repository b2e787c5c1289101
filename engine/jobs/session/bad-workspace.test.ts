/** Missing, damaged and locked workspaces, and missing refs: each gives its error, and no data is lost. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { branch, tag } from '../history/refs.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { remoteAdd } from '../remotes/remotes.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from './job.fixture.ts';

let sandbox: Sandbox;
let remote: string;
let work: string;
beforeEach(async () => {
  sandbox = createSandbox();
  remote = sandbox.path('store');
  work = sandbox.path('work');
  mkdirSync(work);
  await initWorkspace(testContext(work), { remoteUrl: remote });
});
afterEach(() => sandbox[Symbol.dispose]());

const clone = (directory: string, ref?: string) =>
  cloneWorkspace(testContext(sandbox.folder), {
    url: remote,
    directory,
    ...(ref === undefined ? {} : { ref }),
  });

describe('a folder that is not a workspace', () => {
  it('gets an error that says what to do, and nothing is written to it', async () => {
    const folder = sandbox.path('plain');
    mkdirSync(folder);
    for (const job of [push, pull, status]) {
      await expect(job(testContext(folder), {})).rejects.toMatchObject({
        code: 'notAWorkspace',
        message: expect.stringMatching(/plain is not in a workspace.*dray init/),
      });
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a workspace inside a workspace', () => {
  it('is refused by init and clone, in the folder itself and below it', async () => {
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
    mkdirSync(sandbox.path('work/inner'));
    const other = sandbox.path('other-store');
    for (const folder of [work, `${work}/inner`]) {
      const error = { code: 'workspaceExists', message: expect.stringContaining(work) };
      await expect(initWorkspace(testContext(folder), { remoteUrl: other })).rejects.toMatchObject(error);
    }
    await expect(clone('work/inner')).rejects.toMatchObject({ code: 'workspaceExists' });
    expect(readdirSync(`${work}/inner`)).toEqual([]);
    expect(existsSync(other)).toBe(false);
    // A clone of the same repository would resume it.
    mkdirSync(sandbox.path('elsewhere'));
    await initWorkspace(testContext(sandbox.path('elsewhere')), { remoteUrl: other });
    const cloned = cloneWorkspace(testContext(sandbox.folder), { url: other, directory: 'work' });
    await expect(cloned).rejects.toMatchObject({ code: 'workspaceExists' });
  });

  it('is left out of a push and named in a warning if it was there before', async () => {
    const inner = sandbox.path('inner');
    mkdirSync(inner);
    await initWorkspace(testContext(inner), { remoteUrl: sandbox.path('inner-store') });
    sandbox.write('inner/mine', 'of the inner one');
    sandbox.write('work/a', 'one');
    renameSync(inner, `${work}/inner`);
    const context = testContext(work);
    expect(await push(context, {})).toMatchObject({ result: 'pushed', failed: 0, changes: { added: 1 } });
    expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'skippedWorkspace', path: 'inner/' }]);
    expect(await push(testContext(`${work}/inner`), {})).toMatchObject({ changes: { added: 1 } });
  });
});

describe('a repository inside the workspace that it would store', () => {
  const refused = { code: 'usage', message: expect.stringContaining('lies inside the workspace') };

  it('is refused by init, whatever path leads there', async () => {
    const root = sandbox.path('other');
    mkdirSync(`${root}/inner`, { recursive: true });
    symlinkSync(`${root}/inner`, sandbox.path('way-in'));
    for (const remoteUrl of ['store', '.', 'inner/deep/store', `file://${root}/store`, '../way-in/store'])
      await expect(initWorkspace(testContext(root), { remoteUrl })).rejects.toMatchObject(refused);
    expect(readdirSync(root, { recursive: true })).toEqual(['inner']);
  });

  it('is refused by "remote add", unless it lies beside the workspace or .drayignore names it', async () => {
    const add = (url: string, name: string) => remoteAdd(testContext(work), { name, url });
    await expect(add('backup', 'one')).rejects.toMatchObject(refused);
    sandbox.write('work/.drayignore', '/backup/\n');
    sandbox.write('work/deep/.drayignore', 'store\n');
    expect(await add('backup', 'one')).toEqual({ remotes: 2 });
    expect(await add('deep/store', 'two')).toEqual({ remotes: 3 });
    expect(await add('../work-backup', 'three')).toEqual({ remotes: 4 });
    await expect(add('deep/backup', 'four')).rejects.toMatchObject(refused);
  });
});

describe('a clone', () => {
  it('of a repository without a commit fails with a clear error and leaves nothing behind', async () => {
    await expect(clone('copy')).rejects.toMatchObject({
      code: 'notFound',
      message: expect.stringContaining('has no commit yet'),
    });
    expect(existsSync(`${sandbox.folder}/copy`)).toBe(false);
    await expect(pull(testContext(work), {})).rejects.toMatchObject({ code: 'notFound' });
  });

  it('into a file or a folder that is not empty is refused and changes nothing', async () => {
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
    sandbox.write('full/mine', 'mine');
    sandbox.write('file', 'a file');
    const before = describeTree(`${sandbox.folder}/full`);
    await expect(clone('full')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('not empty'),
    });
    expect(describeTree(`${sandbox.folder}/full`)).toEqual(before);
    expect(existsSync(`${sandbox.folder}/full/.dray`)).toBe(false);
    await expect(clone('file')).rejects.toMatchObject({ code: 'usage' });
    expect(readFileSync(`${sandbox.folder}/file`, 'utf8')).toBe('a file');
  });

  it('from a place that is missing or not a repository fails and writes nothing', async () => {
    mkdirSync(sandbox.path('empty'));
    for (const [url, code] of [
      ['empty', 'notARepository'],
      ['nowhere', 'bucketMissing'],
    ] as const) {
      const request = { url: `${sandbox.folder}/${url}`, directory: 'copy' };
      await expect(cloneWorkspace(testContext(sandbox.folder), request)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(url),
      });
      expect(existsSync(`${sandbox.folder}/copy`)).toBe(false);
    }
    expect(existsSync(`${sandbox.folder}/nowhere`)).toBe(false);
  });
});

describe('refs', () => {
  beforeEach(async () => {
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
  });

  it('that do not exist are named in the error of every job that takes one', async () => {
    const error = { code: 'notFound', message: expect.stringContaining('"nowhere"') };
    await expect(pull(testContext(work), { ref: 'nowhere' })).rejects.toMatchObject(error);
    await expect(clone('copy', 'nowhere')).rejects.toMatchObject(error);
    await expect(tag(testContext(work), { name: 'v1', ref: 'nowhere' })).rejects.toMatchObject(error);
    await expect(switchBranch(testContext(work), { name: 'nowhere' })).rejects.toMatchObject({
      code: 'notFound',
    });
    expect(existsSync(`${sandbox.folder}/copy`)).toBe(false);
  });

  it.each([
    ['nothing', ''],
    ['two words', 'with space'],
    ['a way out', '../escape'],
    ['an empty part', 'a//b'],
    ['an option', '-x'],
    ['a range', 'a..b'],
    ['a lock', 'end.lock'],
    ['300 letters', 'x'.repeat(300)],
    ['a commit', 'f'.repeat(64)],
    ['a NUL', 'nul\0'],
  ])('cannot be called %s', async (_, name) => {
    const before = readdirSync(`${remote}/refs`, { recursive: true }).sort();
    for (const job of [
      () => tag(testContext(work), { name }),
      () => branch(testContext(work), { name }),
      () => switchBranch(testContext(work), { name, create: true }),
    ]) {
      await expect(job()).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining('cannot name'),
      });
    }
    expect(readdirSync(`${remote}/refs`, { recursive: true }).sort()).toEqual(before);
  });
});

describe('a remote that was recreated', () => {
  it('is not mistaken for the old one: push and pull refuse it and name both ids', async () => {
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
    const before = describeTree(work);
    rmSync(remote, { recursive: true });
    await expect(push(testContext(work), {})).rejects.toMatchObject({ code: 'bucketMissing' });
    const other = sandbox.path('other');
    mkdirSync(other);
    const { repositoryId } = await initWorkspace(testContext(other), { remoteUrl: remote });
    const error = {
      code: 'notARepository',
      message: expect.stringContaining('is not the one that this workspace belongs to'),
      data: { found: repositoryId },
    };
    for (const job of [push, pull]) await expect(job(testContext(work), {})).rejects.toMatchObject(error);
    sandbox.write('other/b', 'two');
    await push(testContext(other), {});
    for (const job of [push, pull]) await expect(job(testContext(work), {})).rejects.toMatchObject(error);
    expect(describeTree(work)).toEqual(before);
  });

  it('is not a repository after its folder was emptied', async () => {
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
    rmSync(remote, { recursive: true });
    mkdirSync(remote);
    for (const job of [push, pull]) {
      await expect(job(testContext(work), {})).rejects.toMatchObject({ code: 'notARepository' });
    }
    expect(readdirSync(remote)).toEqual([]);
  });
});

describe('a workspace that another process holds', () => {
  it('makes a command wait: it names the holder, and continues when the holder ends', async () => {
    sandbox.write('work/a', 'one');
    const since = new Date().toISOString();
    // It holds the lock as a command does, and exits when the test says that a command waits.
    const script = `
      const { rmSync, writeFileSync } = require('node:fs');
      const path = ${JSON.stringify(`${work}/.dray/lock`)};
      writeFileSync(path, JSON.stringify({ pid: process.pid, host: ${JSON.stringify(hostname())}, command: 'pull', since: '${since}' }));
      process.stdout.write('held');
      process.stdin.once('data', () => { rmSync(path); process.exit(); });`;
    const holder = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(holder.stdout, 'data');
      const events: unknown[] = [];
      const context = testContext(work, {
        emit: (event) => {
          events.push(event);
          if (event.type === 'warning' && event.warning === 'waitingForLock') holder.stdin.write('go');
        },
      });
      expect(await push(context, {})).toMatchObject({ result: 'pushed' });
      const message = expect.stringContaining(`"dray pull" (process ${holder.pid} on ${hostname()}`);
      expect(events).toContainEqual({ type: 'warning', warning: 'waitingForLock', message });
    } finally {
      holder.kill('SIGKILL');
    }
  });

  it('is free again after the holder was killed', async () => {
    sandbox.write('work/a', 'one');
    const holder = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const record = { pid: holder.pid, host: hostname(), command: 'push', since: new Date().toISOString() };
    writeFileSync(`${work}/.dray/lock`, JSON.stringify(record));
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const context = testContext(work);
    expect(await push(context, {})).toMatchObject({ result: 'pushed' });
    expect(eventsOf(context, 'warning')).toEqual([]);
    expect(existsSync(`${work}/.dray/lock`)).toBe(false);
  });
});

describe('a lost index', () => {
  const FILES = 300;
  const index = () => `${work}/.dray/index.db`;

  beforeEach(async () => {
    for (let at = 0; at < FILES; at += 1) sandbox.write(`work/${at}`, `content ${at} ${'x'.repeat(at)}`);
    await push(testContext(work), {});
  });

  it.each([
    ['garbage', () => writeFileSync(index(), Buffer.alloc(50_000, 'no database ')), 'damaged'],
    ['cut to nothing', () => truncateSync(index()), 'missing'],
    ['cut to its first page', () => truncateSync(index(), 4096), 'damaged'],
    ['deleted', () => rmSync(index()), 'missing'],
  ])(
    '(%s) is rebuilt with a warning, and the next push sends only what changed, in few requests',
    async (_, spoil, word) => {
      for (const suffix of ['-wal', '-shm']) rmSync(index() + suffix, { force: true });
      spoil();
      const context = testContext(work);
      expect(await status(context, {})).toMatchObject({
        changes: { added: 0, modified: 0, deleted: 0 },
        files: FILES,
      });
      const warnings = eventsOf(context, 'warning');
      expect(warnings).toMatchObject([
        { warning: 'indexRebuilt', message: expect.stringContaining(`The index was ${word}`) },
      ]);
      expect(existsSync(`${index()}.damaged`)).toBe(word === 'damaged');
      const again = testContext(work);
      expect(await push(again, {})).toMatchObject({ result: 'nothingToPush', requests: { total: 1 } });
      expect(eventsOf(again, 'warning')).toEqual([]);
      sandbox.write('work/7', 'changed');
      expect(await push(testContext(work), {})).toMatchObject({
        result: 'pushed',
        changes: { modified: 1 },
        uploadedObjects: 1,
      });
    },
  );

  it('(cut in its middle) fails one job at most, and the next job rebuilds it', async () => {
    for (const suffix of ['-wal', '-shm']) rmSync(index() + suffix, { force: true });
    truncateSync(index(), Math.floor(statSync(index()).size / 2));
    const before = describeTree(work);
    const first = await push(testContext(work), {}).catch((error: unknown) => error);
    if (first instanceof Error)
      expect(first).toMatchObject({
        code: 'damaged',
        message: expect.stringMatching(/index.*Run the command again/),
      });
    expect(await push(testContext(work), {})).toMatchObject({ result: 'nothingToPush', failed: 0 });
    expect(describeTree(work)).toEqual(before);
    expect(
      readdirSync(`${remote}/packs`, { recursive: true, withFileTypes: true }).filter((item) =>
        item.isFile(),
      ),
    ).toHaveLength(1);
  });

  it('keeps local edits apart from remote ones when it is lost before a pull', async () => {
    await clone('copy');
    const copy = `${sandbox.folder}/copy`;
    sandbox.write('work/1', 'theirs');
    await push(testContext(work), {});
    sandbox.write('copy/2', 'ours');
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${copy}/.dray/index.db${suffix}`, { force: true });
    expect(await pull(testContext(copy), {})).toMatchObject({ failed: 0, changes: { modified: 1 } });
    expect(readFileSync(`${copy}/1`, 'utf8')).toBe('theirs');
    expect(readFileSync(`${copy}/2`, 'utf8')).toBe('ours');
    expect(await status(testContext(copy), {})).toMatchObject({
      changes: { modified: 1, added: 0, deleted: 0 },
    });
  });
});

describe('unreadable settings', () => {
  it.each([
    ['config.json', '{"format": 1, "defaultRemote"', 'damaged'],
    ['config.json', '{"format": 1}', 'damaged'],
    ['config.json', '{"format": 2, "remotes": []}', 'formatTooNew'],
    ['state.json', '', 'damaged'],
    ['state.json', '{"format": 1, "branch": "main", "bases": {"origin": "../x"}}', 'damaged'],
    ['state.json', '{"format": 7}', 'formatTooNew'],
  ])('stop every command with the path of %s: %j', async (name, text, code) => {
    sandbox.write('work/a', 'one');
    writeFileSync(`${work}/.dray/${name}`, text);
    for (const job of [push, pull, status]) {
      const error = { code, message: expect.stringContaining(`${work}/.dray/${name}`) };
      await expect(job(testContext(work), {})).rejects.toMatchObject(error);
    }
    expect(readFileSync(`${work}/.dray/${name}`, 'utf8')).toBe(text);
    expect(existsSync(`${work}/.dray/lock`)).toBe(false);
  });

  it('name the missing file', async () => {
    rmSync(`${work}/.dray/state.json`);
    await expect(push(testContext(work), {})).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining(`${work}/.dray/state.json`),
    });
  });

  it('name the missing remote', async () => {
    await expect(push(testContext(work, { remoteName: 'backup' }), {})).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('Known remotes: origin'),
    });
  });
});
