/** Writers after a collection has written a pack anew and removed the old one, which commits go on naming. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noise } from '../../peer/peer.fixture.ts';
import { collectGarbage } from '../collect/collect.ts';
import { branch, tag } from '../history/refs.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { initWorkspace } from '../remotes/init.ts';
import { repair } from '../repair/repair.ts';
import { forget } from '../retention/forget.ts';
import { keysBelow, tipOf } from '../session/damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { push } from './push.ts';

let sandbox: Sandbox;
let work: string;
let remote: string;
let other: string;
/** A commit on a branch of its own; its content is in the pack that was written anew. */
let side: string;

const collect = () => collectGarbage(testContext(work), { graceSeconds: 0 });
const whole = { missing: 0, damaged: 0 };

beforeEach(async () => {
  sandbox = createSandbox();
  [work, remote, other] = ['work', 'remote', 'other'].map((name) => sandbox.path(name)) as [
    string,
    string,
    string,
  ];
  for (let at = 0; at < 8; at += 1) sandbox.write(`work/packed/${at}`, noise(20_000, at + 1));
  await initWorkspace(testContext(work), { remoteUrl: remote });
  await push(testContext(work), {});
  const [pack] = keysBelow(remote, 'packs');
  for (let at = 0; at < 6; at += 1) rmSync(`${work}/packed/${at}`);
  await push(testContext(work), {});
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: other });
  await switchBranch(testContext(work), { name: 'side', create: true });
  sandbox.write('work/on-side', 'side');
  side = (await push(testContext(work), {})).commit!;
  await switchBranch(testContext(work), { name: 'main' });
  sandbox.write('work/large', noise(2_000_000, 20));
  await push(testContext(work), {});
  await forget(testContext(work), { policy: { keepLast: 2 } });
  for (let round = 0; round < 2; round += 1) await collect();
  expect(existsSync(`${remote}/${pack}`)).toBe(false);
  expect(keysBelow(remote, 'relocations')).toHaveLength(1);
});
afterEach(() => sandbox[Symbol.dispose]());

describe('after a pack was written anew', () => {
  it('a tag is given to a commit that names the old one', async () => {
    await tag(testContext(work), { name: 'v1', ref: side });
    for (let round = 0; round < 2; round += 1) await collect();
    expect(await verify(testContext(work), { readDataPercent: 100 })).toMatchObject(whole);
  });

  it('a tag is refused if the new pack must be avoided as well', async () => {
    for (const key of keysBelow(remote, 'packs')) sandbox.write(`remote/${key}`, 'damaged');
    // It retires their keys.
    await repair(testContext(work), {});
    // While a branch names the commit, a tag may.
    await branch(testContext(work), { name: 'side', remove: true });
    await expect(tag(testContext(work), { name: 'v1', ref: side })).rejects.toMatchObject({
      data: { reason: 'collected' },
    });
  });

  it('a push merges from a workspace whose base names the old one', async () => {
    sandbox.write('other/own', 'own');
    sandbox.write('other/packed/own', 'own');
    await push(testContext(other), {});
    for (let round = 0; round < 2; round += 1) await collect();
    expect(await verify(testContext(work), { readDataPercent: 100 })).toMatchObject(whole);
    await pull(testContext(work), {});
    await pull(testContext(other), {});
    expect(describeTree(other)).toEqual(describeTree(work));
    expect(readFileSync(`${work}/own`, 'utf8')).toBe('own');
  });

  it('a push without the index sends nothing again', async () => {
    const tip = tipOf(remote);
    const again = await push(testContext(work), { noIndex: true });
    expect(again).toMatchObject({ result: 'nothingToPush', uploadedObjects: 0, requests: { writes: 0 } });
    expect(tipOf(remote)).toBe(tip);
  });

  it('a push without the index sends again what the new pack has lost', async () => {
    rmSync(`${remote}/packs`, { recursive: true });
    const again = await push(testContext(work), { noIndex: true });
    // It gets the same name, so the relocation leads to it.
    expect(again).toMatchObject({ result: 'nothingToPush', uploadedObjects: 1 });
    expect(await verify(testContext(work), { ref: 'main', readDataPercent: 100 })).toMatchObject(whole);
  });

  it('a repair sends only what is lost', async () => {
    const [object, ...more] = keysBelow(remote, 'objects');
    expect(more).toEqual([]);
    rmSync(`${remote}/${object}`);
    expect(await repair(testContext(work), {})).toMatchObject({
      result: 'repaired',
      uploadedObjects: 1,
      left: 0,
    });
  });
});
