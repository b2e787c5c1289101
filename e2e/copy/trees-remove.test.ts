/** `dray rm` and `dray uploads` against stores that refuse some requests. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RemovePlaceRequest } from '../../engine/api/jobs/trees.ts';
import { removePlace } from '../../engine/jobs/one-place/remove-place.ts';
import { uploads } from '../../engine/jobs/one-place/uploads.ts';
import { eventsOf, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type FakeS3, startFakeS3 } from '../servers/fake-s3.ts';

let store: FakeS3;
beforeEach(async () => {
  store = await startFakeS3();
  for (const key of ['p', 'p/', 'p/a', 'p/b.log', 'p/deep/c', 'p-beside', 'q'])
    store.objects.set(key, Buffer.from('x'));
});
afterEach(() => store[Symbol.asyncDispose]());

const keys = () => [...store.objects.keys()].sort();
async function remove(key: string, more: Partial<RemovePlaceRequest> = {}) {
  const context = testContext('/', { environment: store.environment });
  const place = `s3://${store.bucket}/${key}`;
  const summary = await removePlace(context, { place, connection: { endpoint: store.endpoint }, ...more });
  return {
    summary,
    paths: eventsOf(context, 'change')
      .map(({ path }) => path)
      .sort(),
    context,
  };
}

describe('dray rm', () => {
  it('removes the object of exactly that name and nothing below or beside it', async () => {
    expect((await remove('p')).summary).toMatchObject({ removed: 1, failed: 0 });
    expect(keys()).toEqual(['p-beside', 'p/', 'p/a', 'p/b.log', 'p/deep/c', 'q']);
  });

  it('removes a prefix only with --recursive', async () => {
    await expect(remove('p/')).rejects.toMatchObject({ code: 'usage' });
    await expect(remove('')).rejects.toMatchObject({ code: 'usage' });
    await expect(remove('p/deep')).rejects.toMatchObject({ code: 'notFound' });
    expect(keys()).toHaveLength(7);
    expect((await remove('p/', { recursive: true })).summary).toMatchObject({ removed: 4 });
    expect(keys()).toEqual(['p', 'p-beside', 'q']);
  });

  it('removes the objects that its filter selects', async () => {
    const filter = { rules: [{ action: 'exclude', pattern: '*.log' }] } as const;
    expect((await remove('p/', { recursive: true, filter })).summary).toMatchObject({ removed: 3 });
    expect(keys()).toEqual(['p', 'p-beside', 'p/b.log', 'q']);
  });

  it('lists the objects in a dry run and sends no other request', async () => {
    const { paths, summary } = await remove('p/', { recursive: true, dryRun: true });
    expect(paths).toEqual(['', 'a', 'b.log', 'deep/c']);
    expect(summary).toMatchObject({ removed: 4, bytes: 4 });
    expect(keys()).toHaveLength(7);
    expect(store.log.some((line) => /^(POST|DELETE|PUT)/.test(line))).toBe(false);
  });

  it('fails for an empty prefix, but not for an empty bucket', async () => {
    await expect(remove('typo/', { recursive: true })).rejects.toMatchObject({ code: 'notFound' });
    store.objects.clear();
    expect((await remove('', { recursive: true })).summary).toMatchObject({ removed: 0 });
  });

  it('removes every object of a store that lists in no order', async () => {
    store.objects.clear();
    for (let at = 0; at < 900; at += 1) store.objects.set(`p/${at}`, Buffer.from(''));
    store.listing = 'shuffled';
    expect((await remove('p/', { recursive: true })).summary).toMatchObject({ removed: 900, failed: 0 });
    expect(keys()).toEqual([]);
  });

  it('reports each object that it cannot remove and removes the others', async () => {
    store.fault = ({ key, method, query }) => {
      if (method === 'POST' && query.has('delete')) return { status: 403, code: 'AccessDenied' };
      return method === 'DELETE' && key === 'p/a' ? { status: 403, code: 'AccessDenied' } : undefined;
    };
    const { summary, context } = await remove('p/', { recursive: true });
    expect([summary.removed, summary.failed, keys()]).toEqual([3, 1, ['p', 'p-beside', 'p/a', 'q']]);
    expect(eventsOf(context, 'fileFailed')).toMatchObject([{ path: 'a', error: { code: 'accessDenied' } }]);
  });
});

describe('dray uploads --abort', () => {
  it('keeps the unfinished uploads beside the place, whose names only share a prefix', async () => {
    const pending = ['data', 'data/x', 'data-2024/x', 'database'];
    store.fault = ({ method, query }) => {
      if (method !== 'GET') return undefined;
      if (query.has('uploadId')) return { document: '<ListPartsResult></ListPartsResult>' };
      const uploads = pending.map(
        (key) =>
          `<Upload><Key>${key}</Key><UploadId>id</UploadId><Initiated>2026-11-13T10:00:00Z</Initiated></Upload>`,
      );
      return {
        document: `<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>`,
      };
    };
    const context = testContext('/', { environment: store.environment });
    const place = `s3://${store.bucket}/data`;
    const request = { place, connection: { endpoint: store.endpoint }, abort: true };
    expect(await uploads(context, request)).toMatchObject({ aborted: 2 });
    expect(store.log.filter((line) => line.startsWith('DELETE')).sort()).toEqual([
      'DELETE data',
      'DELETE data/x',
    ]);
  });
});
