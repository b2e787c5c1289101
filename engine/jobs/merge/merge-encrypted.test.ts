/** Merges and reverts in an encrypted repository. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { log } from '../history/log.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { merge } from './merge.ts';
import { revert } from './revert.ts';

let sandbox: Sandbox;
/** Opens the repository without the cost of a password. */
let recoveryKey: string;
const at = (folder: string) =>
  testContext(sandbox.path(folder), { environment: { DRAY_AUTHOR: 'tester', DRAY_PASSWORD: recoveryKey } });
const stateOf = (name: string) =>
  ['a', 'b', 'both', 'exp.txt'].map((path) =>
    existsSync(sandbox.path(name, path)) ? readFileSync(sandbox.path(name, path), 'utf8') : undefined,
  );
async function expectStored(expected: readonly (string | undefined)[]): Promise<void> {
  const request = { url: sandbox.path('store'), directory: sandbox.path('copy') };
  await cloneWorkspace(at('.'), request);
  expect(stateOf('copy')).toEqual(expected);
  rmSync(sandbox.path('copy'), { recursive: true });
}

beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('work'));
  recoveryKey = 'secret';
  const made = await initWorkspace(at('work'), { remoteUrl: sandbox.path('store'), encrypt: true });
  recoveryKey = made.recoveryKey!;
});
afterEach(() => sandbox[Symbol.dispose]());

it('An encrypted repository merges, reverts and aborts as a plain one does', async () => {
  for (const path of ['a', 'b', 'both']) sandbox.write(`work/${path}`, '1');
  await push(at('work'), {});
  await switchBranch(at('work'), { name: 'exp', create: true });
  sandbox.write('work/both', 'exp');
  sandbox.write('work/exp.txt', 'exp');
  rmSync(sandbox.path('work/a'));
  const exp = (await push(at('work'), {})).commit!;
  await switchBranch(at('work'), { name: 'main' });
  sandbox.write('work/b', 'main');
  const main = (await push(at('work'), {})).commit!;

  sandbox.write('work/both', 'mine');
  await expect(merge(at('work'), { ref: 'exp' })).rejects.toMatchObject({
    code: 'conflict',
    data: { paths: ['both'] },
  });
  await merge(at('work'), { ref: 'exp', conflicts: 'ours' });
  expect(stateOf('work')).toEqual([undefined, 'main', 'mine', 'exp']);
  await merge(at('work'), { abort: true });
  expect(stateOf('work')).toEqual(['1', 'main', 'mine', undefined]);

  await merge(at('work'), { ref: exp.slice(0, 12), conflicts: 'theirs' });
  await push(at('work'), {});
  const context = at('work');
  await log(context, { limit: 1 });
  expect(eventsOf(context, 'commit')[0]).toMatchObject({ parents: [main, exp] });
  await expectStored([undefined, 'main', 'exp', 'exp']);

  await revert(at('work'), { ref: '@', parent: 1 });
  await push(at('work'), {});
  await expectStored(['1', 'main', '1', undefined]);
});
