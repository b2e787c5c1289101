import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from './job.fixture.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

describe('a remote where foreign keys fill a whole page of the listing of objects', () => {
  it('can be pushed to by a listing', async () => {
    const work = sandbox.path('work');
    mkdirSync(work);
    const layout = { kind: 'objects' } as const;
    await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store'), layout });
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
    for (let at = 0; at < 1_100; at += 1) sandbox.write(`store/objects/!${at}`, '');
    sandbox.write('work/b', 'two');
    expect(await push(testContext(work), { query: 'list' })).toMatchObject({
      result: 'pushed',
      uploadedObjects: 1,
      query: { chosen: 'list' },
    });
  });
});
