import { createCipheriv } from 'node:crypto';
import {
  chmodSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { tag } from '../history/refs.ts';
import { usage } from '../one-place/disk-usage.ts';
import { listPlace } from '../one-place/list-place.ts';
import { readPlace } from '../one-place/read-place.ts';
import { removePlace } from '../one-place/remove-place.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { checkTrees } from '../trees/check/check-trees.ts';
import { copyTree } from '../trees/copy-tree.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';

const MIB = 1024 * 1024;
const SMALL_FILES = 300;
const LARGE = Buffer.from(Uint8Array.from({ length: 12 * MIB }, (_, byte) => (byte * byte * 31) >> 7));
const RANGES_MIB = runBudget({ short: 24, long: 75 });
/** Only an encrypted repository asks for the password. Its recovery key then opens it, at no cost. */
const password = { DRAY_PASSWORD: 'secret' };

let sandbox: Sandbox;
let work: string;
beforeEach(() => {
  password.DRAY_PASSWORD = 'secret';
  sandbox = createSandbox();
  work = sandbox.path('work');
});
afterEach(() => sandbox[Symbol.dispose]());

const at = (directory: string, more = {}) => testContext(directory, { environment: password, ...more });

/** Two commits: the first is the tag v1. */
async function start({ encrypt = false } = {}): Promise<void> {
  for (let index = 0; index < SMALL_FILES; index += 1)
    sandbox.write(`work/small/${index}.txt`, `content ${index} `.repeat(40));
  sandbox.write('work/large', LARGE);
  sandbox.write('work/middle', Buffer.from('middle '.repeat(300_000)));
  sandbox.write('work/empty', '');
  sandbox.write('work/tool', 'run');
  chmodSync(join(work, 'tool'), 0o755);
  utimesSync(join(work, 'tool'), 1_500_000_000.123, 1_500_000_000.123);
  symlinkSync('small/1.txt', join(work, 'link'));
  mkdirSync(join(work, 'nothing'));
  const layout = { packBelow: 100_000, chunkAbove: 8 * MIB };
  const { recoveryKey } = await initWorkspace(at(work), {
    remoteUrl: sandbox.path('store'),
    layout,
    encrypt,
  });
  if (recoveryKey !== undefined) password.DRAY_PASSWORD = recoveryKey;
  await push(at(work), {});
  await tag(at(work), { name: 'v1' });
  sandbox.write('work/small/1.txt', 'later');
  await push(at(work), {});
}

const copy = (source: string, destination: string, directory = work) =>
  copyTree(at(directory), { source: { place: source }, destination: { place: sandbox.path(destination) } });

describe('a version as a place', () => {
  it.each([false, true])('is copied as a clone would write it; encrypted: %s', async (encrypt) => {
    await start({ encrypt });
    const clone = sandbox.path('clone');
    await cloneWorkspace(at(sandbox.path()), { url: sandbox.path('store'), directory: clone, ref: 'v1' });
    const { files, requests } = await copy('origin@v1:', 'out');
    expect(describeTree(sandbox.path('out'))).toEqual(describeTree(clone));
    expect(files).toBe(SMALL_FILES + 6);
    // The small files lie in a pack or two, so none of them has a request of its own.
    expect(requests.reads).toBeLessThan(40);
    const again = await copy(`file://${sandbox.path('store')}?ref=v1`, 'out', sandbox.path());
    expect(again).toMatchObject({ result: 'upToDate' });
  });

  it.each([
    ['in chunks', 8 * MIB],
    ['as one object', 100 * MIB],
  ])('gives large files by ranges, stored %s', async (_how, chunkAbove) => {
    const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16));
    const content = noise.update(Buffer.alloc(RANGES_MIB * MIB));
    sandbox.write('work/large', content);
    const layout = { packBelow: 100_000, chunkAbove };
    await initWorkspace(at(work), { remoteUrl: sandbox.path('store'), layout });
    await push(at(work), {});
    expect(await copy('origin@main:', 'out')).toMatchObject({ files: 1, failed: 0 });
    expect(content.equals(readFileSync(sandbox.path('out/large')))).toBe(true);
  });

  it('is copied in named parts: files, links and empty folders', async () => {
    await start();
    const ends = { source: { place: 'origin@v1:' }, destination: { place: sandbox.path('out') } };
    const filter = { filesFrom: ['tool', 'link', 'nothing/'] };
    expect(await copyTree(at(work), { ...ends, filter })).toMatchObject({ failed: 0, files: 3 });
    expect(readlinkSync(sandbox.path('out/link'))).toBe('small/1.txt');
    expect(readdirSync(sandbox.path('out')).sort()).toEqual(['link', 'nothing', 'tool']);
    expect(await copyTree(at(work), { ...ends, filter })).toMatchObject({ result: 'upToDate' });
  });

  it('is listed, measured, read and compared, whole or below a folder', async () => {
    await start();
    const listing = at(work);
    const { entries } = await listPlace(listing, { place: 'origin@v1:small' });
    expect(entries).toBe(SMALL_FILES);
    expect(eventsOf(listing, 'entry')[0]).toMatchObject({ path: '0.txt', kind: 'file' });
    expect(await usage(at(work), { place: 'origin@main:' })).toMatchObject({ files: SMALL_FILES + 4 });
    expect(await read('origin@v1:small/1.txt')).toBe('content 1 '.repeat(40));
    expect(await read('origin@main:small/1.txt')).toBe('later');
    expect((await read('origin@main:large')).length).toBeGreaterThan(0);
    const pair = { source: { place: 'origin@v1:small/' }, destination: { place: join(work, 'small') } };
    const check = at(work);
    await checkTrees(check, pair);
    expect(
      eventsOf(check, 'compared')
        .filter(({ result }) => result !== 'same')
        .map(({ path }) => path),
    ).toEqual(['1.txt']);
  });

  it('names what is wrong with it', async () => {
    await start();
    const code = (code: string) => ({ code });
    await expect(copy('origin@v2:', 'out')).rejects.toMatchObject(code('notFound'));
    await expect(copy('origin@v1:smal', 'out')).rejects.toMatchObject(code('notFound'));
    const missing = `file://${sandbox.path('store')}?ref=v1&path=smal`;
    await expect(copy(missing, 'out')).rejects.toMatchObject({
      ...code('notFound'),
      message: expect.stringContaining(missing),
    });
    await expect(copy('origin@v1:../x', 'out')).rejects.toMatchObject(code('usage'));
    await expect(copy('origin@v1:/small', 'out')).rejects.toMatchObject(code('usage'));
    await expect(removePlace(at(work), { place: 'origin@v1:tool' })).rejects.toMatchObject(code('usage'));
    const back = { source: { place: work }, destination: { place: 'origin@v1:' } };
    await expect(copyTree(at(work), back)).rejects.toMatchObject(code('usage'));
    for (const pack of globSync(`${sandbox.path('store')}/packs/**`).filter((path) =>
      /[0-9a-f]{60}/.test(path),
    ))
      truncateSync(pack, 100);
    const damaged = at(work);
    const request = { source: { place: 'origin@v1:' }, destination: { place: sandbox.path('rest') } };
    const { failed, files } = await copyTree(damaged, request);
    expect(failed).toBeGreaterThanOrEqual(SMALL_FILES - 5);
    expect(files).toBe(SMALL_FILES + 6);
    expect(new Set(eventsOf(damaged, 'fileFailed').map(({ error }) => error.code))).toEqual(
      new Set(['damaged']),
    );
  });
});

async function read(place: string): Promise<string> {
  let text = '';
  await readPlace(at(work), { place }, async (chunk) => {
    text += Buffer.from(chunk).toString('latin1');
  });
  return text;
}
