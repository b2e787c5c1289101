/** A collection of garbage removes what a commit has sent, before anything names it. */
import { globSync } from 'node:fs';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { collectGarbage } from '../../engine/jobs/collect/collect.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { type Content, openRepository } from './dray.ts';
import { contextOf } from './library-context.ts';

/** Content in an object of its own. */
const LARGE = 'large '.repeat(512 * 1024);

it.each<[string, () => Content, boolean]>([
  ['a function is stored again', () => () => Readable.from([LARGE]), true],
  ['text is stored again', () => LARGE, true],
  ['a stream fails the commit', () => Readable.from([LARGE]), false],
])('so that %s', async (_, contentOf, isStored) => {
  using sandbox = createSandbox();
  const store = sandbox.path('store');
  const environment = { DRAY_CACHE: sandbox.path('cache'), DRAY_CONFIG: sandbox.path('config.json') };
  const context = contextOf({ environment, directory: sandbox.path('work', '.') });
  await initWorkspace(context, { remoteUrl: store });
  let isCollected = false;
  async function* collecting() {
    yield 'begin, ';
    if (!isCollected) {
      await vi.waitFor(() => expect(globSync('objects/*/*', { cwd: store })).toHaveLength(1), 120_000);
      expect(await collectGarbage(context, { graceSeconds: 0 })).toMatchObject({ removedObjects: 1 });
    }
    isCollected = true;
    yield 'end';
  }
  await using repository = await openRepository(store, { environment });
  await repository.commit('other').put('small', '').publish();
  const changes = repository.commit('main').put('first', contentOf()).put('second', collecting);
  if (isStored) {
    await changes.publish();
    expect((await text(repository.read('main', 'first'))) === LARGE).toBe(true);
    expect(await text(repository.read('main', 'second'))).toBe('begin, end');
  } else {
    await expect(changes.publish()).rejects.toMatchObject({ code: 'conflict', retry: 'retry' });
    await expect(repository.resolve('main')).rejects.toMatchObject({ code: 'notFound' });
  }
});
