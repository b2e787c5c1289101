import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tag } from '../history/refs.ts';
import { push } from '../push/push.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
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
