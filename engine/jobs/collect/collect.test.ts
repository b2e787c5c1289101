/** Collections of a repository that commands write and read. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CollectRequest } from '../../api/jobs/jobs.ts';
import { openIndex } from '../../index/open-index.ts';
import { SALT_BYTES } from '../../repository/packs/pack.ts';
import { ROW_BYTES } from '../../repository/packs/pack-format.ts';
import { readConfig, requireWorkspace } from '../../workspace/workspace-folder.ts';
import { readCommitted } from '../history/read-committed.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { forget } from '../retention/forget.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { collectGarbage } from './collect.ts';

let sandbox: Sandbox;
let root: string;
beforeEach(() => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  mkdirSync(root);
});
afterEach(() => sandbox[Symbol.dispose]());

/** Only an encrypted repository asks for the password. Its recovery key then opens it, at no cost. */
const environment = { DRAY_AUTHOR: 'tester', DRAY_PASSWORD: 'a secret' };
const contextIn = (folder: string) => testContext(folder, { environment });

async function init(encrypt = false): Promise<void> {
  environment.DRAY_PASSWORD = 'a secret';
  const request = { remoteUrl: sandbox.path('store'), ...(encrypt && { encrypt }) };
  const { recoveryKey } = await initWorkspace(contextIn(root), request);
  if (recoveryKey !== undefined) environment.DRAY_PASSWORD = recoveryKey;
}

const collect = (request: CollectRequest = {}) =>
  collectGarbage(contextIn(root), { graceSeconds: 0, ...request });

/** The keys below the prefix, as paths of the store's folder. */
function storedBelow(prefix: string): readonly string[] {
  const folder = join(sandbox.folder, 'store', prefix);
  const items = readdirSync(folder, { recursive: true, withFileTypes: true });
  return items.filter((item) => item.isFile()).map(({ name, parentPath }) => join(parentPath, name));
}

const clone = (directory: string) =>
  cloneWorkspace(contextIn(sandbox.folder), { url: sandbox.path('store'), directory });

/** A pack of five files of which the branch needs one, and an older clone of all five. */
async function pushSparse(): Promise<void> {
  for (const name of ['1', '2', '3', '4', '5']) sandbox.write(`work/${name}`, randomBytes(1_000));
  await push(contextIn(root), {});
  await clone('older');
  for (const name of ['2', '3', '4', '5']) rmSync(join(root, name));
  await push(contextIn(root), {});
  await forget(contextIn(root), { policy: { keepLast: 1 } });
}

describe('a pack that a collection writes anew', () => {
  it.each(['a plain', 'an encrypted'])('of %s repository can be read and pushed on', async (kind) => {
    await init(kind === 'an encrypted');
    await pushSparse();
    const [old] = storedBelow('packs');
    expect(await collect({ dryRun: true })).toMatchObject({ result: 'wouldCollect', repackedPacks: 1 });
    expect(await collect()).toMatchObject({ result: 'collected', removedObjects: 1, repackedPacks: 1 });
    expect(await collect()).toMatchObject({ result: 'nothingToCollect', repackedPacks: 0 });
    expect(storedBelow('packs')).toHaveLength(1);
    expect(storedBelow('packs')).not.toContain(old);
    const found = await verify(contextIn(root), { readDataPercent: 100 });
    expect(found).toMatchObject({ missing: 0, damaged: 0, objects: 1 });
    await clone('copy');
    await pull(contextIn(sandbox.path('older')), {});
    for (const name of ['copy', 'older'])
      expect(describeTree(sandbox.path(name))).toEqual(describeTree(root));
    const printed: Uint8Array[] = [];
    await readCommitted(contextIn(root), { from: 'main', path: '1' }, async (chunk) => {
      printed.push(Buffer.from(chunk));
    });
    expect(Buffer.concat(printed)).toHaveLength(1_000);
    sandbox.write('work/6', 'six');
    expect(await push(contextIn(root), {})).toMatchObject({ result: 'pushed', uploadedObjects: 1 });
    expect(await verify(contextIn(root), {})).toMatchObject({ missing: 0, damaged: 0 });
  });

  it('is verified where it is now: with the paths that its loss costs', async () => {
    await init();
    await pushSparse();
    await collect();
    const [now] = storedBelow('packs');
    rmSync(now!);
    const context = contextIn(root);
    const found = await verify(context, {});
    expect(found).toMatchObject({ missing: 1, damaged: 0, affectedPaths: 1 });
    expect(eventsOf(context, 'check')).toMatchObject([{ check: 'missing', paths: ['1'] }]);
  });
});

it('a commit that is lost ends a collection, which says what brings it back', async () => {
  await init();
  sandbox.write('work/a', 'one');
  await push(contextIn(root), {});
  rmSync(storedBelow('commits')[0]!);
  await expect(collect()).rejects.toMatchObject({
    code: 'notFound',
    data: { command: 'dray repair' },
    message: expect.stringMatching(/has no commit \w+\. Until it can be read, nothing is removed\./),
  });
});

it('a store that does not honour conditional writes is refused', async () => {
  await init();
  sandbox.write('work/a', 'one');
  await push(contextIn(root), {});
  const workspace = requireWorkspace(root, () => false);
  const { index } = openIndex(workspace.indexPath);
  const { repository } = readConfig(workspace).remotes.origin!;
  index.repositories.rememberConditionalWrites(index.repositories.bind(repository!).id, false);
  index.close();
  await expect(collect()).rejects.toMatchObject({ code: 'unsupported', data: { reason: 'noConditions' } });
  expect(await collect({ dryRun: true })).toMatchObject({ result: 'nothingToCollect' });
});

describe('what a killed test of the store has left', () => {
  const ID = '01234567-89ab-4def-8123-456789abcdef';
  const left = `.dray-test-${ID}/condition`;
  const foreign = ['.dray-test-mine/a', `.dray-test-${ID}.txt`, `objects/.dray-test-${ID}/a`];
  const HOURS_AGO = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const write = (key: string, age: Date) => {
    sandbox.write(`store/${key}`, 'x');
    utimesSync(sandbox.path('store', key), age, age);
  };
  const isThere = (key: string) => existsSync(sandbox.path('store', key));

  it('is removed once it is older than the grace, and nothing else is', async () => {
    await init();
    sandbox.write('work/a', 'a');
    await push(contextIn(root), {});
    for (const key of [left, ...foreign]) write(key, HOURS_AGO(30));
    await collect({ graceSeconds: 40 * 3_600 });
    await collect({ dryRun: true });
    expect(isThere(left)).toBe(true);
    await collect({ graceSeconds: 24 * 3_600 });
    expect(isThere(left)).toBe(false);
    expect(foreign.filter(isThere)).toEqual(foreign);
    expect(await verify(contextIn(root), { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
  });

  it('stays for an hour without a grace, since the test may still run', async () => {
    await init();
    sandbox.write('work/a', 'a');
    await push(contextIn(root), {});
    write(left, HOURS_AGO(0.5));
    await collect();
    expect(isThere(left)).toBe(true);
    write(left, HOURS_AGO(2));
    await collect();
    expect(isThere(left)).toBe(false);
  });
});

describe('a dry run says what the collection will do', () => {
  const write = (names: readonly number[]) => {
    for (const name of names) sandbox.write(`work/${name}`, randomBytes(3_000));
  };
  const remove = (names: readonly number[]) => {
    for (const name of names) rmSync(join(root, `${name}`));
  };
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
  const bytesStored = () =>
    storedBelow('').reduce((total, path) => total + (isContent(path) ? statSync(path).size : 0), 0);
  const isContent = (path: string) => /\/(?:commits|manifests|objects|packs)\//.test(path);

  it.each([
    ['objects', { kind: 'objects' }, 40, 0],
    ['whole packs', {}, 40, 0],
    // What this frees is counted as if the new pack had needed a salt.
    ['packs that are written anew', {}, 30, SALT_BYTES + ROW_BYTES],
  ] as const)('to %s', async (_, layout, gone, sparedBytes) => {
    await initWorkspace(contextIn(root), { remoteUrl: sandbox.path('store'), layout });
    // In the second round there are an avoid list and perhaps relocations.
    for (const from of [0, 100]) {
      write(range(from, from + 40));
      await push(contextIn(root), {});
      remove(range(from, from + gone));
      write([from + 50]);
      await push(contextIn(root), {});
      await forget(contextIn(root), { policy: { keepLast: 1 } });
      const dry = await collect({ dryRun: true });
      const before = bytesStored();
      const real = await collect();
      const { forecast, requests: _dryRequests, result: _wouldCollect, round: _before, ...said } = dry;
      expect(real).toMatchObject(said);
      const { deletes, lists, reads, writes } = real.requests;
      expect({ deletes, lists, writes }).toEqual({
        deletes: forecast!.deletes,
        lists: forecast!.lists,
        writes: forecast!.writes,
      });
      if (from === 0) expect(reads).toBe(forecast!.reads);
      else expect(Math.abs(reads - forecast!.reads)).toBeLessThanOrEqual(2);
      expect(before - bytesStored()).toBe(dry.removedBytes + sparedBytes);
    }
  });
});
