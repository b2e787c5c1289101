import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RepairRequest } from '../../api/jobs/repair.ts';
import { sweepSteps } from '../../base/sweep-steps.fixture.ts';
import { noise } from '../../peer/peer.fixture.ts';
import { collectGarbage } from '../collect/collect.ts';
import { branch } from '../history/refs.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { forget } from '../retention/forget.ts';
import {
  commitKeyOf,
  keysBelow,
  onlyKey,
  spoilObject,
  tipOf,
  truncateObject,
} from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { repair } from './repair.ts';

let sandbox: Sandbox;
let root: string;
let remote: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  remote = sandbox.path('store');
  mkdirSync(root, { recursive: true });
  await initWorkspace(testContext(root), { remoteUrl: remote, layout: { chunkAbove: 4_000_000 } });
  sandbox.write('work/small/a', 'one');
  sandbox.write('work/small/b', 'two');
  sandbox.write('work/middle', new Uint8Array(2_000_000).fill(1));
});
afterEach(() => sandbox[Symbol.dispose]());

const pushed = () => push(testContext(root), {});
const repaired = (request: RepairRequest = {}) => repair(testContext(root), request);
const verified = (ref?: string) =>
  verify(testContext(root), { readDataPercent: 100, ...(ref === undefined ? {} : { ref }) });
const bytesOf = (key: string) => readFileSync(`${remote}/${key}`);
const WHOLE = { missing: 0, damaged: 0 };

async function expectCloneEqual(name = 'copy') {
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: name });
  expect(describeTree(sandbox.path(name))).toEqual(describeTree(root));
}

/** A context whose job is stopped before the first request at which `isTime` is true. */
function stoppedWhen(isTime: () => boolean) {
  const controller = new AbortController();
  const take = () => {
    if (isTime()) controller.abort();
    return undefined;
  };
  return testContext(root, { signal: controller.signal, requestThrottle: { take } });
}

/** False if the command ended before it was stopped. */
const isStopped = (run: Promise<unknown>): Promise<boolean> =>
  run.then(
    () => false,
    ({ code }) => {
      expect(code).toBe('aborted');
      return true;
    },
  );

/** A manifest of several segments. @returns Their keys. */
async function pushSegments(): Promise<string[]> {
  for (let at = 0; at < 2_600; at += 1) sandbox.write(`work/seg/${at}`, '');
  await pushed();
  const keys = keysBelow(remote, 'manifests');
  expect(keys.length).toBeGreaterThan(1);
  return keys;
}

describe('repair of content', () => {
  it('has nothing to do in a whole repository, and writes nothing', async () => {
    await pushed();
    expect(await repaired({ readDataPercent: 100 })).toMatchObject({
      result: 'nothingToRepair',
      found: 0,
      left: 0,
      unnamed: 0,
      requests: { writes: 0 },
    });
  });

  it('stores lost objects and chunks again under their keys, for all commits that name them', async () => {
    sandbox.write(
      'work/large',
      new Uint8Array(9_000_000).map((_, at) => (at * 2_654_435_761) >>> 24),
    );
    await pushed();
    sandbox.write('work/small/c', 'three');
    await pushed();
    const tip = tipOf(remote);
    rmSync(`${remote}/objects`, { recursive: true });
    const summary = await repaired();
    expect(summary).toMatchObject({ result: 'repaired', left: 0, leftInBranch: 0 });
    expect(summary.uploadedObjects).toBe(summary.found);
    expect(tipOf(remote)).toBe(tip);
    expect(await verified()).toMatchObject(WHOLE);
  });

  it('stores the content of lost packs in a new one, and says that older commits stay affected', async () => {
    await pushed();
    sandbox.write('work/small/a', 'another');
    await pushed();
    rmSync(`${remote}/packs`, { recursive: true });
    expect(await repaired()).toMatchObject({ result: 'repaired', found: 2, left: 2, leftInBranch: 0 });
    expect(await verified('main')).toMatchObject(WHOLE);
    await expectCloneEqual();
  });

  it('gives the content of a damaged object a new key, and leaves the damaged one as it is', async () => {
    await pushed();
    const key = onlyKey(remote, 'objects');
    spoilObject(remote, key, 5);
    const before = bytesOf(key);
    const summary = await repaired({ readDataPercent: 100 });
    expect(summary).toMatchObject({ result: 'repaired', found: 1, left: 1, leftInBranch: 0, branch: 'main' });
    expect(summary.commit).toBe(tipOf(remote));
    expect(keysBelow(remote, 'objects')).toEqual([key, `${key}.1`]);
    expect(bytesOf(key)).toEqual(before);
    expect(await verified('main')).toMatchObject(WHOLE);
    await expectCloneEqual();
    expect(await push(testContext(root), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('stores again what a collection had moved to a pack that is damaged now', async () => {
    for (let at = 0; at < 8; at += 1) sandbox.write(`work/packed/${at}`, `${at}`.repeat(50_000));
    await pushed();
    const first = keysBelow(remote, 'packs');
    for (let at = 0; at < 6; at += 1) rmSync(`${root}/packed/${at}`);
    await pushed();
    await forget(testContext(root), { policy: { keepLast: 1 } });
    for (let round = 0; round < 2; round += 1) await collectGarbage(testContext(root), { graceSeconds: 0 });
    const [moved, ...more] = keysBelow(remote, 'packs');
    expect([more, first.includes(moved!)]).toEqual([[], false]);
    spoilObject(remote, moved!, 5);
    expect(await repaired({ readDataPercent: 100 })).toMatchObject({ result: 'repaired', leftInBranch: 0 });
    expect(await verified('main')).toMatchObject(WHOLE);
    await expectCloneEqual();
  });

  it('lets nobody take a damaged object for its content any more', async () => {
    await pushed();
    await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'other' });
    const other = sandbox.path('other');
    spoilObject(remote, onlyKey(remote, 'objects'), 5);
    rmSync(`${root}/middle`);
    expect(await repaired({ readDataPercent: 100 })).toMatchObject({ result: 'notRepaired', left: 1 });
    // Its index knows the damaged object as the place of this content.
    sandbox.write('other/again', new Uint8Array(2_000_000).fill(1));
    await push(testContext(other), {});
    await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'third' }).catch(() => {});
    expect(readFileSync(sandbox.path('third/again'))).toEqual(Buffer.alloc(2_000_000, 1));
    expect(await repair(testContext(other), { readDataPercent: 100 })).toMatchObject({ leftInBranch: 0 });
  });

  it('leaves changes of the working copy out of its commit', async () => {
    await pushed();
    rmSync(`${remote}/packs`, { recursive: true });
    sandbox.write('work/middle', 'changed');
    sandbox.write('work/new', 'not pushed');
    const before = await status(testContext(root), {});
    expect(await repaired()).toMatchObject({ leftInBranch: 0 });
    expect((await status(testContext(root), {})).changes).toEqual(before.changes);
    await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'copy' });
    expect(readFileSync(sandbox.path('copy/middle')).length).toBe(2_000_000);
    expect(await push(testContext(root), {})).toMatchObject({ changes: { added: 1, modified: 1 } });
  });

  it('names the paths that this workspace cannot restore', async () => {
    await pushed();
    rmSync(`${remote}/packs`, { recursive: true });
    sandbox.write('work/small/a', 'another');
    const context = testContext(root);
    expect(await repair(context, {})).toMatchObject({ left: 1, leftInBranch: 1 });
    expect(eventsOf(context, 'check')).toMatchObject([
      { check: 'missing', paths: ['small/a', 'small/b'] },
      { check: 'unrepaired', paths: ['small/a', 'small/b'] },
    ]);
    expect(await verify(testContext(root), { ref: 'main' })).toMatchObject({ affectedPaths: 1 });
  });

  it('writes nothing in a dry run', async () => {
    await pushed();
    spoilObject(remote, onlyKey(remote, 'objects'), 5);
    const summary = await repaired({ readDataPercent: 100, dryRun: true });
    expect(summary).toMatchObject({ result: 'wouldRepair', found: 1, left: 1, requests: { writes: 0 } });
  });

  it('refuses when the branch has moved on, and changes no commit', async () => {
    await pushed();
    await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'other' });
    sandbox.write('other/more', 'more');
    await push(testContext(sandbox.path('other')), {});
    const tip = tipOf(remote);
    rmSync(`${remote}/objects`, { recursive: true });
    await expect(repaired()).rejects.toMatchObject({ code: 'conflict' });
    expect(tipOf(remote)).toBe(tip);
  });

  it('asks for an upgrade where an older Dray may write', async () => {
    await pushed();
    for (const key of ['dray.json', 'refs/heads/main']) {
      const { required: _, ...old } = JSON.parse(readFileSync(`${remote}/${key}`, 'utf8'));
      writeFileSync(`${remote}/${key}`, JSON.stringify(old));
    }
    spoilObject(remote, onlyKey(remote, 'objects'), 5);
    const context = testContext(root);
    expect(await repair(context, { readDataPercent: 100 })).toMatchObject({ result: 'notRepaired', left: 1 });
    expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'notUpgraded' }]);
  });

  it('works beside a collection that was left unfinished, and before the next one', async () => {
    await pushed();
    const key = onlyKey(remote, 'objects');
    sandbox.write('work/extra', new Uint8Array(2_000_000).fill(2));
    await pushed();
    rmSync(`${root}/extra`);
    await pushed();
    await forget(testContext(root), { policy: { keepLast: 1 } });
    const isFenced = () => JSON.parse(readFileSync(`${remote}/refs/heads/main`, 'utf8')).epoch === 1;
    await expect(collectGarbage(stoppedWhen(isFenced), { graceSeconds: 0 })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(JSON.parse(readFileSync(`${remote}/collection.json`, 'utf8'))).toMatchObject({ phase: 'marked' });
    spoilObject(remote, key, 5);
    expect(await repaired({ readDataPercent: 100 })).toMatchObject({ leftInBranch: 0 });
    expect(keysBelow(remote, 'objects')).toContain(`${key}.2`);
    await forget(testContext(root), { policy: { keepLast: 1 } });
    await collectGarbage(testContext(root), { graceSeconds: 0 });
    expect(await verified()).toMatchObject({ ...WHOLE, commits: 1 });
    await expectCloneEqual();
  });

  it('goes on after a stop before any of its requests', async () => {
    await pushed();
    sandbox.write('work/packed', 'late');
    await pushed();
    const key = onlyKey(remote, 'objects');
    spoilObject(remote, key, 5);
    const stopAtRequest = async (stopAt: number) => {
      let calls = 0;
      const context = stoppedWhen(() => ++calls === stopAt);
      return isStopped(repair(context, { readDataPercent: 100 }));
    };
    await sweepSteps(stopAtRequest, { least: 10 });
    expect(await repaired({ readDataPercent: 100 })).toMatchObject({ leftInBranch: 0 });
    expect(await verified('main')).toMatchObject(WHOLE);
    await expectCloneEqual();
  });
});

describe('repair of the state of a collection', () => {
  const statePath = () => `${remote}/collection.json`;
  const state = () => JSON.parse(readFileSync(statePath(), 'utf8'));

  /** After two collections; the content `old` was removed by the second one. */
  async function collected(): Promise<void> {
    for (const name of ['older', 'old']) {
      sandbox.write(`work/${name}`, noise(1_500_000, name.length));
      await pushed();
      rmSync(`${root}/${name}`);
      await pushed();
      await forget(testContext(root), { policy: { keepLast: 1 } });
      await collectGarbage(testContext(root), { graceSeconds: 0 });
    }
  }

  async function expectSafe(before: { readonly round: number }) {
    expect(state()).toMatchObject({ phase: 'done', candidates: [] });
    expect(state().round).toBeGreaterThan(before.round);
    // What was removed comes back under another key, and a collection goes on.
    sandbox.write('work/old', noise(1_500_000, 3));
    await pushed();
    expect(keysBelow(remote, 'objects').filter((key) => key.includes('.'))).toHaveLength(1);
    await forget(testContext(root), { policy: { keepLast: 1 } });
    expect((await collectGarbage(testContext(root), { graceSeconds: 0 })).round).toBeGreaterThan(
      before.round,
    );
    expect(await verified()).toMatchObject(WHOLE);
  }

  it.each([
    ['is missing', () => rmSync(statePath())],
    ['is damaged', () => writeFileSync(statePath(), '{')],
    ['is older than the refs', () => writeFileSync(statePath(), JSON.stringify({ ...state(), round: 1 }))],
  ])('makes it again from the stored lists where it %s', async (_, harm) => {
    await collected();
    const before = state();
    harm();
    const refused = { code: 'damaged', data: { key: 'collection.json' } };
    await expect(collectGarbage(testContext(root), {})).rejects.toMatchObject(refused);
    sandbox.write('work/more', 'more');
    await expect(pushed()).rejects.toMatchObject(refused);
    expect(await repaired({ dryRun: true })).toMatchObject({ result: 'wouldRepair', found: 1 });
    expect(await repaired()).toMatchObject({ result: 'repaired', found: 1, left: 0 });
    await expectSafe(before);
    rmSync(statePath());
    expect(await repaired()).toMatchObject({ result: 'repaired', found: 1, left: 0 });
  });

  it('refuses if lists are lost as well, says why, and writes nothing', async () => {
    await collected();
    rmSync(statePath());
    rmSync(`${remote}/collection`, { recursive: true });
    await expect(repaired()).rejects.toMatchObject({ code: 'damaged', data: { reason: 'listsLost' } });
    expect(keysBelow(remote, '').filter((key) => key.startsWith('collection'))).toEqual([]);
  });
});

describe('repair of documents', () => {
  it('puts back a missing segment and a missing commit, byte for byte', async () => {
    const [segment] = await pushSegments();
    const commit = commitKeyOf(tipOf(remote));
    const before = [segment!, commit].map(bytesOf);
    rmSync(`${remote}/${segment}`);
    rmSync(`${remote}/${commit}`);
    expect(await repaired()).toMatchObject({ result: 'repaired', found: 1, left: 0 });
    expect([segment!, commit].map(bytesOf)).toEqual(before);
    expect(await verified()).toMatchObject(WHOLE);
  });

  it('replaces a damaged segment in a new commit', async () => {
    const [segment] = await pushSegments();
    truncateObject(remote, segment!);
    const cut = bytesOf(segment!);
    expect(await repaired()).toMatchObject({ found: 1, left: 1, leftInBranch: 0, branch: 'main' });
    expect(bytesOf(segment!)).toEqual(cut);
    expect(await verified('main')).toMatchObject(WHOLE);
    await expectCloneEqual();
    expect(await push(testContext(root), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('replaces a damaged segment also after a stop at any request after its key was retired', async () => {
    const [segment] = await pushSegments();
    truncateObject(remote, segment!);
    const isFenced = () => JSON.parse(readFileSync(`${remote}/refs/heads/main`, 'utf8')).epoch === 1;
    // Each run leaves more than the one before, so no run ends by itself at some step.
    for (let stopAt = 1; stopAt <= 12; stopAt += 1) {
      let calls = 0;
      await isStopped(
        repair(
          stoppedWhen(() => isFenced() && ++calls === stopAt),
          {},
        ),
      );
    }
    expect(await repaired()).toMatchObject({ leftInBranch: 0 });
    expect(await verified('main')).toMatchObject(WHOLE);
    await expectCloneEqual();
  });

  it('replaces a damaged commit, so that the history can be read again', async () => {
    await pushed();
    const first = tipOf(remote);
    sandbox.write('work/small/c', 'three');
    await pushed();
    truncateObject(remote, commitKeyOf(tipOf(remote)));
    expect(await repaired()).toMatchObject({ found: 1, left: 0, branch: 'main' });
    expect(await verified()).toMatchObject({ ...WHOLE, commits: 2 });
    expect(tipOf(remote)).not.toBe(first);
    await expectCloneEqual();
  });

  it('puts back a lost list of a collection', async () => {
    await pushed();
    sandbox.write('work/middle', 'short');
    await pushed();
    await forget(testContext(root), { policy: { keepLast: 1 } });
    await collectGarbage(testContext(root), { graceSeconds: 0 });
    sandbox.write('work/small/d', 'the index learns of the round');
    await pushed();
    const { avoid } = JSON.parse(readFileSync(`${remote}/collection.json`, 'utf8')) as { avoid: string[] };
    rmSync(`${remote}/collection/${avoid[0]!.slice(0, 2)}/${avoid[0]!.slice(2)}`);
    expect(await repaired()).toMatchObject({ result: 'repaired', found: 1, left: 0 });
    expect(await verified()).toMatchObject(WHOLE);
  });
});

describe('repair of branches', () => {
  it('lists the commits that have lost their branch, newest first, and makes it again', async () => {
    await pushed();
    await branch(testContext(root), { name: 'side' });
    const first = tipOf(remote);
    sandbox.write('work/small/c', 'three');
    await push(testContext(root), { message: 'second' });
    const tip = tipOf(remote);
    rmSync(`${remote}/refs`, { recursive: true });
    const context = testContext(root);
    expect(await repair(context, {})).toMatchObject({ result: 'notRepaired', unnamed: 1, left: 1 });
    expect(eventsOf(context, 'commit')).toMatchObject([{ commit: tip, message: 'second', refs: [] }]);
    expect(await repaired({ branch: 'main', commit: tip.slice(0, 10) })).toMatchObject({
      result: 'repaired',
      commit: tip,
      left: 0,
    });
    expect(await repaired({ branch: 'side', commit: first })).toMatchObject({ commit: first });
    expect(await repaired()).toMatchObject({ result: 'nothingToRepair', unnamed: 0 });
    await expectCloneEqual();
  });

  it('replaces a damaged branch by the commit of the workspace, and refuses one that exists', async () => {
    await pushed();
    const tip = tipOf(remote);
    truncateObject(remote, 'refs/heads/main');
    const context = testContext(root);
    expect(await repair(context, {})).toMatchObject({ left: 1, unnamed: 1 });
    expect(await repaired({ branch: 'main', dryRun: true })).toMatchObject({ result: 'wouldRepair' });
    expect(await repaired({ branch: 'main' })).toMatchObject({ result: 'repaired', commit: tip });
    expect(tipOf(remote)).toBe(tip);
    await expect(repaired({ branch: 'main' })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('makes no branch of a commit whose files cannot be listed', async () => {
    const [segment] = await pushSegments();
    rmSync(`${remote}/refs`, { recursive: true });
    rmSync(`${remote}/${segment}`);
    await expect(repaired({ branch: 'main' })).rejects.toMatchObject({ code: 'damaged' });
    expect(keysBelow(remote, 'refs')).toEqual([]);
  });

  it('takes a commit whose content is there although its key was retired', async () => {
    await pushed();
    const tip = tipOf(remote);
    const key = onlyKey(remote, 'objects');
    const before = bytesOf(key);
    spoilObject(remote, key, 5);
    rmSync(`${root}/middle`);
    expect(await repaired({ readDataPercent: 100 })).toMatchObject({ result: 'notRepaired' });
    writeFileSync(`${remote}/${key}`, before);
    rmSync(`${remote}/refs`, { recursive: true });
    expect(await repaired({ branch: 'main', commit: tip })).toMatchObject({ commit: tip, left: 0 });
    expect(JSON.parse(readFileSync(`${remote}/refs/heads/main`, 'utf8'))).toMatchObject({ epoch: 1 });
    await collectGarbage(testContext(root), { graceSeconds: 0 });
    expect(await verified()).toMatchObject(WHOLE);
  });
});
