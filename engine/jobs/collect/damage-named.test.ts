/** What `gc`, `verify` and `repair` say when a relocation is lost or altered, and the way out. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { repair } from '../repair/repair.ts';
import { forget } from '../retention/forget.ts';
import { keysBelow, onlyKey } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { collectGarbage } from './collect.ts';

let sandbox: Sandbox;
let root: string;
let remote: string;
/** Of the pack that was written anew. */
let relocation: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  remote = sandbox.path('store');
  mkdirSync(root);
  await initWorkspace(testContext(root), { remoteUrl: remote });
  for (const name of ['1', '2', '3', '4', '5', '6']) sandbox.write(`work/${name}`, randomBytes(1_000));
  await push(testContext(root), {});
  for (const name of ['3', '4', '5', '6']) rmSync(join(root, name));
  await push(testContext(root), {});
  await forget(testContext(root), { policy: { keepLast: 1 } });
  expect(await collect()).toMatchObject({ repackedPacks: 1 });
  relocation = onlyKey(remote, 'relocations');
});
afterEach(() => sandbox[Symbol.dispose]());

const collect = () => collectGarbage(testContext(root), { graceSeconds: 0 });
const packOf = (key: string) => key.replace('relocations', 'packs');

async function findings(): Promise<readonly string[]> {
  const context = testContext(root);
  await verify(context, {});
  return eventsOf(context, 'check')
    .filter(({ result }) => result === 'failed')
    .map(({ detail }) => detail);
}

/** Exchanges the new places of both blobs, which have one size. */
function alter(isWithDigest: boolean): void {
  const path = join(remote, relocation);
  const text = zstdDecompressSync(readFileSync(path)).toString('utf8');
  const swapped = text.replace('1000,0,0]', '1000,0,x]').replace('1000,0,1000]', '1000,0,0]');
  const changed = swapped.replace('1000,0,x]', '1000,0,1000]');
  expect(changed).not.toBe(text);
  const stored = isWithDigest ? changed : changed.replace(/,\n"sha256":"\w+"/, '');
  writeFileSync(path, zstdCompressSync(Buffer.from(stored)));
}

it('a lost relocation ends a collection, and verify names its pack; put back, everything is there', async () => {
  const bytes = readFileSync(join(remote, relocation));
  rmSync(join(remote, relocation));
  const before = keysBelow(remote, 'packs');
  await expect(collect()).rejects.toMatchObject({
    code: 'damaged',
    data: { key: packOf(relocation) },
    message: expect.stringContaining(`no ${relocation} says where its content is now`),
  });
  expect(keysBelow(remote, 'packs')).toEqual(before);
  expect(await findings()).toEqual([expect.stringContaining(packOf(relocation))]);
  writeFileSync(join(remote, relocation), bytes);
  expect(await collect()).toMatchObject({ result: 'nothingToCollect' });
  expect(await findings()).toEqual([]);
});

it.each([
  ['with a digest', true],
  ['of an older version', false],
])('an altered relocation %s ends a collection, and verify names it', async (_, isWithDigest) => {
  alter(isWithDigest);
  await expect(collect()).rejects.toMatchObject({ code: 'damaged', data: { key: relocation } });
  expect(await findings()).toContainEqual(expect.stringContaining(relocation));
});

it.each([
  ['lost', () => rmSync(join(remote, relocation))],
  ['altered', () => alter(true)],
  [
    'cut',
    () => writeFileSync(join(remote, relocation), readFileSync(join(remote, relocation)).subarray(0, 20)),
  ],
])('what the error advises gets a repository going again whose relocation is %s', async (_, damage) => {
  damage();
  const failure = await collect().catch((error: unknown) => error);
  expect(failure).toMatchObject({
    data: { command: 'dray repair', advice: expect.stringMatching(/"dray repair".*"dray forget"/) },
  });
  expect(await repair(testContext(root), {})).toMatchObject({ result: 'repaired', leftInBranch: 0 });
  await forget(testContext(root), { policy: { keepLast: 1 } });
  await collect();
  expect(await findings()).toEqual([]);
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'copy' });
  expect(describeTree(sandbox.path('copy'))).toEqual(describeTree(root));
});
