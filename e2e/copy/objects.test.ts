/** The commands on single objects (ls, du, rm, cat, uploads, streams) on real servers of two makes. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { usage } from '../../engine/jobs/one-place/disk-usage.ts';
import { listPlace } from '../../engine/jobs/one-place/list-place.ts';
import { readPlace } from '../../engine/jobs/one-place/read-place.ts';
import { removePlace } from '../../engine/jobs/one-place/remove-place.ts';
import { uploads } from '../../engine/jobs/one-place/uploads.ts';
import {
  createSandbox,
  eventsOf,
  type Sandbox,
  type TestContext,
  testContext,
} from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import type { ObjectStore } from '../../engine/remotes/object-store.ts';
import { openS3Store } from '../../engine/remotes/s3/open-s3-store.ts';
import { startMinio } from '../servers/minio.ts';
import { type S3Endpoint, startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;

function describeOn(name: string, start: () => Promise<S3Endpoint>): void {
  describe(name, () => {
    let server: S3Endpoint;
    let sandbox: Sandbox;
    let store: ObjectStore;
    beforeAll(async () => {
      server = await start();
      sandbox = createSandbox();
      const { bucket, environment } = server;
      store = await openS3Store({ bucket, prefix: '', environment });
    });
    afterAll(async () => {
      await store?.close();
      sandbox?.[Symbol.dispose]();
      await server?.stop();
    });

    const context = (more: Partial<TestContext> = {}): TestContext =>
      testContext(sandbox.folder, {
        environment: {
          ...server.environment,
          DRAY_CACHE: sandbox.path('cache'),
          DRAY_CONFIG: sandbox.path('config'),
        },
        ...more,
      });
    const url = (key: string) => `s3://${server.bucket}/${key}`;
    const put = (key: string, content: string | Uint8Array = 'content') =>
      store.put(key, typeof content === 'string' ? Buffer.from(content) : content);
    async function keysBelow(prefix: string): Promise<string[]> {
      const { objects } = await store.list({ prefix });
      return objects.map(({ key }) => key);
    }

    describe('ls', () => {
      beforeAll(async () => {
        for (const key of ['list/a', 'list/b/c', 'list/b/d/e', 'list/b-', 'list-not/x']) await put(key);
      });
      const listed = async (key: string, more = {}) => {
        const run = context();
        const summary = await listPlace(run, { place: url(key), ...more });
        return { summary, entries: eventsOf(run, 'entry') };
      };

      it('lists one level in one request', async () => {
        const { entries, summary } = await listed('list');
        expect(entries.map(({ kind, path, sizeBytes }) => [kind, path, sizeBytes])).toEqual([
          ['folder', 'b/', 0],
          ['file', 'a', 7],
          ['file', 'b-', 7],
        ]);
        expect(summary).toMatchObject({ entries: 3, bytes: 14, requests: { lists: 1, total: 1 } });
        const age = Date.now() - Number(entries[1]!.mtime) * 1000;
        expect(Math.abs(age)).toBeLessThan(600_000);
      });

      it('lists all objects below a prefix that the filter selects', async () => {
        const { entries } = await listed('list/', { recursive: true });
        expect(entries.map(({ path }) => path)).toEqual(['a', 'b-', 'b/c', 'b/d/e']);
        const filter = { rules: [{ action: 'exclude', pattern: '/b/d/' }] };
        expect((await listed('list/', { recursive: true, filter })).entries.map(({ path }) => path)).toEqual([
          'a',
          'b-',
          'b/c',
        ]);
      });

      it('reads the times of contents on request, by a HEAD for each listed object', async () => {
        await store.put('timed/b', Buffer.from('content'), {
          metadata: { mtime: '1000000000.5' },
        });
        await put('timed/upload');
        const timesOf = async (more: object) => {
          const { entries, summary } = await listed('timed', { ...more });
          return { times: entries.map(({ mtime }) => Number(mtime)), reads: summary.requests.reads };
        };
        const uploads = await timesOf({});
        expect(uploads).toMatchObject({ reads: 0 });
        expect(await timesOf({ withTimes: true })).toEqual({
          times: [1_000_000_000.5, uploads.times[1]],
          reads: 2,
        });
        expect((await listed('timed/b', { withTimes: true })).entries).toMatchObject([
          { mtime: '1000000000.5' },
        ]);
      });

      it('lists a single object under its own name', async () => {
        expect((await listed('list/b/c')).entries.map(({ path }) => path)).toEqual(['c']);
      });

      it('fails for a missing prefix, but not when a filter selects nothing', async () => {
        await expect(listed('absent')).rejects.toMatchObject({ code: 'notFound' });
        await expect(listed('list/absent/')).rejects.toMatchObject({ code: 'notFound' });
        const filter = { minSizeBytes: 1000 };
        expect((await listed('list', { recursive: true, filter })).entries).toEqual([]);
      });
    });

    it('du sums sizes by folder to the given depth', async () => {
      for (const key of ['usage/a', 'usage/b/c', 'usage/b/d/e', 'usage/b/d/f', 'usage/b-/g']) await put(key);
      const filesByFolder = async (depth?: number) => {
        const run = context();
        const summary = await usage(run, { place: url('usage'), ...(depth === undefined ? {} : { depth }) });
        expect(summary).toMatchObject({ files: 5, bytes: 35 });
        return eventsOf(run, 'usage').map(({ files, path }) => [path, files]);
      };
      expect(await filesByFolder(0)).toEqual([['', 5]]);
      expect(await filesByFolder()).toEqual([
        ['b-/', 1],
        ['b/', 3],
        ['', 5],
      ]);
      expect(await filesByFolder(9)).toEqual([
        ['b-/', 1],
        ['b/d/', 2],
        ['b/', 3],
        ['', 5],
      ]);
      await expect(usage(context(), { place: url('usage/absent') })).rejects.toMatchObject({
        code: 'notFound',
      });
    });

    describe('rm', () => {
      it('removes one object, and a prefix only with --recursive', async () => {
        for (const key of ['remove/one', 'remove/one-more', 'remove/two/a', 'remove/two/b']) await put(key);
        const summary = await removePlace(context(), { place: url('remove/one') });
        expect(summary).toMatchObject({ removed: 1, bytes: 7, failed: 0 });
        await expect(removePlace(context(), { place: url('remove/two') })).rejects.toMatchObject({
          code: 'notFound',
        });
        for (const place of [url('remove/two/'), url('')])
          await expect(removePlace(context(), { place })).rejects.toMatchObject({ code: 'usage' });
        expect(await keysBelow('remove/')).toEqual(['remove/one-more', 'remove/two/a', 'remove/two/b']);
        await removePlace(context(), { place: url('remove/two'), recursive: true });
        expect(await keysBelow('remove/')).toEqual(['remove/one-more']);
        await expect(
          removePlace(context(), { place: url('remove/two'), recursive: true }),
        ).rejects.toMatchObject({
          code: 'notFound',
        });
      });

      it('lists what it would remove in a dry run, and filters a single object too', async () => {
        for (const key of ['some/a.txt', 'some/b.bin', 'some/c/d.txt']) await put(key);
        const filter = { rules: [{ action: 'exclude', pattern: '*.bin' }] } as const;
        const run = context();
        const request = { place: url('some/'), recursive: true, filter };
        expect(await removePlace(run, { ...request, dryRun: true })).toMatchObject({ removed: 2 });
        expect(eventsOf(run, 'change').map(({ change, path }) => [change, path])).toEqual([
          ['deleted', 'a.txt'],
          ['deleted', 'c/d.txt'],
        ]);
        expect(await keysBelow('some/')).toHaveLength(3);
        expect(await removePlace(context(), { place: url('some/b.bin'), filter })).toMatchObject({
          removed: 0,
        });
        await removePlace(context(), request);
        expect(await keysBelow('some/')).toEqual(['some/b.bin']);
      });

      it('removes 2,500 objects by three requests and three listings, and asks for repositories above', async () => {
        const keys = Array.from({ length: 2_500 }, (_, at) => `many/${at}`);
        for (let at = 0; at < keys.length; at += 50)
          await Promise.all(keys.slice(at, at + 50).map((key) => put(key, '')));
        const { removed, requests } = await removePlace(context(), { place: url('many/'), recursive: true });
        expect({ removed, total: requests.total }).toEqual({ removed: 2_500, total: 8 });
        expect(await keysBelow('many/')).toEqual([]);
      });
    });

    describe('streams', () => {
      async function read(key: string, more = {}): Promise<Buffer> {
        const chunks: Buffer[] = [];
        await readPlace(context(), { place: url(key), ...more }, async (chunk) => {
          chunks.push(Buffer.from(chunk));
        });
        return Buffer.concat(chunks);
      }

      it('cat writes a whole object or a range of it in order', async () => {
        const content = randomBytes(20 * MIB);
        await put('cat/big', content);
        expect((await read('cat/big')).equals(content)).toBe(true);
        expect(await read('cat/big', { offsetBytes: 9 * MIB, lengthBytes: 100 })).toEqual(
          content.subarray(9 * MIB, 9 * MIB + 100),
        );
        expect(await read('cat/big', { offsetBytes: 30 * MIB })).toHaveLength(0);
        await put('cat/empty', '');
        expect(await read('cat/empty')).toHaveLength(0);
        await expect(read('cat/absent')).rejects.toMatchObject({ code: 'notFound' });
        await expect(read('cat/')).rejects.toMatchObject({ code: 'usage' });
      });

      it('copy stores standard input of any size as one object and writes it out again', async () => {
        for (const content of [randomBytes(20 * MIB), Buffer.alloc(0)]) {
          const standardInput = pieces(content);
          const stored = await copyTree(context({ standardInput }), {
            source: { place: '-' },
            destination: { place: url('stream/object.bin') },
            partSizeBytes: 5 * MIB,
          });
          expect(stored).toMatchObject({ result: 'copied', copiedBytes: content.length });
          const chunks: Buffer[] = [];
          const standardOutput = async (chunk: Uint8Array) => void chunks.push(Buffer.from(chunk));
          await copyTree(context({ standardOutput }), {
            source: { place: url('stream/object.bin') },
            destination: { place: '-' },
          });
          expect(Buffer.concat(chunks).equals(content)).toBe(true);
        }
      });
    });

    it('uploads lists unfinished uploads and aborts them', async () => {
      const begun: string[] = [];
      for (const key of ['pending/a.bin', 'pending/sub/b.bin', 'pending-not/c.bin']) {
        const uploadId = await store.multipart!.create(key);
        begun.push(uploadId);
        await store.multipart!.uploadPart({ key, uploadId }, 1, randomBytes(5 * MIB));
      }
      const run = context();
      expect(await uploads(run, { place: url('pending/') })).toMatchObject({ uploads: 2, aborted: 0 });
      const begunUploads = eventsOf(run, 'upload').sort((a, b) => (a.path < b.path ? -1 : 1));
      expect(
        begunUploads.map(({ bytes, parts, path, uploadId }) => ({ bytes, parts, path, uploadId })),
      ).toEqual([
        { path: 'a.bin', parts: 1, bytes: 5 * MIB, uploadId: begun[0] },
        { path: 'sub/b.bin', parts: 1, bytes: 5 * MIB, uploadId: begun[1] },
      ]);
      const olderThanMs = Date.now() - 3_600_000;
      expect(await uploads(context(), { place: url('pending/'), abort: true, olderThanMs })).toMatchObject({
        aborted: 0,
      });
      expect(await uploads(context(), { place: url('pending/a.bin'), abort: true })).toMatchObject({
        aborted: 1,
      });
      expect(await uploads(context(), { place: url('') })).toMatchObject({ uploads: 2 });
      expect(await uploads(context(), { place: url(''), abort: true })).toMatchObject({ aborted: 2 });
      expect(await uploads(context(), { place: url('') })).toMatchObject({ uploads: 0 });
    });
  });
}

async function* pieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += 100_001) yield content.subarray(at, at + 100_001);
}

describeOn('versitygw', startVersitygw);
// Another make of server. The contract of stores runs against both in every run.
if (runBudget({ short: false, long: true })) describeOn('MinIO', startMinio);
