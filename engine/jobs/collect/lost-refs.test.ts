import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { log } from '../history/log.ts';
import { branch, tag } from '../history/refs.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { repair } from '../repair/repair.ts';
import { forget } from '../retention/forget.ts';
import { keysBelow, tipOf, truncateObject } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { collectGarbage } from './collect.ts';

let sandbox: Sandbox;
let root: string;
let remote: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  remote = sandbox.path('store');
  mkdirSync(root);
  await initWorkspace(testContext(root), { remoteUrl: remote });
  sandbox.write('work/a', '1');
  await pushed();
});
afterEach(() => sandbox[Symbol.dispose]());

const pushed = (at = root) => push(testContext(at), {});
const collected = (at = root, more: Parameters<typeof testContext>[1] = {}) =>
  collectGarbage(testContext(at, more), { graceSeconds: 0 });
const repaired = (at: string, request = {}) => repair(testContext(at), request);
const refPath = (name: string) => `${remote}/refs/${name}`;
const state = () => JSON.parse(readFileSync(`${remote}/collection.json`, 'utf8'));
const gone = (name: string) => ({ code: 'damaged', data: { reason: 'refGone', ref: name } });
const contentKeys = () =>
  ['objects', 'packs', 'commits', 'manifests'].flatMap((folder) => keysBelow(remote, folder));

/** A round has seen main, side and v1. The other workspace is on side. @returns The other workspace. */
async function afterRound(): Promise<string> {
  await tag(testContext(root), { name: 'v1' });
  sandbox.write('work/a', '2');
  await pushed();
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'other' });
  const other = sandbox.path('other');
  await switchBranch(testContext(other), { name: 'side', create: true });
  sandbox.write('other/b', 'side');
  await pushed(other);
  await makeGarbage();
  expect(await collected()).toMatchObject({ result: 'collected' });
  return other;
}

/** A commit that is forgotten. */
async function makeGarbage(): Promise<void> {
  for (const text of ['3', '4']) {
    sandbox.write('work/a', `${text} ${keysBelow(remote, 'commits').length}`);
    await pushed();
  }
  await forget(testContext(root), { policy: { keepLast: 1 } });
}

describe('A ref that the record of a round names and that is gone', () => {
  it.each(['heads/main', 'heads/side', 'tags/v1'])(
    'ends a collection before it condemns anything, and is damage to verify and repair: %s',
    async (name) => {
      const other = await afterRound();
      const tree = describeTree(root);
      if (name !== 'heads/main') await makeGarbage();
      const at = name === 'heads/main' ? other : root;
      const before = readFileSync(refPath(name));
      rmSync(refPath(name));
      const [keys, collection] = [contentKeys(), state()];
      const context = testContext(at);
      expect(await verify(context, {})).toMatchObject({ damaged: 1, missing: 0 });
      expect(eventsOf(context, 'check')).toMatchObject([
        { result: 'failed', detail: expect.stringContaining(`refs/${name} is missing`) },
      ]);
      for (let run = 0; run < 2; run += 1) await expect(collected(at)).rejects.toMatchObject(gone(name));
      await expect(collectGarbage(testContext(at), { graceSeconds: 0, dryRun: true })).rejects.toMatchObject(
        gone(name),
      );
      expect(await repaired(at)).toMatchObject({ result: 'notRepaired', left: 1 });
      expect([contentKeys(), state()]).toEqual([keys, collection]);
      writeFileSync(refPath(name), before);
      expect(await verify(testContext(at), {})).toMatchObject({ damaged: 0, missing: 0 });
      await collected(at);
      expect(describeTree(root)).toEqual(tree.length > 0 ? describeTree(root) : tree);
    },
  );

  it('comes back by the advice of the error, with what was pushed since the round', async () => {
    const other = await afterRound();
    sandbox.write('work/new', 'since');
    await pushed();
    const tip = tipOf(remote);
    rmSync(refPath('heads/main'));
    await expect(collected(other)).rejects.toMatchObject({ data: { command: 'dray repair --branch main' } });
    expect(await repaired(other, { branch: 'main' })).toMatchObject({ commit: tip, left: 0 });
    rmSync(refPath('tags/v1'));
    const error = await collected(other).catch(
      (refused: unknown) => refused as { data: { command: string } },
    );
    const [, , name, ref] = (error as { data: { command: string } }).data.command.split(' ');
    await tag(testContext(other), { name: name!, ref: ref! });
    await collected(other);
    expect(await pull(testContext(root), {})).toMatchObject({ result: 'upToDate' });
  });

  it.each(['main', 'v1'])('is named as lost by whoever asks for it: %s', async (name) => {
    const other = await afterRound();
    const ref = name === 'v1' ? 'tags/v1' : 'heads/main';
    rmSync(refPath(ref));
    await expect(log(testContext(other), { ref: name })).rejects.toMatchObject(gone(ref));
    await expect(pull(testContext(root), { ref: name })).rejects.toMatchObject(gone(ref));
    const request = { url: remote, directory: 'third', ...(name === 'v1' ? { ref: name } : {}) };
    await expect(cloneWorkspace(testContext(sandbox.folder), request)).rejects.toMatchObject(gone(ref));
    // One that nobody has seen is not there.
    await expect(log(testContext(other), { ref: 'never' })).rejects.toMatchObject({ code: 'notFound' });
    await branch(testContext(other), { name: 'short' });
    await collected(other).catch(() => undefined);
    await branch(testContext(other), { name: 'short', remove: true });
    await expect(log(testContext(other), { ref: 'short' })).rejects.toMatchObject({ code: 'notFound' });
  });

  it('may be given up by name, as a branch that somebody removes', async () => {
    const other = await afterRound();
    rmSync(refPath('heads/main'));
    await expect(branch(testContext(other), { name: 'nothing', remove: true })).rejects.toMatchObject({
      code: 'notFound',
    });
    expect(await branch(testContext(other), { name: 'main', remove: true })).toMatchObject({
      result: 'removed',
    });
    expect(JSON.parse(readFileSync(refPath('heads/main'), 'utf8'))).toMatchObject({ state: 'removed' });
    expect(await collected(other)).toMatchObject({ result: 'collected' });
    expect(await verify(testContext(other), {})).toMatchObject({ damaged: 0 });
  });

  it('is not made again by a workspace that has never seen it', async () => {
    await afterRound();
    rmSync(refPath('heads/main'));
    const fresh = sandbox.path('fresh');
    mkdirSync(fresh);
    await initWorkspace(testContext(fresh), { remoteUrl: remote });
    sandbox.write('fresh/z', 'z');
    await expect(pushed(fresh)).rejects.toMatchObject(gone('heads/main'));
  });

  it('is met also by whoever ends the round that another collector began', async () => {
    const other = await afterRound();
    await makeGarbage();
    const isMarked = () => state().phase === 'marked';
    const controller = new AbortController();
    const take = () => {
      if (isMarked()) controller.abort();
      return undefined;
    };
    const stopped = { signal: controller.signal, requestThrottle: { take } };
    await expect(collected(root, stopped)).rejects.toMatchObject({ code: 'aborted' });
    rmSync(refPath('heads/main'));
    const keys = contentKeys();
    await expect(collected(other)).rejects.toMatchObject(gone('heads/main'));
    expect(contentKeys()).toEqual(keys);
    await repaired(root, { branch: 'main' });
    expect(await collected(other)).toMatchObject({ continued: true });
    expect(await verify(testContext(root), { readDataPercent: 100 })).toMatchObject({
      damaged: 0,
      missing: 0,
    });
  });

  it('is known also where the record is lost, and to who makes the record again', async () => {
    const other = await afterRound();
    const { refs } = state();
    rmSync(`${remote}/collection/${refs.slice(0, 2)}/${refs.slice(2)}`);
    await expect(collected(other)).rejects.toMatchObject({ code: 'damaged' });
    expect(await repaired(other)).toMatchObject({ result: 'repaired', left: 0 });
    expect(await collected(other)).toMatchObject({});
    // A workspace that is on the branch knows it without any record.
    rmSync(refPath('heads/side'));
    await expect(collected(other)).rejects.toMatchObject(gone('heads/side'));
  });
});

describe('Before any round, a workspace knows the branch that it is on', () => {
  it('so gc there ends, and verify and repair name it', async () => {
    sandbox.write('work/a', '2');
    await pushed();
    await branch(testContext(root), { name: 'old', ref: (await branchCommits())[0]! });
    rmSync(refPath('heads/main'));
    await expect(collected()).rejects.toMatchObject(gone('heads/main'));
    expect(await verify(testContext(root), {})).toMatchObject({ damaged: 1 });
    expect(await repaired(root)).toMatchObject({ result: 'notRepaired', left: 1 });
    expect(await repaired(root, { branch: 'main' })).toMatchObject({ result: 'repaired' });
    expect(await collected()).toMatchObject({ result: 'nothingToCollect' });
  });

  it('but a ref that is damaged, and not gone, is reported once', async () => {
    await tag(testContext(root), { name: 'v1' });
    truncateObject(remote, 'refs/heads/main');
    expect(await verify(testContext(root), {})).toMatchObject({ damaged: 1 });
  });

  async function branchCommits(): Promise<string[]> {
    const parents = keysBelow(remote, 'commits').map((key) => key.slice('commits/'.length).replace('/', ''));
    return parents.filter((hash) => hash !== tipOf(remote));
  }
});
