/** A widening that did not end, and what others changed before it went on. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSetMtime } from '../../files/disk/set-mtime.ts';
import { markUnsynced } from '../../files/disk/unsynced-mark.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { keysBelow } from '../session/damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { scope } from './scope.ts';

let sandbox: Sandbox;
let whole: string;
let part: string;
const NOTHING = { added: 0, modified: 0, deleted: 0 };

beforeEach(async () => {
  sandbox = createSandbox();
  whole = sandbox.path('whole');
  part = sandbox.path('part');
  for (const path of ['a/1', 'b/1', 'b/2', 'b/3', 'b/swap', 'b/sub/1', 'b/z', 'c/1'])
    sandbox.write(`whole/${path}`, `content of ${path}`);
  symlinkSync('1', `${whole}/b/link`);
  mkdirSync(`${whole}/b/empty`);
  await initWorkspace(testContext(whole), { remoteUrl: sandbox.path('store'), layout: { kind: 'objects' } });
  await push(testContext(whole), {});
  const url = sandbox.path('store');
  await cloneWorkspace(testContext(sandbox.folder), { url, directory: 'part', only: ['a'] });
});
afterEach(() => sandbox[Symbol.dispose]());

/** Fetches everything of `b` except one file, so that nothing is taken in. */
async function addAndFail(): Promise<void> {
  const lost = sandbox.path('lost');
  const store = sandbox.path('store');
  const hash = createHash('sha256').update('content of b/z').digest('hex');
  const name = keysBelow(store, 'objects').find((one) => one.replaceAll('/', '').includes(hash))!;
  const key = `${store}/${name}`;
  renameSync(key, lost);
  expect(await scope(testContext(part), { action: 'add', patterns: ['b'] })).toMatchObject({ failed: 1 });
  renameSync(lost, key);
  expect(await held()).toMatchObject({ only: ['a'], outside: { count: 6 } });
}

const held = async () => (await status(testContext(part), {})).scope!;

async function othersChange(): Promise<void> {
  rmSync(`${whole}/b/1`);
  rmSync(`${whole}/b/link`);
  rmSync(`${whole}/b/empty`, { recursive: true });
  rmSync(`${whole}/b/sub`, { recursive: true });
  sandbox.write('whole/b/sub', 'a file now');
  rmSync(`${whole}/b/swap`);
  sandbox.write('whole/b/swap/1', 'a folder now');
  sandbox.write('whole/b/2', 'of others');
  await push(testContext(whole), {});
  expect(await pull(testContext(part), {})).toMatchObject({ failed: 0 });
}

describe('A widening that did not end', () => {
  it('brings back nothing that others deleted before it goes on, and undoes none of their edits', async () => {
    await addAndFail();
    expect(existsSync(`${part}/b/1`)).toBe(true);
    await othersChange();
    expect(await push(testContext(part), {})).toMatchObject({ result: 'nothingToPush' });
    expect(await scope(testContext(part), { action: 'add', patterns: ['b'] })).toMatchObject({ failed: 0 });
    expect(describeTree(`${part}/b`)).toEqual(describeTree(`${whole}/b`));
    expect((await status(testContext(part), {})).changes).toMatchObject(NOTHING);
    expect(await push(testContext(part), {})).toMatchObject({ result: 'nothingToPush' });
    expect(readFileSync(`${part}/.dray/state.json`, 'utf8')).not.toContain('entering');
  });

  it('keeps what was edited or made here in between', async () => {
    await addAndFail();
    writeFileSync(`${part}/b/3`, 'edited here');
    sandbox.write('part/b/mine', 'made here');
    await othersChange();
    const adding = () => scope(testContext(part), { action: 'add', patterns: ['b'] });
    await expect(adding()).rejects.toMatchObject({ data: { reason: 'inTheWay', paths: ['b/3'] } });
    expect(readFileSync(`${part}/b/3`, 'utf8')).toBe('edited here');
    expect(existsSync(`${part}/b/1`)).toBe(true);
    rmSync(`${part}/b/3`);
    expect(await adding()).toMatchObject({ failed: 0, outside: { count: 0 } });
    expect((await status(testContext(part), {})).changes).toMatchObject({ ...NOTHING, added: 1 });
    expect(readFileSync(`${part}/b/mine`, 'utf8')).toBe('made here');
  });

  it('is known through other changes of scope', async () => {
    await addAndFail();
    await othersChange();
    await scope(testContext(part), { action: 'add', patterns: ['c'] });
    await scope(testContext(part), { action: 'only', patterns: ['c'] });
    expect(await held()).toMatchObject({ only: ['c'], outside: { count: 6 } });
    await scope(testContext(part), { action: 'clear' });
    expect(describeTree(part)).toEqual(describeTree(whole));
    expect((await status(testContext(part), {})).changes).toMatchObject(NOTHING);
  });

  it('names what may be of its commit once that commit is gone', async () => {
    await addAndFail();
    await othersChange();
    const { scope: noted } = JSON.parse(readFileSync(`${part}/.dray/state.json`, 'utf8'));
    const store = sandbox.path('store');
    for (const key of keysBelow(store, 'commits'))
      if (key.replaceAll('/', '').includes(noted.entering[0].commit)) rmSync(`${store}/${key}`);
    // It has the old commit.
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${part}/.dray/index.db${suffix}`, { force: true });
    const adding = () => scope(testContext(part), { action: 'add', patterns: ['b'] });
    const refused = await adding().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'conflict', data: { reason: 'inTheWay' } });
    expect(await held()).toMatchObject({ only: ['a'] });
    rmSync(`${part}/b`, { recursive: true });
    expect(await adding()).toMatchObject({ failed: 0 });
    expect(describeTree(`${part}/b`)).toEqual(describeTree(`${whole}/b`));
  });

  it('fetches again what a power cut has torn, and removes it if others deleted it', async () => {
    await addAndFail();
    const { scope: noted } = JSON.parse(readFileSync(`${part}/.dray/state.json`, 'utf8'));
    markUnsynced(`${part}/.dray/tmp`, `origin ${noted.entering[0].commit} dray scope add b`)(false);
    const setMtime = await loadSetMtime();
    for (const name of ['b/1', 'b/3']) {
      const path = `${part}/${name}`;
      const { mtimeNs } = lstatSync(path, { bigint: true });
      const file = await open(path, 'r+');
      await file.write(Buffer.alloc(14));
      setMtime(file.fd, mtimeNs);
      await file.close();
    }
    await othersChange();
    expect(await scope(testContext(part), { action: 'add', patterns: ['b'] })).toMatchObject({ failed: 0 });
    expect(describeTree(`${part}/b`)).toEqual(describeTree(`${whole}/b`));
    expect((await status(testContext(part), {})).changes).toMatchObject(NOTHING);
  });
});
