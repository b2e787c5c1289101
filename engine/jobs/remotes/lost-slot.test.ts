import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { verify } from '../history/verify.ts';
import { push } from '../push/push.ts';
import { keysBelow } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { initWorkspace } from './init.ts';
import { addKey, listKeys, removeKey } from './keys.ts';

let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  mkdirSync(root);
  await initWorkspace(context(), { remoteUrl: sandbox.path('store'), encrypt: true });
  sandbox.write('work/a', 'one');
  await push(context(), {});
});
afterEach(() => sandbox[Symbol.dispose]());

const context = () => testContext(root, { environment: { DRAY_PASSWORD: 'two herons' } });

async function findings(): Promise<readonly string[]> {
  const verifying = context();
  await verify(verifying, {});
  return eventsOf(verifying, 'check')
    .filter(({ result }) => result === 'failed')
    .map(({ detail }) => detail);
}

it('a lost recovery key is named by verify and by the list of keys, until it is removed or back', async () => {
  const { key } = await addKey(context(), { kind: 'recovery', label: 'safe' });
  expect(await findings()).toEqual([]);
  const stored = keysBelow(sandbox.path('store'), 'keys').find(
    (each) => each.endsWith(key.id) || each.startsWith(`keys/${key.id}`),
  )!;
  const path = join(sandbox.path('store'), stored);
  const bytes = readFileSync(path);
  rmSync(path);
  const named = expect.stringContaining(`${stored} is damaged: it is missing, so the recovery key "safe"`);
  expect(await findings()).toEqual([named]);
  expect((await listKeys(context())).damaged).toEqual([named]);
  writeFileSync(path, bytes);
  expect(await findings()).toEqual([]);
  rmSync(path);
  // As the message advises.
  expect(await removeKey(context(), key.id)).toMatchObject({ result: 'removed', key: { kind: 'recovery' } });
  expect(await findings()).toEqual([]);
  expect((await listKeys(context())).damaged).toEqual([]);
});

it('a recovery key that was removed is not missed', async () => {
  const { key } = await addKey(context(), { kind: 'recovery' });
  await removeKey(context(), key.id);
  expect(await findings()).toEqual([]);
  expect((await listKeys(context())).damaged).toEqual([]);
});

it('a slot without a record, as older versions and killed runs leave it, is a key like any other', async () => {
  const { key } = await addKey(context(), { kind: 'recovery' });
  for (const stored of keysBelow(sandbox.path('store'), 'keys'))
    if (stored.endsWith('.record')) rmSync(join(sandbox.path('store'), stored));
  expect(await findings()).toEqual([]);
  expect(await removeKey(context(), key.id)).toMatchObject({ result: 'removed' });
});
