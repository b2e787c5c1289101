import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EntryRow } from '../../api/host/browse.ts';
import { formatVersionPlace } from '../../api/text/version-place.ts';
import { push } from '../../jobs/push/push.ts';
import { testContext } from '../../jobs/session/job.fixture.ts';
import { createHostFixture, type HostFixture, transferIn } from '../host.fixture.ts';

const MODIFIED = new Date('2024-02-03T04:05:06.789Z');

let fixture: HostFixture;
let repository: string;
let first: string;
beforeEach(async () => {
  fixture = createHostFixture();
  const { sandbox } = fixture;
  const root = await fixture.workspace();
  repository = sandbox.path('work-remote');
  utimesSync(sandbox.write('work/notes.md', 'one'), MODIFIED, MODIFIED);
  sandbox.write('work/photos/2024/Heron.jpg', 'heron');
  sandbox.write('work/photos/2025/heron-2.jpg', 'heron two');
  sandbox.write('work/photos/herons/list.csv', 'name\nheron\n');
  mkdirSync(join(root, 'photos/nothing'));
  symlinkSync('2024/Heron.jpg', join(root, 'photos/newest'));
  await push(testContext(root), { message: 'first' });
  const { commits } = await fixture.client.ask('history.list', { root, limit: 1 });
  first = commits[0]!.commit;
  sandbox.write('work/notes.md', 'changed since');
  await push(testContext(root), { message: 'second' });
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function rows(path: string, search?: string): Promise<readonly EntryRow[]> {
  const { client } = fixture;
  const place = formatVersionPlace(repository, first, path);
  const { list } = await client.ask('browse.open', { place, ...(search !== undefined && { search }) });
  return (await client.ask('browse.rows', { list, view: {}, offset: 0, limit: 500 })).rows;
}

describe('a version in the window', () => {
  it('is listed by levels, with its links and empty folders', async () => {
    expect((await rows('')).map(({ path, sizeBytes }) => [path, sizeBytes])).toEqual([
      ['photos/', 0],
      ['notes.md', 3],
    ]);
    const [, notes] = await rows('');
    expect(notes?.mtime).toBe(MODIFIED.toISOString());
    expect((await rows('photos/')).map(({ kind, path }) => [kind, path])).toEqual([
      ['folder', '2024/'],
      ['folder', '2025/'],
      ['folder', 'herons/'],
      ['folder', 'nothing/'],
      ['link', 'newest'],
    ]);
    expect((await rows('photos/')).at(-1)?.target).toBe('2024/Heron.jpg');
    expect(await rows('photos/nothing/')).toEqual([]);
  });

  it('is searched by name below a folder, and finds folders once', async () => {
    const found = async (path: string, search: string) => (await rows(path, search)).map((row) => row.path);
    const herons = ['herons/', '2024/Heron.jpg', '2025/heron-2.jpg'];
    expect(await found('photos', 'HERON')).toEqual(herons);
    expect(await found('', 'heron')).toEqual(herons.map((path) => `photos/${path}`));
    expect(await found('', 'noth')).toEqual(['photos/nothing/']);
    expect(await found('photos/2024', 'list')).toEqual([]);
    const local = fixture.client.ask('browse.open', { place: repository, search: 'x' });
    await expect(local).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('is previewed, copied out, and never written', async () => {
    const { client, sandbox } = fixture;
    const place = formatVersionPlace(repository, first, 'notes.md');
    expect(await client.ask('browse.preview', { place })).toMatchObject({ as: 'text', text: 'one' });
    const order = {
      kind: 'copy',
      source: formatVersionPlace(repository, first, ''),
      destination: sandbox.path('out'),
      names: ['photos/2024/Heron.jpg', 'notes.md'],
    } as const;
    const { id } = await client.ask('transfers.start', order);
    expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    expect(readFileSync(sandbox.path('out/photos/2024/Heron.jpg'), 'utf8')).toBe('heron');
    expect(readFileSync(sandbox.path('out/notes.md'), 'utf8')).toBe('one');
    const removing = client.ask('browse.remove', { places: [place] });
    await expect(removing).rejects.toMatchObject({ code: 'usage' });
  });

  it('says how S3 clients read it, and tells the secret key only when asked', async () => {
    const { client, sandbox } = fixture;
    const place = formatVersionPlace(repository, first, 'photos/');
    const access = await client.ask('versions.access', { place });
    expect(access).toEqual({
      command: `dray gateway file://${repository}`,
      endpoint: 'http://127.0.0.1:9400',
      bucket: 'work-remote',
      ref: first,
      key: `${first}/photos/`,
    });
    expect(await client.ask('versions.secret', {})).toEqual({});
    const keys = { accessKeyId: 'DRAYABCDEFGHIJKLMNOP', secretAccessKey: 'x'.repeat(40) };
    writeFileSync(sandbox.path('config/gateway.json'), JSON.stringify(keys));
    const known = await client.ask('versions.access', { place });
    expect(known).toEqual({ ...access, accessKeyId: keys.accessKeyId });
    expect(await client.ask('versions.secret', {})).toEqual({ secretAccessKey: keys.secretAccessKey });
    const other = formatVersionPlace('s3://data/My Birds?endpoint=http://127.0.0.1:9', 'main', '');
    expect(await client.ask('versions.access', { place: other })).toMatchObject({
      command: "dray gateway 'repository=s3://data/My%20Birds?endpoint=http://127.0.0.1:9'",
      bucket: 'repository',
      key: 'main/',
    });
    const plain = client.ask('versions.access', { place: repository });
    await expect(plain).rejects.toMatchObject({ code: 'usage' });
  });
});
