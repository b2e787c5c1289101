import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listTree } from '../../history/list-tree.ts';
import { log } from '../../history/log.ts';
import { branch } from '../../history/refs.ts';
import { cloneWorkspace } from '../../pull/clone.ts';
import { pull } from '../../pull/pull.ts';
import { switchBranch } from '../../pull/switch.ts';
import { push } from '../../push/push.ts';
import { initWorkspace } from '../../remotes/init.ts';
import { repair } from '../../repair/repair.ts';
import { describeTree } from '../../trees/same-trees.fixture.ts';
import { commitKeyOf, keysBelow, tipOf } from '../damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../job.fixture.ts';

let sandbox: Sandbox;
let root: string;
let other: string;
let remote: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  other = sandbox.path('other');
  remote = sandbox.path('store');
  mkdirSync(root);
  await initWorkspace(testContext(root), { remoteUrl: remote });
  sandbox.write('work/a', '1');
  await pushed();
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'other' });
});
afterEach(() => sandbox[Symbol.dispose]());

const pushed = (at = root) => push(testContext(at), {});
const pulled = (at = root, ref?: string) => pull(testContext(at), ref === undefined ? {} : { ref });
const refPath = (name = 'main') => `${remote}/refs/heads/${name}`;
const refused = (reason: string) => ({ code: 'damaged', data: { reason } });
const follows = (at: string) => JSON.parse(readFileSync(`${at}/.dray/state.json`, 'utf8')).follows;

/** A commit of the other workspace, which this one has not seen. */
async function pushOther(name: string): Promise<string> {
  sandbox.write(`other/${name}`, name);
  await pushed(other);
  return tipOf(remote);
}

describe('A branch whose ref is gone', () => {
  it('is not made again by a push from behind, which sends nothing', async () => {
    await pushOther('x');
    rmSync(refPath());
    const before = keysBelow(remote, '');
    sandbox.write('work/b', '2');
    await expect(pushed()).rejects.toMatchObject({
      ...refused('refGone'),
      message: expect.stringContaining('dray repair --branch main'),
    });
    expect(keysBelow(remote, '')).toEqual(before);
  });

  it('is not taken for a branch without commits by a pull or a push without changes', async () => {
    const tip = await pushOther('x');
    rmSync(refPath());
    const tree = describeTree(other);
    await expect(pulled(other)).rejects.toMatchObject(refused('refGone'));
    await expect(pushed(other)).rejects.toMatchObject(refused('refGone'));
    await expect(switchBranch(testContext(other), { name: 'main' })).rejects.toMatchObject(
      refused('refGone'),
    );
    expect(describeTree(other)).toEqual(tree);
    // The advice of the error, run from the workspace that is behind: the newest commit comes back.
    expect(await repair(testContext(root), { branch: 'main' })).toMatchObject({ commit: tip });
    expect(await pulled()).toMatchObject({ commit: tip });
    expect(existsSync(sandbox.path('work/x'))).toBe(true);
  });

  it('is named as lost by a workspace that is on it, before any collection', async () => {
    rmSync(refPath());
    for (const ref of ['main', 'main~1']) {
      await expect(log(testContext(root), { ref })).rejects.toMatchObject(refused('refGone'));
      await expect(listTree(testContext(root), { ref })).rejects.toMatchObject(refused('refGone'));
    }
    await expect(log(testContext(root), {})).rejects.toMatchObject(refused('refGone'));
    await expect(log(testContext(root), { ref: 'never' })).rejects.toMatchObject({ code: 'notFound' });
    await repair(testContext(root), { branch: 'main' });
    await switchBranch(testContext(root), { name: 'side', create: true });
    await branch(testContext(other), { name: 'side', remove: true });
    await expect(log(testContext(root), {})).rejects.toMatchObject({ code: 'notFound' });
  });

  it('is not made again while a push runs', async () => {
    const tip = await pushOther('x');
    await pulled();
    sandbox.write('work/b', '2');
    const context = testContext(root, {
      requestThrottle: {
        take: () => {
          // The push has read the ref, and sends content.
          if (keysBelow(remote, 'packs').length > 2 && existsSync(refPath())) rmSync(refPath());
          return undefined;
        },
      },
    });
    await expect(push(context, {})).rejects.toMatchObject(refused('refGone'));
    expect(existsSync(refPath())).toBe(false);
    await repair(testContext(root), { branch: 'main', commit: tip });
    expect(await pushed()).toMatchObject({ result: 'pushed' });
  });

  it('is not made again by a workspace whose clone did not end', async () => {
    const files = keysBelow(remote, 'packs')[0] ?? keysBelow(remote, 'objects')[0]!;
    renameSync(`${remote}/${files}`, sandbox.path('away'));
    const clone = cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'third' });
    await clone.catch(() => {});
    rmSync(`${sandbox.path('third')}/.dray/index.db`, { force: true });
    const statePath = `${sandbox.path('third')}/.dray/state.json`;
    // As a clone that was killed before its first record leaves it.
    const { arriving: _, ...state } = JSON.parse(readFileSync(statePath, 'utf8'));
    writeFileSync(statePath, JSON.stringify({ ...state, bases: {}, cloning: {} }));
    rmSync(refPath());
    const before = keysBelow(remote, '');
    sandbox.write('third/own', 'own');
    for (const job of [pushed, pulled])
      await expect(job(sandbox.path('third'))).rejects.toMatchObject(refused('refGone'));
    expect(keysBelow(remote, '')).toEqual(before);
  });

  it('is made again at a choice by name where two commits came after this one', async () => {
    const first = await pushOther('x');
    const ref = readFileSync(refPath());
    sandbox.write('other/y', 'y');
    await pushed(other);
    // Two heads: a push that was cut before the ref moved left one.
    writeFileSync(refPath(), ref);
    await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'third' });
    sandbox.write('third/z', 'z');
    await pushed(sandbox.path('third'));
    const second = tipOf(remote);
    rmSync(refPath());
    await expect(repair(testContext(root), { branch: 'main' })).rejects.toMatchObject({
      code: 'conflict',
      data: { reason: 'severalCommits' },
    });
    expect(first).not.toBe(second);
    expect(await repair(testContext(root), { branch: 'main', commit: second })).toMatchObject({
      commit: second,
    });
  });

  it('is made again by a push if somebody removed it on purpose', async () => {
    await switchBranch(testContext(root), { name: 'side', create: true });
    sandbox.write('work/b', '2');
    await pushed();
    await branch(testContext(other), { name: 'side', remove: true });
    sandbox.write('work/c', '3');
    expect(await pushed()).toMatchObject({ result: 'pushed', branch: 'side' });
  });

  it('may be a removed one where nobody collects garbage, so a push makes it again there', async () => {
    for (const key of ['dray.json', 'refs/heads/main']) {
      const { required: _, ...old } = JSON.parse(readFileSync(`${remote}/${key}`, 'utf8'));
      writeFileSync(`${remote}/${key}`, JSON.stringify(old));
    }
    rmSync(refPath());
    sandbox.write('work/b', '2');
    expect(await pushed()).toMatchObject({ result: 'pushed' });
  });

  it('is followed under its new name after a rename', async () => {
    await branch(testContext(root), { name: 'main', rename: 'trunk' });
    expect(follows(root)).toEqual({ origin: 'trunk' });
    rmSync(refPath('trunk'));
    sandbox.write('work/b', '2');
    await expect(pushed()).rejects.toMatchObject(refused('refGone'));
  });
});

describe('A branch whose history was replaced', () => {
  /** The other workspace is based on a commit that the branch has lost. @returns The branch's commit. */
  async function replaced(): Promise<string> {
    const ref = readFileSync(refPath());
    await pushOther('x');
    writeFileSync(refPath(), ref);
    sandbox.write('work/b', '2');
    await pushed();
    return tipOf(remote);
  }

  it('changes nothing in a pull without a choice', async () => {
    const tip = await replaced();
    const tree = describeTree(other);
    for (const ref of [undefined, 'main'])
      await expect(pulled(other, ref)).rejects.toMatchObject(refused('historyReplaced'));
    await expect(switchBranch(testContext(other), { name: 'main' })).rejects.toMatchObject(
      refused('historyReplaced'),
    );
    expect(describeTree(other)).toEqual(tree);
    // The choice that the error names.
    expect(await pulled(other, tip.slice(0, 10))).toMatchObject({ result: 'pulled', commit: tip });
    expect(existsSync(sandbox.path('other/x'))).toBe(false);
    expect(await pulled(other)).toMatchObject({ result: 'upToDate' });
    sandbox.write('other/y', 'y');
    expect(await pushed(other)).toMatchObject({ result: 'pushed' });
  });

  it('gets no merge by a push, but keeps what this workspace has as a branch', async () => {
    const tip = await replaced();
    sandbox.write('other/y', 'y');
    await expect(pushed(other)).rejects.toMatchObject(refused('historyReplaced'));
    expect(tipOf(remote)).toBe(tip);
    await switchBranch(testContext(other), { name: 'mine', create: true });
    expect(await pushed(other)).toMatchObject({ result: 'pushed', branch: 'mine' });
  });

  it('is told from a branch that only grew, however far', async () => {
    for (let at = 0; at < 6; at += 1) await pushOther(`${at}`);
    expect(await pulled()).toMatchObject({ result: 'pulled' });
    sandbox.write('work/b', '2');
    await pushed();
    for (let at = 0; at < 3; at += 1) {
      sandbox.write(`other/more${at}`, '');
      await pushed(other);
    }
    sandbox.write('work/c', '3');
    expect(await pushed()).toMatchObject({ result: 'pushed' });
  });

  it('may be what a commit hides that cannot be read', async () => {
    const between = await pushOther('x');
    await pushOther('y');
    rmSync(`${remote}/${commitKeyOf(between)}`);
    await expect(pulled()).rejects.toMatchObject({
      ...refused('historyUnknown'),
      data: { key: commitKeyOf(between) },
    });
    expect(await pulled(root, tipOf(remote).slice(0, 10))).toMatchObject({ result: 'pulled' });
  });
});
