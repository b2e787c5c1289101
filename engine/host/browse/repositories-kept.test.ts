import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeS3, startFakeS3 } from '../../../e2e/servers/fake-s3.ts';
import { createHostFixture, type HostFixture, transferIn } from '../host.fixture.ts';

let fixture: HostFixture;
let store: FakeS3;
const root = () => `s3://${store.bucket}/`;
beforeEach(async () => {
  fixture = createHostFixture();
  store = await startFakeS3();
  fixture.host.setEnvironment({ ...fixture.environment, ...store.environment });
  for (const key of ['data/birds/dray.json', 'data/birds/packs/ab/cd', 'data/a.txt'])
    store.objects.set(key, new Uint8Array(1));
  for (const path of ['files/data/birds/dray.json', 'files/data/birds/packs/ab/cd', 'files/data/a.txt'])
    fixture.sandbox.write(path, 'x');
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

const REFUSED = { code: 'conflict', data: { repository: 'birds' } };

describe('a repository in Browse', () => {
  it.each(['data/', 'data/birds/', 'data/birds/packs/', 'data/birds/packs/ab/cd', 'data/birds/dray.json'])(
    'loses nothing by the deletion of %s unless its name was typed',
    async (path) => {
      for (const place of [`${root()}${path}`, fixture.sandbox.path('files', path)]) {
        const remove = (confirmed?: readonly string[]) =>
          fixture.client.ask('browse.remove', { places: [place], ...(confirmed ? { confirmed } : {}) });
        await expect(remove(), place).rejects.toMatchObject(REFUSED);
        await expect(remove(['data']), place).rejects.toMatchObject(REFUSED);
        expect(existsSync(fixture.sandbox.path('files/data/birds/packs/ab/cd'))).toBe(true);
        await remove(['birds']);
      }
      expect(existsSync(fixture.sandbox.path('files', path))).toBe(false);
      expect([...store.objects.keys()].filter((key) => key.startsWith(path))).toEqual([]);
    },
  );

  it('is marked in a listing, and the entries beside it can be deleted', async () => {
    fixture.sandbox.write('files/data/fish/dray.json', '{}');
    const places = [fixture.sandbox.path('files/data/')];
    const remove = (...confirmed: string[]) => fixture.client.ask('browse.remove', { places, confirmed });
    await expect(remove('birds')).rejects.toMatchObject({ data: { repository: 'fish' } });
    await remove('birds', 'fish');
    expect(await fixture.client.ask('browse.remove', { places: [`${root()}data/a.txt`] })).toEqual({
      removed: 1,
    });
  });

  it('is not deleted by a selection of the whole list, which marks it as a repository', async () => {
    const above = await fixture.client.ask('browse.open', {
      place: `${fixture.sandbox.path('files/data')}/`,
    });
    const all = { list: above.list, filter: '', except: [] };
    expect(above.isRepository).toBe(false);
    await expect(fixture.client.ask('browse.remove', { all })).rejects.toMatchObject(REFUSED);
    const inside = await fixture.client.ask('browse.open', {
      place: `${fixture.sandbox.path('files/data/birds')}/`,
    });
    expect(inside.isRepository).toBe(true);
    const allInside = { ...all, list: inside.list };
    await expect(fixture.client.ask('browse.remove', { all: allInside })).rejects.toMatchObject(REFUSED);
    expect(existsSync(fixture.sandbox.path('files/data/birds/packs/ab/cd'))).toBe(true);
  });

  it('refuses a copy or sync into it unless its name was typed', async () => {
    const source = fixture.sandbox.write('other/new.txt', 'new');
    const order = { kind: 'copy', source, destination: `${root()}data/birds/` } as const;
    await expect(fixture.client.ask('transfers.start', order)).rejects.toMatchObject(REFUSED);
    const { id } = await fixture.client.ask('transfers.start', { ...order, confirmed: ['birds'] });
    await transferIn(fixture.client, id, ['done']);
    expect([...store.objects.keys()]).toContain('data/birds/new.txt');
  });

  it('is not deleted by a sync of a folder above it if the plan only counts deletions', async () => {
    fixture.sandbox.write('other/new.txt', 'new');
    const order = {
      kind: 'sync',
      source: `${fixture.sandbox.path('other')}/`,
      destination: `${fixture.sandbox.path('files/data')}/`,
      maxDelete: 3,
    } as const;
    const counted = await fixture.client.ask('transfers.start', order);
    const failed = await transferIn(fixture.client, counted.id, ['failed', 'done']);
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'tooManyDeletes' } });
    expect(existsSync(fixture.sandbox.path('files/data/birds/dray.json'))).toBe(true);
    const { id } = await fixture.client.ask('transfers.start', { ...order, confirmed: ['birds'] });
    await transferIn(fixture.client, id, ['done']);
    expect(existsSync(fixture.sandbox.path('files/data/birds'))).toBe(false);
  });

  it('shows its branches, files and sizes in a few requests', async () => {
    const workspace = await fixture.workspace('work');
    fixture.sandbox.write('work/a.csv', 'a,b\n1,2\n');
    const { id } = await fixture.client.ask('transfers.start', {
      kind: 'push',
      root: workspace,
      message: 'First',
    });
    await transferIn(fixture.client, id, ['done']);
    const place = `${fixture.sandbox.path('work-remote')}/`;
    const { branchCount, branches } = await fixture.client.ask('browse.repository', { place });
    expect(branchCount).toBe(1);
    expect(branches).toMatchObject([
      { name: 'main', files: 1, bytes: 8, message: 'First', author: 'tester' },
    ]);
  });
});
