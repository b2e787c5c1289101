import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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
    expect(nothing).toEqual({ committed: [], failed: 0, renamed: 0 });
    expect((await listKept(testContext(here))).runs).toHaveLength(1);
  });
});

describe('a discarded rename', () => {
  const read = (path: string) => readFileSync(join(here, path), 'utf8');

  it('gives the file its old name without a copy, and Undo leaves the new name alone', async () => {
    mkdirSync(join(here, 'moved'));
    renameSync(join(here, 'data/b.txt'), join(here, 'moved/c.txt'));
    const inode = statSync(join(here, 'moved/c.txt')).ino;
    const before = await changes();
    expect(before).toContain('renamed moved/c.txt');
    const { committed, kept, renamed } = await discardNew(testContext(here), ['moved/c.txt', 'data/b.txt']);
    expect([committed, kept?.files, renamed]).toEqual([[], 0, 1]);
    expect([existsSync(join(here, 'moved')), statSync(join(here, 'data/b.txt')).ino]).toEqual([false, inode]);
    expect(await changes()).toEqual([]);
    expect(await putBackKept(testContext(here), { id: kept!.id })).toEqual({ restored: 1, failed: 0 });
    expect([existsSync(join(here, 'data/b.txt')), read('moved/c.txt')]).toEqual([false, 'base']);
    expect(await changes()).toEqual(before);
    await expect(putBackKept(testContext(here), { id: kept!.id })).rejects.toMatchObject({
      code: 'notFound',
    });
  });

  it('is found from its new name alone, also within a folder of other changes', async () => {
    renameSync(join(here, 'a.txt'), join(here, 'data/renamed.txt'));
    sandbox.write('here/data/new.txt', 'new');
    const { committed, kept, renamed } = await discardNew(testContext(here), ['data/']);
    expect([committed, kept?.files, renamed]).toEqual([[], 1, 1]);
    expect(await changes()).toEqual([]);
    await putBackKept(testContext(here), { id: kept!.id });
    expect(await changes()).toEqual(['added data/new.txt', 'renamed data/renamed.txt']);
  });

  it('overwrites no file that has taken its old name or its new one', async () => {
    renameSync(join(here, 'a.txt'), join(here, 'b.txt'));
    const { kept } = await discardNew(testContext(here), ['b.txt', 'a.txt']);
    sandbox.write('here/b.txt', 'another');
    const context = testContext(here);
    expect(await putBackKept(context, { id: kept!.id })).toMatchObject({ restored: 0, failed: 1 });
    expect([read('a.txt'), read('b.txt')]).toEqual(['base', 'another']);
    // Once the name is free, Undo works.
    rmSync(join(here, 'b.txt'));
    expect(await putBackKept(context, { id: kept!.id })).toMatchObject({ restored: 1, failed: 0 });
    expect([existsSync(join(here, 'a.txt')), read('b.txt')]).toEqual([false, 'base']);
  });

  it('leaves another mode to the restore, and follows no path of a damaged note', async () => {
    renameSync(join(here, 'a.txt'), join(here, 'b.txt'));
    chmodSync(join(here, 'b.txt'), 0o755);
    const { committed, kept } = await discardNew(testContext(here), ['b.txt', 'a.txt']);
    expect([committed, await changes()]).toEqual([['a.txt'], ['mode a.txt']]);
    const note = join(here, '.dray/kept', kept!.id, 'renames.json');
    writeFileSync(note, JSON.stringify([{ fromPath: 'a.txt', toPath: '../out.txt' }]));
    expect(await putBackKept(testContext(here), { id: kept!.id })).toMatchObject({ restored: 0 });
    expect([read('a.txt'), existsSync(sandbox.path('out.txt'))]).toEqual(['base', false]);
  });
});
