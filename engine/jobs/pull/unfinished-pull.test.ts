/** What a pull, clone or switch that did not end has brought is its commit's, and never an edit. */
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PullSummary } from '../../api/jobs/jobs.ts';
import { revert } from '../merge/revert.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { remoteAdd } from '../remotes/remotes.ts';
import { commitKeyOf, tipOf } from '../session/damage.fixture.ts';
import { asNobody, createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { readBeginnings } from '../trees/same-trees.fixture.ts';
import { diff } from '../working-copy/diff.ts';
import { restore } from '../working-copy/restore.ts';
import { status } from '../working-copy/status.ts';
import { cloneWorkspace } from './clone.ts';
import { pull } from './pull.ts';
import { switchBranch } from './switch.ts';

/** Stored as an object of its own, so that it alone can be missing. */
const LARGE = Buffer.alloc(1_500_000, 'large');

let sandbox: Sandbox;
let user: string;
let other: string;
beforeEach(async () => {
  sandbox = createSandbox();
  user = sandbox.path('user');
  other = sandbox.path('other');
  writeAll('other', { a: '1', b: '1', c: '1' });
  await initWorkspace(testContext(other), { remoteUrl: store() });
  await push(testContext(other), {});
  await clone('user');
});
afterEach(() => sandbox[Symbol.dispose]());

const store = () => sandbox.path('store');
const clone = (directory: string, ref?: string) =>
  cloneWorkspace(testContext(sandbox.folder), {
    url: store(),
    directory,
    ...(ref === undefined ? {} : { ref }),
  });
function writeAll(folder: string, files: Readonly<Record<string, string | Uint8Array | null>>): void {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) rmSync(sandbox.path(folder, path));
    else sandbox.write(`${folder}/${path}`, content);
  }
}
async function others(files: Readonly<Record<string, string | Uint8Array | null>>): Promise<string> {
  writeAll('other', files);
  return (await push(testContext(other), {})).commit!;
}
/** The branch's files, read by a fresh clone. */
async function branchHas(ref?: string): Promise<Record<string, string>> {
  const name = `read-${readdirSync(sandbox.folder).length}`;
  await clone(name, ref);
  return readBeginnings(sandbox.path(name));
}
const objects = () =>
  readdirSync(join(store(), 'objects'), { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name));
/** Hides the newest object. @returns A function that brings it back. */
function hideObject(known: readonly string[]): () => void {
  const place = objects().find((path) => !known.includes(path))!;
  renameSync(place, sandbox.path('hidden'));
  return () => renameSync(sandbox.path('hidden'), place);
}
const parentsOf = (commit: string) =>
  (
    JSON.parse(zstdDecompressSync(readFileSync(join(store(), commitKeyOf(commit)))).toString()) as {
      parents: string[];
    }
  ).parents;
const stateOf = (root: string) =>
  JSON.parse(readFileSync(join(root, '.dray/state.json'), 'utf8')) as Record<string, unknown>;
async function shown(root = user): Promise<string[]> {
  const context = testContext(root);
  await status(context, {});
  return eventsOf(context, 'change').map(({ change, path }) => `${change} ${path}`);
}
const failed = async (work: Promise<PullSummary>) => expect(await work).toMatchObject({ failed: 1 });

/** c2: a=2, x new, ro/r new and missing on the store. The user's pull of it fails at ro/r. */
async function pullHalf(): Promise<{ readonly bring: () => void; readonly second: string }> {
  const known = existsSync(join(store(), 'objects')) ? objects() : [];
  const second = await others({ a: '2', x: 'x', 'ro/r': LARGE });
  const bring = hideObject(known);
  await failed(pull(testContext(user), {}));
  return { bring, second };
}

/** What the run leaves of the index: all of it, what a kill before its first rows leaves, or nothing. */
const INDEXES = ['whole', 'as before the run', 'lost'] as const;
function keepIndex(root: string, state: (typeof INDEXES)[number]): () => void {
  const names = () => readdirSync(join(root, '.dray')).filter((name) => name.startsWith('index.db'));
  const kept = sandbox.path(`index-${readdirSync(sandbox.folder).length}`, 'x');
  for (const name of names()) cpSync(join(root, '.dray', name), join(kept, '..', name));
  return () => {
    if (state === 'whole') return;
    for (const name of names()) rmSync(join(root, '.dray', name));
    if (state === 'lost') return;
    for (const name of readdirSync(join(kept, '..')))
      cpSync(join(kept, '..', name), join(root, '.dray', name));
  };
}

describe.each(INDEXES)('After a pull that did not end, with the index %s', (index) => {
  let bring: () => void;
  let second: string;
  beforeEach(async () => {
    const lose = keepIndex(user, index);
    ({ bring, second } = await pullHalf());
    lose();
  });

  it('a push sends the edits of the user alone, and undoes nothing that others did since', async () => {
    const third = await others({ a: '1', x: null });
    writeAll('user', { b: 'mine' });
    const pushed = await push(testContext(user), {});
    expect(pushed).toMatchObject({
      result: 'pushed',
      failed: 0,
      changes: { modified: 1, added: 0, deleted: 0 },
    });
    bring();
    expect(parentsOf(tipOf(store()))).toEqual([third]);
    expect(await branchHas()).toEqual({ a: '1', b: 'mine', c: '1', 'ro/r': 'largelarge' });
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(readBeginnings(user)).toEqual(await branchHas());
    expect(await shown()).toEqual([]);
    expect(stateOf(user)).not.toHaveProperty('arriving');
  });

  it('what others change of what arrived is no conflict', async () => {
    bring();
    await others({ a: '3', x: 'x3' });
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(readBeginnings(user)).toEqual({ a: '3', b: '1', c: '1', x: 'x3', 'ro/r': 'largelarge' });
  });

  it('shows and compares the edits of the user alone', async () => {
    writeAll('user', { b: 'mine' });
    expect(await shown()).toEqual(['modified b']);
    const context = testContext(user);
    await diff(context, {});
    expect(eventsOf(context, 'change').map(({ path }) => path)).toEqual(['b']);
    const compared = testContext(user);
    await diff(compared, { from: second });
    expect(eventsOf(compared, 'change').map(({ change, path }) => `${change} ${path}`)).toEqual([
      'modified b',
      'deleted ro/r',
    ]);
  });

  it('a push without edits sends nothing, and the next pull brings the rest', async () => {
    expect(await push(testContext(user), {})).toMatchObject({ result: 'nothingToPush' });
    expect(tipOf(store())).toBe(second);
    bring();
    expect(await pull(testContext(user), {})).toMatchObject({
      failed: 0,
      changes: { added: 1, modified: 0 },
    });
    expect(readBeginnings(user)).toEqual(readBeginnings(other));
    expect(await shown()).toEqual([]);
  });

  it('pushes before and after others push, and pulls, end in one tree', async () => {
    writeAll('user', { b: 'mine' });
    await push(testContext(user), {});
    expect(await shown()).toEqual([]);
    await pull(testContext(other), {}).catch(() => {});
    bring();
    await pull(testContext(other), {});
    await others({ a: '3', c: null });
    writeAll('user', { b: 'mine again', d: 'new' });
    await push(testContext(user), {});
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
    const wanted = { a: '3', b: 'mine again', d: 'new', x: 'x', 'ro/r': 'largelarge' };
    expect(readBeginnings(user)).toEqual(wanted);
    expect(await branchHas()).toEqual(wanted);
    await pull(testContext(other), {});
    expect(readBeginnings(other)).toEqual(wanted);
  });

  it('an edit of what others changed since is a conflict before anything is sent', async () => {
    await others({ b: 'theirs' });
    writeAll('user', { b: 'mine' });
    await expect(push(testContext(user), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['b'] },
    });
  });

  it('going back to the commit before brings its files, and a push records nothing', async () => {
    bring();
    const { bases } = stateOf(user) as { bases: { origin: string } };
    writeAll('user', { b: 'mine' });
    await pull(testContext(user), { ref: bases.origin });
    expect(readBeginnings(user)).toEqual({ a: '1', b: 'mine', c: '1' });
    expect(await shown()).toEqual(['modified b']);
    await pull(testContext(user), {});
    expect(readBeginnings(user)).toEqual({ a: '2', b: 'mine', c: '1', x: 'x', 'ro/r': 'largelarge' });
    expect(await shown()).toEqual(['modified b']);
  });
});

describe('After a pull that did not end', () => {
  it('what the user then changes of what arrived is an edit: old content, a deletion, new content', async () => {
    const { bring } = await pullHalf();
    writeAll('user', { a: '1', x: null });
    expect(await shown()).toEqual(['modified a', 'deleted x']);
    expect(await push(testContext(user), {})).toMatchObject({ changes: { modified: 1, deleted: 1 } });
    writeAll('user', { a: 'edited' });
    expect(await push(testContext(user), {})).toMatchObject({ changes: { modified: 1 } });
    bring();
    expect(await branchHas()).toEqual({ a: 'edited', b: '1', c: '1', 'ro/r': 'largelarge' });
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(readBeginnings(user)).toEqual({ a: 'edited', b: '1', c: '1', 'ro/r': 'largelarge' });
  });

  it('a restore brings back what arrived', async () => {
    await pullHalf();
    writeAll('user', { a: 'edited', x: null, b: 'mine' });
    expect(await restore(testContext(user), { paths: ['a', 'x', 'b'] })).toMatchObject({
      restored: 3,
      failed: 0,
    });
    expect(readBeginnings(user)).toEqual({ a: '2', b: '1', c: '1', x: 'x' });
    expect(await shown()).toEqual([]);
  });

  it('status and diff ask the remote nothing, and status says what is missing', async () => {
    await pullHalf();
    renameSync(store(), sandbox.path('away'));
    const context = testContext(user);
    expect(await status(context, {})).toMatchObject({ changes: { added: 0, modified: 0 } });
    expect(eventsOf(context, 'warning')).toMatchObject([
      { warning: 'halfArrived', message: expect.stringContaining('"dray pull"') },
    ]);
    await diff(testContext(user), {});
  });

  it('a push to another remote is refused until it has ended, or was taken back as the advice says', async () => {
    await remoteAdd(testContext(user), { name: 'backup', url: sandbox.path('backup') });
    const backup = () => testContext(user, { remoteName: 'backup' });
    await push(backup(), {});
    const { bring } = await pullHalf();
    const refusal = await push(backup(), {}).catch((error: unknown) => error as { message: string });
    expect(refusal).toMatchObject({ code: 'conflict', data: { reason: 'halfArrived' } });
    const back = /"dray pull ([0-9a-f]+)"/.exec((refusal as { message: string }).message)![1]!;
    bring();
    await pull(testContext(user), { ref: back });
    expect(readBeginnings(user)).toEqual({ a: '1', b: '1', c: '1' });
    expect(await push(backup(), {})).toMatchObject({ result: 'nothingToPush' });
    await pull(testContext(user), {});
    expect(await push(backup(), {})).toMatchObject({ result: 'pushed' });
  });

  it('a second remote that was pulled from in between costs no edit', async () => {
    await remoteAdd(testContext(user), { name: 'mirror', url: store() });
    const mirror = () => testContext(user, { remoteName: 'mirror' });
    await pull(mirror(), {});
    const { bring } = await pullHalf();
    writeAll('user', { b: 'mine' });
    await failed(pull(mirror(), {}));
    await status(testContext(user), {});
    await others({ a: '1', x: null });
    bring();
    await pull(mirror(), {});
    await pull(testContext(user), {});
    await push(testContext(user), {});
    expect(await branchHas()).toEqual({ a: '1', b: 'mine', c: '1', 'ro/r': 'largelarge' });
  });

  it('a push records a revert, which is pending no more', async () => {
    await others({ c: '2' });
    await pull(testContext(user), {});
    await revert(testContext(user), { ref: '@' });
    const { bring } = await pullHalf();
    expect(await push(testContext(user), {})).toMatchObject({ result: 'pushed', changes: { modified: 1 } });
    expect(await status(testContext(user), {})).not.toHaveProperty('merging');
    bring();
    expect(await branchHas()).toMatchObject({ a: '2', c: '1' });
  });

  it('a push --no-index waits for the rest', async () => {
    const { bring } = await pullHalf();
    writeAll('user', { a: 'edited', b: 'mine' });
    await expect(push(testContext(user), { noIndex: true })).rejects.toMatchObject({ code: 'conflict' });
    bring();
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(readBeginnings(user)).toMatchObject({ a: 'edited', b: 'mine', x: 'x' });
  });

  it('a file that went before its empty folder could not is no deletion of the user', async () => {
    await others({ 'ro/r': 'r' });
    await pull(testContext(user), {});
    rmSync(join(other, 'ro'), { recursive: true });
    await others({});
    await asNobody(sandbox, async () => {
      // `ro` can be emptied, and not removed.
      chmodSync(user, 0o555);
      await failed(pull(testContext(user), {}));
      chmodSync(user, 0o755);
      expect(existsSync(join(user, 'ro/r'))).toBe(false);
      expect(await shown()).toEqual([]);
      const back = await others({ 'ro/r': 'r' });
      await pull(testContext(user), {});
      expect(readBeginnings(user)).toMatchObject({ 'ro/r': 'r' });
      expect(await push(testContext(user), {})).toMatchObject({ result: 'nothingToPush', commit: back });
    });
  });

  it('in a folder that could not be written, goes on once it can be', async () => {
    writeAll('other', { 'ro/keep': 'k' });
    await others({});
    await pull(testContext(user), {});
    const second = await others({ a: '2', x: 'x', 'ro/r': 'r' });
    await asNobody(sandbox, async () => {
      chmodSync(join(user, 'ro'), 0o555);
      await failed(pull(testContext(user), {}));
      chmodSync(join(user, 'ro'), 0o755);
      expect(await others({ a: '1', x: null })).not.toBe(second);
      writeAll('user', { b: 'mine' });
      expect(await push(testContext(user), {})).toMatchObject({
        changes: { modified: 1, added: 0, deleted: 0 },
      });
      expect(await branchHas()).toEqual({ a: '1', b: 'mine', c: '1', 'ro/keep': 'k', 'ro/r': 'r' });
    });
  });
});

describe.each(INDEXES)('After a clone that did not end, with the index %s', (index) => {
  let bring: () => void;
  let half: string;
  beforeEach(async () => {
    const known = existsSync(join(store(), 'objects')) ? objects() : [];
    await others({ 'ro/r': LARGE });
    bring = hideObject(known);
    half = sandbox.path('half');
    rmSync(half, { recursive: true, force: true });
    await failed(clone('half'));
    if (index === 'lost')
      for (const name of readdirSync(join(half, '.dray')))
        if (name.startsWith('index.db')) rmSync(join(half, '.dray', name));
  });

  it('a push sends the edits of the user alone, and undoes nothing that others did since', async () => {
    writeAll('half', { c: 'mine', d: 'new' });
    if (index === 'lost') writeAll('half', { c: '1' });
    await others({ a: '2', b: null });
    expect(await push(testContext(half), {})).toMatchObject({ result: 'pushed', failed: 0 });
    bring();
    const c = index === 'lost' ? '1' : 'mine';
    const wanted = { a: '2', c, d: 'new', 'ro/r': 'largelarge' };
    expect(await branchHas()).toEqual(wanted);
    expect(await pull(testContext(half), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(readBeginnings(half)).toEqual(wanted);
    expect(await shown(half)).toEqual([]);
  });

  it('shows the edits of the user alone, and the same clone goes on', async () => {
    writeAll('half', { d: 'new' });
    expect(await shown(half)).toEqual(['added d']);
    bring();
    expect(await clone('half')).toMatchObject({ failed: 0 });
    expect(await shown(half)).toEqual(['added d']);
    expect(stateOf(half)).not.toHaveProperty('arriving');
  });
});

describe('After a switch that did not end', () => {
  let bring: () => void;
  beforeEach(async () => {
    await switchBranch(testContext(other), { name: 'trial', create: true });
    const known = existsSync(join(store(), 'objects')) ? objects() : [];
    await others({ a: 'trial', new: 'trial', c: null, large: LARGE });
    bring = hideObject(known);
    await switchBranch(testContext(other), { name: 'main' });
    await failed(switchBranch(testContext(user), { name: 'trial' }));
  });

  it('status shows the edits of the user alone, and a push is refused', async () => {
    writeAll('user', { b: 'mine' });
    expect(await shown()).toEqual(['modified b']);
    await expect(push(testContext(user), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { reason: 'halfArrived', count: 3 },
    });
  });

  it('back and forth half-way keeps the edits, and ends on either branch', async () => {
    writeAll('user', { b: 'mine', a: 'mine too' });
    await expect(switchBranch(testContext(user), { name: 'main' })).rejects.toMatchObject({
      code: 'conflict',
    });
    writeAll('user', { a: 'trial' });
    await switchBranch(testContext(user), { name: 'main' });
    expect(readBeginnings(user)).toEqual({ a: '1', b: 'mine', c: '1' });
    await failed(switchBranch(testContext(user), { name: 'trial' }));
    expect(readBeginnings(user)).toEqual({ a: 'trial', b: 'mine', new: 'trial' });
    bring();
    await switchBranch(testContext(user), { name: 'trial' });
    expect(readBeginnings(user)).toEqual({ a: 'trial', b: 'mine', new: 'trial', large: 'largelarge' });
    expect(await push(testContext(user), {})).toMatchObject({
      branch: 'trial',
      changes: { modified: 1, added: 0, deleted: 0 },
    });
    await switchBranch(testContext(user), { name: 'main' });
    expect(readBeginnings(user)).toEqual({ a: '1', b: '1', c: '1' });
  });

  it('a pull of the own branch that fails in between sends nothing of the other one', async () => {
    bring();
    const known = objects();
    await others({ b: 'others', x: 'x', 'ro/r': Buffer.alloc(1_500_000, 'other') });
    const bringOther = hideObject(known);
    await failed(pull(testContext(user), {}));
    writeAll('user', { d: 'mine' });
    const refused = push(testContext(user), {});
    const outcome = await refused.catch((error: unknown) => error);
    bringOther();
    // All of the other branch was written over, so either is honest: a refusal, or the edit alone.
    if ((outcome as { code?: string }).code !== undefined)
      expect(outcome).toMatchObject({ data: { reason: 'halfArrived' } });
    await pull(testContext(user), {});
    await push(testContext(user), {});
    expect(await branchHas()).toEqual({
      a: '1',
      b: 'others',
      c: '1',
      d: 'mine',
      x: 'x',
      'ro/r': 'otherother',
    });
  });
});

it('a workspace whose first pull did not end takes nothing that arrived for its own', async () => {
  const known = existsSync(join(store(), 'objects')) ? objects() : [];
  await others({ large: LARGE });
  const bring = hideObject(known);
  const late = sandbox.path('late');
  mkdirSync(late, { recursive: true });
  writeFileSync(join(late, 'own'), 'own');
  writeFileSync(join(late, 'a'), '1');
  await initWorkspace(testContext(late), { remoteUrl: store() });
  await failed(pull(testContext(late), {}));
  await others({ b: null, a: '2' });
  expect(await push(testContext(late), {})).toMatchObject({ changes: { added: 1, modified: 0 } });
  bring();
  expect(await branchHas()).toEqual({ a: '2', c: '1', own: 'own', large: 'largelarge' });
});

it('a conflict whose side could not be written is not counted as resolved', async () => {
  await others({ 'ro/r': '1' });
  await pull(testContext(user), {});
  await others({ a: '2', 'ro/r': '2' });
  writeAll('user', { a: 'mine', 'ro/r': 'mine' });
  await asNobody(sandbox, async () => {
    chmodSync(join(user, 'ro'), 0o555);
    expect(await pull(testContext(user), { conflicts: 'theirs' })).toMatchObject({ failed: 1, decided: 1 });
    chmodSync(join(user, 'ro'), 0o755);
    expect(await pull(testContext(user), { conflicts: 'theirs' })).toMatchObject({ failed: 0, decided: 1 });
  });
  expect(readBeginnings(user)).toEqual({ a: '2', b: '1', c: '1', 'ro/r': '2' });
});

it('a workspace without its folder for temporary files makes it again', async () => {
  await others({ a: '2' });
  rmSync(join(user, '.dray/tmp'), { recursive: true });
  expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, changes: { modified: 1 } });
});

it('keeping both of a conflict after a kill leaves one copy', async () => {
  await others({ a: 'theirs' });
  writeAll('user', { a: 'mine' });
  const day = new Date().toISOString().slice(0, 10);
  // As the killed run leaves it: the second name is there, and the file not replaced yet.
  linkSync(join(user, 'a'), join(user, `a (mine, ${day})`));
  expect(await pull(testContext(user), { conflicts: 'both' })).toMatchObject({ failed: 0, decided: 1 });
  expect(readBeginnings(user)).toEqual({ a: 'theirs', [`a (mine, ${day})`]: 'mine', b: '1', c: '1' });
});
