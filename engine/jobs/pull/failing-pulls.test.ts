/** What pulls that do not end say, and what they leave on record. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { tipOf } from '../session/damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { readBeginnings } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { cloneWorkspace } from './clone.ts';
import { pull } from './pull.ts';

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
});
