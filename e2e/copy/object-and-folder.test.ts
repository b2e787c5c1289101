/** A bucket holds an object `data` and objects below `data/`: every command means the same by each name. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { usage } from '../../engine/jobs/one-place/disk-usage.ts';
import { listPlace } from '../../engine/jobs/one-place/list-place.ts';
import { readPlace } from '../../engine/jobs/one-place/read-place.ts';
import { removePlace } from '../../engine/jobs/one-place/remove-place.ts';
import { eventsOf } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../fresh-store.ts';

freshStorePerTest();

const url = (key: string) => `s3://${store.bucket}/${key}`;
const kept = () => [...store.objects.keys()].sort();

beforeEach(() => {
  for (const key of ['data', 'data-1', 'data/x', 'data/y/z', 'other'])
    store.objects.set(key, Buffer.from(key));
});

describe('Without a slash the object is meant, with one the folder', () => {
  const list = async (place: string, recursive = false) => {
    const context = contextIn();
    await listPlace(context, { place, recursive });
    return eventsOf(context, 'entry').map(({ path }) => path);
  };

  it('by ls', async () => {
    for (const recursive of [false, true]) expect(await list(url('data'), recursive)).toEqual(['data']);
    expect(await list(url('data/'), true)).toEqual(['x', 'y/z']);
    expect(await list(url('data/y'))).toEqual(['z']);
  });

  it('by du', async () => {
    expect(await usage(contextIn(), { place: url('data') })).toMatchObject({ files: 1, bytes: 4 });
    expect(await usage(contextIn(), { place: url('data/') })).toMatchObject({ files: 2, bytes: 14 });
    expect(await usage(contextIn(), { place: url('data/y') })).toMatchObject({ files: 1 });
  });

  it('by cat, copy and check', async () => {
    const read: Buffer[] = [];
    await readPlace(contextIn(), { place: url('data') }, async (piece) => void read.push(Buffer.from(piece)));
    expect(Buffer.concat(read).toString()).toBe('data');
    const pair = (place: string, to: string) => ({
      source: { place: url(place) },
      destination: { place: to },
    });
    expect(await copyTree(contextIn(), pair('data', 'one'))).toMatchObject({ copiedFiles: 1 });
    expect(await copyTree(contextIn(), pair('data/', 'two'))).toMatchObject({ copiedFiles: 2 });
    expect(await checkTrees(contextIn(), pair('data', 'one'))).toMatchObject({ same: 1, onlyInSource: 0 });
    expect(await checkTrees(contextIn(), pair('data/', 'two'))).toMatchObject({ same: 2 });
  });

  it('by rm -r, which says that the folder stays', async () => {
    const context = contextIn();
    expect(await removePlace(context, { place: url('data'), recursive: true })).toMatchObject({ removed: 1 });
    expect(kept()).toEqual(['data-1', 'data/x', 'data/y/z', 'other']);
    expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'alsoFolder' }]);
    expect(await removePlace(contextIn(), { place: url('data/'), recursive: true })).toMatchObject({
      removed: 2,
    });
    expect(kept()).toEqual(['data-1', 'other']);
  });
});

describe('A copy to a folder, which cannot hold both', () => {
  it('names what it leaves out, and copies the rest', async () => {
    const context = contextIn();
    const pair = { source: { place: url('') }, destination: { place: 'to' } };
    expect(await copyTree(context, pair)).toMatchObject({ copiedFiles: 3, failed: 2 });
    expect(eventsOf(context, 'fileFailed')).toMatchObject([
      { path: 'data/x', error: { code: 'unsafePath', data: { other: 'data' } } },
      { path: 'data/y/z', error: { code: 'unsafePath' } },
    ]);
    expect(readFileSync(sandbox.path('to/data'), 'utf8')).toBe('data');
    expect(existsSync(sandbox.path('to/other'))).toBe(true);
    expect(await copyTree(contextIn(), pair)).toMatchObject({ copiedFiles: 0, unchangedFiles: 3, failed: 2 });
  });

  it('does so on another machine too, and what a filter leaves out is not in the way', async () => {
    mkdirSync(sandbox.path('offered'));
    const server = await serveForTest(sandbox.path('offered'));
    try {
      const context = contextIn(sandbox.folder, { DRAY_TOKEN: TEST_TOKEN });
      const destination = { place: plainPlace(server.address.port, 'to') };
      expect(await copyTree(context, { source: { place: url('') }, destination })).toMatchObject({
        copiedFiles: 3,
        failed: 2,
      });
    } finally {
      await server.close();
    }
    const filter = { rules: [{ action: 'exclude', pattern: '/data' }] } as const;
    const pair = { source: { place: url('') }, destination: { place: 'rest' }, filter };
    expect(await copyTree(contextIn(), pair)).toMatchObject({ copiedFiles: 4, failed: 0 });
  });
});
