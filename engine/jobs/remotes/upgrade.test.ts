import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tag } from '../history/refs.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { initWorkspace } from './init.ts';
import { upgrade } from './upgrade.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = createSandbox();
  sandbox.write('work/a', 'one');
  await initWorkspace(testContext(sandbox.path('work')), { remoteUrl: sandbox.path('remote') });
});
afterEach(() => sandbox[Symbol.dispose]());

const read = (key: string) => JSON.parse(readFileSync(sandbox.path('remote', key), 'utf8'));

describe('upgrade', () => {
  it('has nothing to do in a new repository', async () => {
    expect(read('dray.json').required).toEqual(['collection', 'zstd']);
    const work = sandbox.path('work');
    await push(testContext(work), {});
    expect(read('refs/heads/main').required).toEqual(['collection']);
    expect(await upgrade(testContext(work))).toMatchObject({ result: 'upToDate', refs: 0 });
  });

  it('has every ref say that older versions must not read it', async () => {
    const work = sandbox.path('work');
    const { required: _, ...old } = read('dray.json');
    sandbox.write('remote/dray.json', JSON.stringify({ ...old, note: 'ours' }));
    await push(testContext(work), {});
    await tag(testContext(work), { name: 'v1' });
    expect(read('refs/heads/main').required).toBeUndefined();
    expect(await upgrade(testContext(work))).toMatchObject({ result: 'upgraded', refs: 2 });
    expect(read('dray.json')).toMatchObject({ ...old, note: 'ours', required: ['collection'] });
    for (const key of ['refs/heads/main', 'refs/tags/v1'])
      expect(read(key)).toMatchObject({ required: ['collection'], epoch: 0 });
    sandbox.write('work/b', 'two');
    expect(await push(testContext(work), {})).toMatchObject({ result: 'pushed' });
    expect(read('refs/heads/main').required).toEqual(['collection']);
    expect(await upgrade(testContext(work))).toMatchObject({ result: 'upToDate' });
  });
});

describe('upgrade --compress', () => {
  const text = (seed: number) =>
    Array.from({ length: 300_000 }, (_, at) => `${(at * seed) % 1000}\n`).join('');
  const sentBy = async (root: string) => (await push(testContext(root), {})).uploadedBytes;

  it('changes how this workspace stores new content, and every new clone', async () => {
    const work = sandbox.path('work');
    await push(testContext(work), {});
    const settings = [
      ['off', undefined],
      ['max', 'max'],
      ['auto', 'auto'],
    ] as const;
    for (const [at, [compression, stored]] of settings.entries()) {
      expect(await upgrade(testContext(work), { compression })).toMatchObject({
        result: 'upgraded',
        compression,
      });
      expect(read('dray.json').compression).toBe(stored);
      expect(read('dray.json').required).toEqual(['collection', 'zstd']);
      expect(await upgrade(testContext(work))).toMatchObject({ result: 'upToDate', compression });
      const copy = sandbox.path(`copy${at}`);
      await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('remote'), directory: copy });
      for (const [root, seed] of [
        [work, 2 * at + 3],
        [copy, 2 * at + 4],
      ] as const) {
        writeFileSync(`${root}/${seed}`, text(seed));
        const sentBytes = await sentBy(root);
        if (compression === 'off') expect(sentBytes).toBeGreaterThan(1_000_000);
        else expect(sentBytes).toBeLessThan(500_000);
      }
    }
    expect(await verify(testContext(work), { readDataPercent: 100 })).toMatchObject({
      damaged: 0,
      missing: 0,
    });
  });

  it.each([{}, { encrypt: true }])('leaves a workspace that does not know of it right: %j', async (more) => {
    const environment = { DRAY_PASSWORD: 'secret', DRAY_AUTHOR: 'tester' };
    const as = (root: string) => testContext(root, { environment });
    const [one, other] = [sandbox.path('one'), sandbox.path('other')];
    mkdirSync(one);
    const remoteUrl = sandbox.path('plain');
    const { recoveryKey = '' } = await initWorkspace(as(one), { remoteUrl, compression: 'off', ...more });
    environment.DRAY_PASSWORD = recoveryKey;
    writeFileSync(`${one}/a`, 'a');
    await push(as(one), {});
    await cloneWorkspace(as(sandbox.folder), { url: remoteUrl, directory: other });
    await upgrade(as(one), { compression: 'auto' });
    writeFileSync(`${one}/text`, text(7));
    await push(as(one), {});
    // The other one finds a smaller object than it would store, by either way of asking.
    for (const [name, request] of Object.entries({
      first: { query: 'list' },
      each: { query: 'each', noIndex: true },
      list: { query: 'list', noIndex: true },
    } as const)) {
      writeFileSync(`${other}/${name}`, text(7));
      await push(as(other), request);
      await pull(as(other), {});
    }
    expect(await verify(as(one), { readDataPercent: 100 })).toMatchObject({ damaged: 0, missing: 0 });
    await pull(as(one), {});
    expect(describeTree(other)).toEqual(describeTree(one));
    const again = sandbox.path('again');
    await cloneWorkspace(as(sandbox.folder), { url: remoteUrl, directory: again });
    expect(describeTree(again)).toEqual(describeTree(one));
  });
});
