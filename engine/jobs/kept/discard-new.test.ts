import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { status } from '../working-copy/status.ts';
import { discardNew } from './discard-new.ts';
import { listKept, putBackKept } from './kept-files.ts';

let sandbox: Sandbox;
let here: string;
beforeEach(async () => {
  sandbox = createSandbox();
  here = sandbox.path('here');
  mkdirSync(here);
  await initWorkspace(testContext(here), { remoteUrl: sandbox.path('remote') });
  for (const path of ['a.txt', 'data/b.txt']) {
    sandbox.write(`here/${path}`, 'base');
    // A file as recent as its row counts as undecided until it is read again.
    utimesSync(join(here, path), 1_700_000_000, 1_700_000_000);
  }
  mkdirSync(join(here, 'empty'));
  await push(testContext(here), {});
});
afterEach(() => sandbox[Symbol.dispose]());

async function changes(): Promise<string[]> {
  const context = testContext(here);
  await status(context, {});
  return eventsOf(context, 'change').map(({ change, path }) => `${change} ${path}`);
}

describe('a discarded new file', () => {
  it('moves to the bin, its empty folders are removed, and it can be put back', async () => {
    sandbox.write('here/new/deep/c.txt', 'mine');
    const { committed, kept } = await discardNew(testContext(here), ['new/']);
    expect([committed, kept?.files, kept?.bytes]).toEqual([[], 1, 4]);
    expect([existsSync(join(here, 'new')), await changes()]).toEqual([false, []]);
    expect((await listKept(testContext(here))).runs).toMatchObject([{ command: 'discard new/', files: 1 }]);
    await putBackKept(testContext(here), { id: kept!.id });
    expect(readFileSync(join(here, 'new/deep/c.txt'), 'utf8')).toBe('mine');
  });

  it('leaves committed files in place, and names their paths', async () => {
    sandbox.write('here/data/new.txt', 'mine');
    sandbox.write('here/data/b.txt', 'changed');
    sandbox.write('here/empty/new.txt', 'mine');
    rmSync(join(here, 'a.txt'));
    const { committed, kept } = await discardNew(testContext(here), ['data/', 'a.txt', 'empty/new.txt']);
    expect([committed.toSorted(), kept?.files]).toEqual([['a.txt', 'data/'], 2]);
    expect(await changes()).toEqual(['deleted a.txt', 'modified data/b.txt']);
    expect(existsSync(join(here, 'empty'))).toBe(true);
  });

  it('is moved as a link, never through one, and no run is made without new files', async () => {
    sandbox.write('outside/secret.txt', 'secret');
    symlinkSync(sandbox.path('outside/secret.txt'), join(here, 'link'));
    await discardNew(testContext(here), ['link']);
    expect(readFileSync(sandbox.path('outside/secret.txt'), 'utf8')).toBe('secret');
    expect(await changes()).toEqual([]);
    const nothing = await discardNew(testContext(here), ['a.txt', '']);
    expect(nothing).toEqual({ committed: [], failed: 0 });
    expect((await listKept(testContext(here))).runs).toHaveLength(1);
  });
});
