/** What pulls that do not end say, and what they leave on record. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../api/events.ts';
import { merge } from '../merge/merge.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { tipOf } from '../session/damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { readBeginnings } from '../trees/same-trees.fixture.ts';
import { restore } from '../working-copy/restore.ts';
import { status } from '../working-copy/status.ts';
import { cloneWorkspace } from './clone.ts';
import { pull } from './pull.ts';
import { switchBranch } from './switch.ts';

/** Stored as an object of its own, so that it alone can be missing. */
const LARGE = Buffer.alloc(1_500_000, 'large');

let sandbox: Sandbox;
let user: string;
beforeEach(async () => {
  sandbox = createSandbox();
  user = sandbox.path('user');
  for (const name of ['a', 'b', 'c']) sandbox.write(`other/${name}`, '1');
  await initWorkspace(testContext(sandbox.path('other')), { remoteUrl: store() });
  await push(testContext(sandbox.path('other')), {});
  await cloneWorkspace(testContext(sandbox.folder), { url: store(), directory: 'user' });
});
afterEach(() => sandbox[Symbol.dispose]());

const store = () => sandbox.path('store');
async function others(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  for (const [path, content] of Object.entries(files)) sandbox.write(`other/${path}`, content);
  return (await push(testContext(sandbox.path('other')), {})).commit!;
}
const stateOf = (root: string) =>
  JSON.parse(readFileSync(join(root, '.dray/state.json'), 'utf8')) as Record<string, unknown>;

/** @returns A function that brings them back. */
function hideObjects(): () => void {
  const hidden = sandbox.path('hidden', 'x').replace(/x$/, `${readdirSync(sandbox.folder).length}`);
  const before = existsSync(hidden) ? `${hidden}-again` : hidden;
  renameSync(join(store(), 'objects'), before);
  return () => renameSync(before, join(store(), 'objects'));
}

/** c2: a=2, x new, ro/r new and missing on the store. The user's pull of it fails at ro/r. */
async function pullHalf(): Promise<() => void> {
  await others({ a: '2', x: 'x', 'ro/r': LARGE });
  const bring = hideObjects();
  expect(await pull(testContext(user), {})).toMatchObject({ failed: 1 });
  return bring;
}

describe('After a pull that did not end', () => {
  it('the summary names the commit of which something is missing, and counts what came', async () => {
    const { bases } = stateOf(user) as { bases: { origin: string } };
    const second = await others({ a: '2', x: 'x', 'ro/r': LARGE });
    const bring = hideObjects();
    expect(await pull(testContext(user), {})).toMatchObject({
      commit: bases.origin,
      changes: { added: 1, modified: 1 },
      arriving: { commit: second, missing: 1, command: 'dray pull' },
    });
    bring();
    const pulled = await pull(testContext(user), {});
    expect(pulled).toMatchObject({ commit: second, changes: { added: 1, modified: 0 } });
    expect(pulled).not.toHaveProperty('arriving');
  });

  it('pulls of one newer commit after the other that do not end leave one on record', async () => {
    const bring = await pullHalf();
    for (const b of ['3', '4', '5']) {
      await others({ b });
      expect(await pull(testContext(user), {})).toMatchObject({ failed: 1 });
    }
    expect((stateOf(user).arriving as { origin: [] }).origin).toMatchObject([{ commit: tipOf(store()) }]);
    writeFileSync(join(user, 'c'), 'mine');
    await push(testContext(user), {});
    bring();
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(readBeginnings(user)).toEqual({ a: '2', b: '5', c: 'mine', x: 'x', 'ro/r': 'largelarge' });
  });

  it('one of which a file stayed that a later one could not replace is still on record', async () => {
    await pullHalf();
    const second = tipOf(store());
    await others({ x: Buffer.alloc(1_500_000, 'newer') });
    hideObjects();
    for (const b of ['3', '4']) {
      await others({ b });
      expect(await pull(testContext(user), {})).toMatchObject({ failed: 2 });
    }
    const [first, last, ...more] = (stateOf(user).arriving as { origin: { commit: string }[] }).origin;
    expect([first, last]).toMatchObject([{ commit: second }, { commit: tipOf(store()) }]);
    expect(more).toEqual([]);
    for (const name of readdirSync(join(user, '.dray')))
      if (name.startsWith('index.db')) rmSync(join(user, '.dray', name));
    expect(await status(testContext(user), {})).toMatchObject({ changes: { added: 0, modified: 0 } });
  });

  it('an edit of what arrived is still one after another pull failed at its last step', async () => {
    const bring = await pullHalf();
    bring();
    writeFileSync(join(user, 'a'), 'edited');
    const inTheWay = join(user, '.dray/state.json.new');
    const emit = ({ type }: JobEvent) => {
      if (type === 'progress' && existsSync(join(user, 'ro/r'))) mkdirSync(inTheWay, { recursive: true });
    };
    await expect(pull(testContext(user, { emit }), {})).rejects.toThrow();
    rmdirSync(inTheWay);
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(readBeginnings(user)).toEqual({ a: 'edited', b: '1', c: '1', x: 'x', 'ro/r': 'largelarge' });
  });

  it('and after a switch that did not end either, the workspace is still on its branch', async () => {
    const other = testContext(sandbox.path('other'));
    await switchBranch(other, { name: 'exp', create: true });
    await others({ c: '2', large: Buffer.alloc(1_500_000, 'other') });
    await switchBranch(other, { name: 'main' });
    await pullHalf();
    expect(await switchBranch(testContext(user), { name: 'exp' })).toMatchObject({ failed: 1 });
    expect(readBeginnings(user)).toEqual({ a: '1', b: '1', c: '2' });
    expect(stateOf(user)).toMatchObject({
      branch: 'main',
      arriving: { origin: [{ command: 'dray switch exp' }] },
    });
  });

  it.each([
    ['nothing', undefined],
    ['a file', 'file'],
  ])('an empty folder that it left, where the commit has %s, is no edit', async (_, content) => {
    await others({ 'd/e/1': '1' });
    await pull(testContext(user), {});
    rmSync(sandbox.path('other', 'd'), { recursive: true });
    if (content) sandbox.write('other/d', content);
    const bring = await pullHalf();
    // As a kill leaves it: the file is gone, its folder is not, and the index knows neither.
    rmSync(join(user, 'd'), { recursive: true, force: true });
    mkdirSync(join(user, 'd/e'), { recursive: true });
    for (const name of readdirSync(join(user, '.dray')))
      if (name.startsWith('index.db')) rmSync(join(user, '.dray', name));
    expect(await status(testContext(user), {})).toMatchObject({ changes: { added: 0, deleted: 0 } });
    writeFileSync(join(user, 'b'), 'mine');
    expect(await push(testContext(user), {})).toMatchObject({ changes: { added: 0, modified: 1 } });
    bring();
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
    const read = readBeginnings(user);
    expect(read).toEqual({
      a: '2',
      b: 'mine',
      c: '1',
      x: 'x',
      'ro/r': 'largelarge',
      ...(content && { d: content }),
    });
    expect(existsSync(join(user, 'd'))).toBe(content !== undefined);
  });

  it('a merge that is not pushed yet can still be taken back', async () => {
    await switchBranch(testContext(user), { name: 'exp', create: true });
    writeFileSync(join(user, 'b'), 'exp');
    await push(testContext(user), {});
    await switchBranch(testContext(user), { name: 'main' });
    await merge(testContext(user), { ref: 'exp' });
    const bring = await pullHalf();
    renameSync(join(store(), 'packs'), sandbox.path('packs'));
    expect(await merge(testContext(user), { abort: true })).toMatchObject({ failed: 1 });
    renameSync(sandbox.path('packs'), join(store(), 'packs'));
    // It is neither whole, nor can it become so before the rest has arrived.
    const again = { code: 'conflict', data: { reason: 'halfArrived', command: 'dray merge --abort' } };
    await expect(merge(testContext(user), { ref: 'exp' })).rejects.toMatchObject(again);
    expect(await merge(testContext(user), { abort: true })).toMatchObject({ result: 'aborted', failed: 0 });
    expect(readBeginnings(user)).toEqual({ a: '2', b: '1', c: '1', x: 'x' });
    bring();
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
  });

  it('an edit of what arrived is still one after a restore of other files was stopped', async () => {
    mkdirSync(sandbox.path('other', 'empty'));
    const bring = await pullHalf();
    writeFileSync(join(user, 'a'), 'edited');
    rmSync(join(user, 'b'));
    rmdirSync(join(user, 'empty'));
    const stop = new AbortController();
    const emit = (event: JobEvent) => event.type === 'progress' && event.phase === 'download' && stop.abort();
    const context = testContext(user, { emit, signal: stop.signal });
    await expect(restore(context, { paths: ['b', 'empty'] })).rejects.toMatchObject({ code: 'aborted' });
    bring();
    expect(await pull(testContext(user), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(readBeginnings(user)).toMatchObject({ a: 'edited', 'ro/r': 'largelarge' });
  });
});
