/**
 * When a store answers a write with 200 and keeps nothing, every step that depends on the write fails, and
 * the next run writes again.
 */
import { mkdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { eventsOf } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { findCutPath } from '../../engine/repository/manifest/cut-path.fixture.ts';
import { SEGMENT_MIN_ENTRIES } from '../../engine/repository/manifest/segment-cutter.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../fresh-store.ts';
import type { FakeRequest } from '../servers/fake-s3.ts';
import { startRequestGate } from '../servers/request-gate.ts';

freshStorePerTest();

const isWrite = ({ method }: FakeRequest) => method === 'PUT' || method === 'COPY';

/** Loses the first write of a key with this prefix. */
function loseOne(prefix: string): () => number {
  let lost = 0;
  store.fault = (request) => {
    if (lost > 0 || !isWrite(request) || !request.key.startsWith(prefix)) return undefined;
    lost += 1;
    return { lost: true };
  };
  return () => lost;
}

describe('A push to a store that loses a write', () => {
  // Chunks of 1 KiB, packs of small files, more than one segment.
  const CHUNKED = { packBelow: 512, chunkAbove: 2_000 };

  async function startWork(): Promise<string> {
    const work = sandbox.path('work');
    mkdirSync(work);
    await initWorkspace(contextIn(work), { remoteUrl: `s3://${store.bucket}/data`, layout: CHUNKED });
    return work;
  }

  it.each([
    ['a pack', 'data/packs/'],
    ['an object or a chunk', 'data/objects/'],
    ['a segment', 'data/manifests/'],
    ['a commit', 'data/commits/'],
  ])('fails before it moves the branch, and the next push repairs it: %s', async (_, prefix) => {
    const work = await startWork();
    for (let at = 0; at < SEGMENT_MIN_ENTRIES; at += 1)
      sandbox.write(`work/${at % 7}/${at}`, `content of ${at}`);
    sandbox.write(`work/${findCutPath('7')}`, 'the last of its segment');
    sandbox.write('work/object', Buffer.alloc(1_500, 'o'));
    sandbox.write('work/chunked', Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * at) >> 7)));
    const lost = loseOne(prefix);
    await expect(push(contextIn(work), {})).rejects.toMatchObject({
      code: 'remoteFailed',
      data: { key: expect.stringContaining(prefix.slice('data/'.length)), reason: 'notStored' },
    });
    expect(lost()).toBe(1);
    expect([...store.objects.keys()].filter((key) => key.startsWith('data/refs/'))).toEqual([]);
    store.fault = () => undefined;
    expect(await push(contextIn(work), {})).toMatchObject({ result: 'pushed' });
    expect(await verify(contextIn(work), { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
    const request = { url: `s3://${store.bucket}/data`, directory: sandbox.path('copy') };
    await cloneWorkspace(contextIn(), request);
    expect(describeTree(sandbox.path('copy'))).toEqual(describeTree(work));
  });

  it('asks for the pack while it writes the commit, and moves the branch after the answer', async () => {
    await using gate = await startRequestGate(store.endpoint);
    const work = await startWork();
    sandbox.write('work/file', 'content');
    gate.holdAnswers(({ method, url }) => method === 'HEAD' && url.pathname.includes('/packs/'));
    const context = contextIn(work);
    const environment = { ...context.environment, AWS_ENDPOINT_URL: gate.endpoint };
    const pushed = push({ ...context, environment }, {});
    const hasWritten = (folder: string) => store.log.some((line) => line.startsWith(`PUT data/${folder}/`));
    await vi.waitFor(() => expect([gate.held(), hasWritten('commits')]).toEqual([1, true]), 60_000);
    expect(hasWritten('refs')).toBe(false);
    gate.release();
    expect(await pushed).toMatchObject({ result: 'pushed' });
    expect(hasWritten('refs')).toBe(true);
  });

  it('confirms 1,000 small files by two requests, one for the pack and one for the commit', async () => {
    const work = await startWork();
    for (let at = 0; at < 1_000; at += 1) sandbox.write(`work/${at}`, `${at}`);
    store.log.length = 0;
    await push(contextIn(work), {});
    const looks = store.log.filter((line) => line.startsWith('HEAD'));
    expect(looks.map((line) => line.replace(/[0-9a-f/]*$/, ''))).toEqual([
      'HEAD data/packs',
      'HEAD data/commits',
    ]);
  });
});

describe('A copy to a store that loses writes', () => {
  const request = () => ({
    source: { place: sandbox.path('up') },
    destination: { place: `s3://${store.bucket}/tree` },
  });
  const failures = (context: ReturnType<typeof contextIn>) =>
    eventsOf(context, 'fileFailed').map(({ error, path }) => [path, error.code]);

  it.each([1, 30])('reports each lost file among %i and sends it in the next run', async (count) => {
    for (let at = 0; at < count; at += 1) sandbox.write(`up/${at}`, `content ${at}`);
    loseOne('tree/');
    const context = contextIn();
    expect(await copyTree(context, request())).toMatchObject({ copiedFiles: count - 1, failed: 1 });
    expect(failures(context)).toEqual([[expect.any(String), 'remoteFailed']]);
    expect(await copyTree(contextIn(), request())).toMatchObject({
      copiedFiles: 1,
      failed: 0,
    });
    expect(await checkTrees(contextIn(), request())).toMatchObject({
      differing: 0,
      onlyInSource: 0,
      failed: 0,
    });
  });

  it('reports an object that was not replaced', async () => {
    for (const at of [1, 2]) sandbox.write(`up/${at}`, 'content');
    await copyTree(contextIn(), request());
    sandbox.write('up/1', 'CONTENT');
    loseOne('tree/');
    const context = contextIn();
    expect(await copyTree(context, request())).toMatchObject({ copiedFiles: 0, failed: 1 });
    expect(failures(context)).toEqual([['1', 'remoteFailed']]);
    expect(await copyTree(contextIn(), request())).toMatchObject({ copiedFiles: 1, failed: 0 });
  });

  it('reports a lost server-side copy', async () => {
    store.objects.set('from/a', Buffer.from('a'));
    loseOne('tree/');
    const inside = { ...request(), source: { place: `s3://${store.bucket}/from` } };
    expect(await copyTree(contextIn(), inside)).toMatchObject({ copiedFiles: 0, failed: 1 });
  });

  it('deletes nothing when it is a sync', async () => {
    sandbox.write('up/new', 'new');
    store.objects.set('tree/old', Buffer.from('old'));
    loseOne('tree/new');
    await expect(syncTree(contextIn(), request())).rejects.toMatchObject({ code: 'partial' });
    expect(store.objects.has('tree/old')).toBe(true);
  });

  it('confirms hundreds of files by one listing, and by none with --no-confirm', async () => {
    for (let at = 0; at < 300; at += 1) sandbox.write(`up/${at}`, `${at}`);
    const requestsOf = async (more: { readonly noConfirm?: boolean }) => {
      store.objects.clear();
      store.log.length = 0;
      await copyTree(contextIn(), { ...request(), noIndex: true, ...more });
      return store.log.length;
    };
    const plain = await requestsOf({ noConfirm: true });
    expect(await requestsOf({})).toBe(plain + 1);
  });
});
