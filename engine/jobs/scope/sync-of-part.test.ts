/**
 * A sync makes one place like another one, by plain files. A workspace that holds a part lacks files that
 * nobody deleted: a sync from it, from a folder in it or above it, also through a peer, leaves these alone.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveForTest, TEST_TOKEN } from '../../peer/peer.fixture.ts';
import type { PeerServer } from '../../peer/serve-folder.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { syncTree } from '../trees/copy-tree.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { scope } from './scope.ts';

let sandbox: Sandbox;
let peer: PeerServer;
let whole: string;

beforeEach(async () => {
  sandbox = createSandbox();
  whole = sandbox.path('whole');
  for (const path of ['a/1', 'a/2', 'a/sub/3', 'b/1', 'c']) sandbox.write(`whole/${path}`, `of ${path}`);
  await initWorkspace(testContext(whole), { remoteUrl: sandbox.path('served/store') });
  await push(testContext(whole), {});
  const request = { url: sandbox.path('served/store'), directory: 'served/part', only: ['a/sub', 'a/1'] };
  await cloneWorkspace(testContext(sandbox.folder), request);
  peer = await serveForTest(sandbox.path('served'));
});
afterEach(async () => {
  await peer?.close();
  sandbox[Symbol.dispose]();
});

const contextIn = (folder: string) =>
  testContext(folder, {
    environment: { DRAY_TOKEN: TEST_TOKEN, DRAY_TOKEN_HOST: `dray://127.0.0.1:${peer.address.port}?tls=off` },
  });
const context = () => contextIn(sandbox.folder);
const served = (path: string) => `dray://127.0.0.1:${peer.address.port}/${path}?tls=off`;
const place = (text: string) => ({ place: text });
const outsideOf = (one: ReturnType<typeof context>) =>
  eventsOf(one, 'warning').flatMap(({ message, warning }) => (warning === 'outsidePart' ? [message] : []));

describe.each([
  ['by this machine', () => sandbox.path('served/part'), {}],
  ['by a peer', () => served('part'), {}],
  ['by a peer, as objects', () => served('part'), { links: true }],
] as const)('A sync from a part that is read %s', (_name, source, options) => {
  it('deletes what was deleted in the part, and leaves the rest', async () => {
    rmSync(sandbox.path('served/part/a/1'));
    sandbox.write('served/part/a/sub/new', 'new');
    const run = context();
    const summary = await syncTree(run, {
      source: place(source()),
      destination: place(whole),
      ...options,
    });
    expect(summary).toMatchObject({ copiedFiles: 1, deletedFiles: 1, failed: 0 });
    expect(existsSync(`${whole}/a/1`)).toBe(false);
    expect(await status(testContext(whole), {})).toMatchObject({
      changes: { added: 1, deleted: 1, modified: 0 },
    });
    expect(outsideOf(run)).toEqual([
      expect.stringMatching(/holds a part of a dataset.* 3 files .* were not deleted/),
    ]);
  });

  it('says so in a dry run', async () => {
    const run = context();
    const request = { source: place(source()), destination: place(whole), dryRun: true, ...options };
    expect(await syncTree(run, request)).toMatchObject({ copiedFiles: 0, deletedFiles: 0 });
    expect(outsideOf(run)).toEqual([expect.stringContaining('3 files')]);
  });

  it('deletes all else once the workspace holds everything', async () => {
    await scope(testContext(sandbox.path('served/part')), { action: 'clear' });
    sandbox.write('whole/extra', 'x');
    const run = context();
    const request = { source: place(source()), destination: place(whole), ...options };
    expect(await syncTree(run, request)).toMatchObject({ deletedFiles: 1 });
    expect(outsideOf(run)).toEqual([]);
  });
});

it('A sync whose source is narrowed meanwhile deletes nothing that has left', async () => {
  const names = Array.from({ length: 1_100 }, (_, at) => `many/${at}`);
  for (const name of names) sandbox.write(`whole/${name}`, '');
  await push(testContext(whole), {});
  const part = sandbox.path('served/part');
  await pull(testContext(part), {});
  await scope(testContext(part), { action: 'only', patterns: ['many', 'a', 'z'] });
  sandbox.write('served/part/z', 'last');
  await push(testContext(part), {});
  await pull(testContext(whole), {});
  let narrowing: Promise<unknown> | undefined;
  const drained = async () => {
    narrowing ??= scope(testContext(part), { action: 'drop', patterns: ['z'] });
    await narrowing;
  };
  const run = { ...context(), drained };
  expect(await syncTree(run, { source: place(part), destination: place(whole) })).toMatchObject({
    deletedFiles: 0,
  });
  expect(await narrowing).toMatchObject({ removed: 1 });
  expect(readFileSync(`${whole}/z`, 'utf8')).toBe('last');
});

describe.each([
  ['by this machine', (path: string) => sandbox.path(`served/${path}`)],
  ['by a peer', (path: string) => served(path)],
] as const)('A sync that is read %s', (_name, sourceOf) => {
  it('from a folder inside of a part leaves what lies outside', async () => {
    const run = context();
    const request = { source: place(sourceOf('part/a')), destination: place(`${whole}/a`) };
    expect(await syncTree(run, request)).toMatchObject({ deletedFiles: 0 });
    expect(outsideOf(run)).toEqual([expect.stringContaining('1 file ')]);
  });

  it('from a folder above parts leaves what each of them does not hold', async () => {
    sandbox.write('copy/part/a/1', 'of a/1');
    sandbox.write('copy/part/a/2', 'of a/2');
    sandbox.write('copy/part/a/sub/gone', 'deleted in the part');
    sandbox.write('copy/other', 'in no part');
    const run = context();
    const request = {
      source: place(sourceOf('')),
      destination: place(sandbox.path('copy')),
      filter: { rules: [{ action: 'exclude', pattern: '/store/**' } as const] },
    };
    expect(await syncTree(run, request)).toMatchObject({ deletedFiles: 2 });
    expect(readFileSync(sandbox.path('copy/part/a/2'), 'utf8')).toBe('of a/2');
    expect(outsideOf(run)).toEqual([expect.stringContaining('1 file ')]);
  });

  it('deletes nothing of a workspace whose part it cannot read', async () => {
    writeFileSync(sandbox.path('served/part/.dray/state.json'), '{"format":9}');
    const run = context();
    const request = { source: place(sourceOf('part')), destination: place(whole) };
    expect(await syncTree(run, request)).toMatchObject({ deletedFiles: 0 });
    expect(outsideOf(run)).toEqual([expect.stringContaining('3 files')]);
  });
});

describe('A workspace that holds a part, at another machine', () => {
  it('clones from and pushes to a repository there, and takes nothing for deleted', async () => {
    const url = served('store');
    const request = { url, directory: 'mine', only: ['b'] };
    await cloneWorkspace(context(), request);
    const mine = contextIn(sandbox.path('mine'));
    sandbox.write('mine/b/new', 'new');
    expect(await push(mine, {})).toMatchObject({ changes: { added: 1, deleted: 0 } });
    await scope(mine, { action: 'only', patterns: ['c'] });
    expect(await push(mine, {})).toMatchObject({ result: 'nothingToPush' });
    expect(await pull(testContext(whole), {})).toMatchObject({ changes: { added: 1, deleted: 0 } });
  });

  it('takes what a sync brings outside of its part for files outside, and pushes none of them', async () => {
    rmSync(`${whole}/a/sub/3`);
    const request = { source: place(whole), destination: place(served('part')) };
    expect(await syncTree(context(), request)).toMatchObject({ copiedFiles: 3, deletedFiles: 1 });
    const part = testContext(sandbox.path('served/part'));
    expect(await status(part, {})).toMatchObject({
      changes: { deleted: 1 },
      scope: { outside: { count: 3 } },
    });
    await push(part, {});
    expect(await pull(testContext(whole), {})).toMatchObject({ result: 'pulled' });
    expect(describeTree(whole).filter((line) => !line.endsWith('/'))).toHaveLength(4);
  });
});
