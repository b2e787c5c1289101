import { chmodSync, existsSync, readFileSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { push } from '../../jobs/push/push.ts';
import { testContext } from '../../jobs/session/job.fixture.ts';
import { createHostFixture, type HostFixture, transferIn } from '../host.fixture.ts';

let fixture: HostFixture;
let root: string;
beforeEach(async () => {
  fixture = createHostFixture();
  root = await fixture.workspace();
  for (const path of ['a.txt', 'gone.txt', 'folder/b.txt', 'folder/from.bin'])
    fixture.sandbox.write(`work/${path}`, `${path} as pushed`);
  await push(testContext(root), {});
});
afterEach(() => fixture[Symbol.asyncDispose]());

const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** Waits for the restore, if there is one. */
async function discard(...paths: string[]) {
  const { transfer, ...answer } = await fixture.client.ask('changes.discard', { root, paths });
  if (transfer !== undefined) await transferIn(fixture.client, transfer, ['done']);
  return answer;
}

async function rows(): Promise<number> {
  const { totals } = await fixture.client.ask('changes.open', { root, direction: 'push' });
  return totals.added + totals.modified + totals.deleted + totals.renamed + totals.mode;
}

describe('a discarded change', () => {
  it('of a folder restores the base, and moves every local file to the bin', async () => {
    fixture.sandbox.write('work/folder/b.txt', 'changed');
    fixture.sandbox.write('work/folder/new.txt', 'new');
    unlinkSync(join(root, 'folder/from.bin'));
    expect(await discard('folder/')).toMatchObject({ failed: 0, kept: { files: 1 } });
    expect(await rows()).toBe(0);
    const { runs } = await fixture.client.ask('kept.list', { root });
    expect(runs.flatMap(({ paths }) => paths).toSorted()).toEqual(['folder/b.txt', 'folder/new.txt']);
  });

  it('of a rename, a deletion and a mode restores the old state', async () => {
    renameSync(join(root, 'folder/from.bin'), join(root, 'folder/to.bin'));
    unlinkSync(join(root, 'gone.txt'));
    chmodSync(join(root, 'a.txt'), 0o755);
    await discard('folder/to.bin', 'folder/from.bin');
    expect([existsSync(join(root, 'folder/to.bin')), textOf('folder/from.bin')]).toEqual([
      false,
      'folder/from.bin as pushed',
    ]);
    await discard('gone.txt');
    await discard('a.txt');
    expect(textOf('gone.txt')).toBe('gone.txt as pushed');
    expect(statSync(join(root, 'a.txt')).mode & 0o100).toBe(0);
    expect(await rows()).toBe(0);
  });

  it('names a path inside the workspace, and none inside .dray', async () => {
    for (const path of ['../out', '/etc/passwd', '.dray/config.json', 'a/../../b'])
      await expect(discard(path), path).rejects.toMatchObject({ code: 'unsafePath' });
    await expect(fixture.client.ask('changes.ignore', { root, path: '../out' })).rejects.toMatchObject({
      code: 'unsafePath',
    });
  });
});
