/** A tag whose ref cannot be read is made again, or let go, by a command that its error names. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { collectGarbage } from '../collect/collect.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { branch, tag } from './refs.ts';

let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  sandbox.write('work/a', 'first');
  await push(testContext(root), {});
  await tag(testContext(root), { name: 'v1' });
});
afterEach(() => sandbox[Symbol.dispose]());

/** With something to remove, or it would be no round. */
async function collect(): Promise<void> {
  await switchBranch(testContext(root), { name: 'gone', create: true });
  sandbox.write('work/b', 'garbage');
  await push(testContext(root), {});
  await switchBranch(testContext(root), { name: 'main' });
  await branch(testContext(root), { name: 'gone', remove: true });
  expect((await collectGarbage(testContext(root), { graceSeconds: 0 })).removedObjects).toBeGreaterThan(0);
}

const damage = () => sandbox.write('store/refs/tags/v1', 'xx');

async function tags(): Promise<readonly string[]> {
  const context = testContext(root);
  await tag(context, {});
  return eventsOf(context, 'ref').map(({ name }) => name);
}

it('A damaged tag is not read, and its error says what makes it again', async () => {
  damage();
  const refused = { code: 'damaged', data: { advice: '"dray tag v1 COMMIT --force" makes it again.' } };
  await expect(tag(testContext(root), { name: 'v1' })).rejects.toMatchObject(refused);
  await expect(tags()).rejects.toMatchObject(refused);
});

it.each([false, true])(
  'A damaged tag is made again with --force, after a collection: %s',
  async (collected) => {
    if (collected) await collect();
    damage();
    expect(await tag(testContext(root), { name: 'v1', force: true })).toMatchObject({ result: 'created' });
    expect(await tags()).toEqual(['v1']);
  },
);

it('A damaged tag that a collection has seen can be removed', async () => {
  await collect();
  damage();
  expect(await tag(testContext(root), { name: 'v1', remove: true })).toMatchObject({ result: 'removed' });
  expect(await tags()).toEqual([]);
  await collectGarbage(testContext(root), { graceSeconds: 0 });
});
