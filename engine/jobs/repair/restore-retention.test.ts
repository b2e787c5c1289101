/** The list of forgotten commits is lost after a collection. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noise } from '../../peer/peer.fixture.ts';
import { collectGarbage } from '../collect/collect.ts';
import { log } from '../history/log.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { forget } from '../retention/forget.ts';
import { keysBelow, tipOf } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { repair } from './repair.ts';

let sandbox: Sandbox;
let root: string;
let remote: string;
/** By message. */
let commits: Record<string, string>;

const WHOLE = { missing: 0, damaged: 0 };
const POLICY = { keepLast: 2 };
const listPath = () => `${remote}/retention.json`;
const statePath = () => `${remote}/collection.json`;
const list = () => JSON.parse(zstdDecompressSync(readFileSync(listPath())).toString());
const state = () => JSON.parse(readFileSync(statePath(), 'utf8'));
const collected = () => collectGarbage(testContext(root), { graceSeconds: 0 });
const hashesOf = (...names: readonly string[]) => names.map((name) => commits[name]);

/** A file of its own, and one in a pack with `shared`, which stays. */
async function pushed(message: string): Promise<void> {
  sandbox.write('work/large', noise(2_000, message.charCodeAt(1)));
  sandbox.write('work/small', noise(900, message.charCodeAt(1)));
  await push(testContext(root), { message });
  commits[message] = tipOf(remote);
}

async function forgottenInLog(): Promise<string[]> {
  const context = testContext(root);
  await log(context, {});
  return eventsOf(context, 'commit').flatMap(({ isForgotten, message }) => (isForgotten ? [message] : []));
}

beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  remote = sandbox.path('store');
  commits = {};
  mkdirSync(root, { recursive: true });
  await initWorkspace(testContext(root), { remoteUrl: remote, layout: { packBelow: 1_000, chunkAbove: 0 } });
  sandbox.write('work/shared', 's');
  for (const name of ['one', 'two', 'three', 'four']) await pushed(name);
  await forget(testContext(root), { policy: POLICY, save: true });
  await collected();
  // The pack with `shared`, which the kept commits name, was written anew.
  expect(keysBelow(remote, 'relocations')).toHaveLength(1);
});
afterEach(() => sandbox[Symbol.dispose]());

describe('repair of the list of forgotten commits', () => {
  it.each([
    ['is missing', () => rmSync(listPath()), false],
    ['is damaged', () => writeFileSync(listPath(), 'no list'), false],
    [
      'is shorter',
      () =>
        writeFileSync(
          listPath(),
          zstdCompressSync(JSON.stringify({ ...list(), forgotten: [], sha256: undefined })),
        ),
      true,
    ],
  ])('makes it again where it %s', async (_, harm, isPolicyKept) => {
    const before = list();
    harm();
    expect(await repair(testContext(root), { dryRun: true })).toMatchObject({ result: 'wouldRepair' });
    const context = testContext(root);
    expect(await repair(context, {})).toMatchObject({ result: 'repaired', found: 1, left: 0 });
    const [warning] = eventsOf(context, 'warning').filter((one) => one.warning === 'retentionRestored');
    expect(warning!.message).toContain('It has 2 of 2 forgotten commits.');
    expect(warning!.message).not.toContain('The others');
    expect(warning!.message.includes('The policy that was kept with the list is lost.')).toBe(!isPolicyKept);
    expect(list()).toEqual({
      ...before,
      forgotten: hashesOf('one', 'two'),
      policy: isPolicyKept ? POLICY : undefined,
      sha256: expect.any(String),
    });
    expect(await forgottenInLog()).toEqual(['two', 'one']);
    expect(await verify(testContext(root), { readDataPercent: 100 })).toMatchObject({
      forgotten: 2,
      ...WHOLE,
    });
    await pushed('five');
    await forget(testContext(root), { policy: POLICY });
    expect(list().forgotten).toEqual(hashesOf('one', 'two', 'three'));
    await collected();
    await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'copy' });
    expect(describeTree(sandbox.path('copy'))).toEqual(describeTree(root));
  });

  it('keeps a forgotten commit whose content is all there, and the next collection removes nothing of it', async () => {
    await forget(testContext(root), { policy: { keepLast: 1 } });
    // A collection that is stopped before it removes anything has counted the third.
    writeFileSync(statePath(), JSON.stringify({ ...state(), sha256: undefined, forgotten: 3 }));
    rmSync(listPath());
    const context = testContext(root);
    expect(await repair(context, {})).toMatchObject({ result: 'repaired', left: 0 });
    expect(eventsOf(context, 'warning').map(({ message }) => message)).toContainEqual(
      expect.stringContaining('It has 2 of 3 forgotten commits. The others have all their content'),
    );
    expect(list().forgotten).toEqual(hashesOf('one', 'two'));
    expect(state()).toMatchObject({ phase: 'done', forgotten: 2 });
    const content = keysBelow(remote, 'objects');
    await collected();
    expect(keysBelow(remote, 'objects')).toEqual(content);
    expect(await verify(testContext(root), { ref: commits.three! })).toMatchObject(WHOLE);
  });

  it('goes on after a stop between the list and the state', async () => {
    writeFileSync(statePath(), JSON.stringify({ ...state(), sha256: undefined, forgotten: 3 }));
    rmSync(listPath());
    const controller = new AbortController();
    const take = () => {
      if (keysBelow(remote, '').includes('/retention.json')) controller.abort();
      return undefined;
    };
    const stopped = testContext(root, { signal: controller.signal, requestThrottle: { take } });
    await expect(repair(stopped, {})).rejects.toMatchObject({ code: 'aborted' });
    expect(state()).toMatchObject({ forgotten: 3 });
    await expect(forgottenInLog()).rejects.toMatchObject({ data: { key: 'retention.json' } });
    expect(await repair(testContext(root), {})).toMatchObject({ result: 'repaired', left: 0 });
    expect(await forgottenInLog()).toEqual(['two', 'one']);
  });

  it('takes content that is lost without a collection for damage, and not for forgotten', async () => {
    const kept = keysBelow(remote, 'objects');
    rmSync(listPath());
    for (const key of kept) rmSync(`${remote}/${key}`);
    expect(await repair(testContext(root), {})).toMatchObject({ result: 'repaired' });
    expect(list().forgotten).toEqual(hashesOf('one', 'two'));
  });

  it('refuses if more commits have lost content than were forgotten, and writes nothing', async () => {
    writeFileSync(statePath(), JSON.stringify({ ...state(), sha256: undefined, forgotten: 1 }));
    rmSync(listPath());
    const before = keysBelow(remote, '');
    await expect(repair(testContext(root), {})).rejects.toMatchObject({ data: { reason: 'uncertain' } });
    expect(keysBelow(remote, '')).toEqual(before);
  });

  it('waits for a collection that removes content', async () => {
    writeFileSync(statePath(), JSON.stringify({ ...state(), sha256: undefined, phase: 'sealed' }));
    rmSync(listPath());
    await expect(repair(testContext(root), {})).rejects.toMatchObject({
      data: { reason: 'unfinishedCollection' },
    });
    await expect(collected()).rejects.toMatchObject({ data: { key: 'retention.json' } });
    expect(await repair(testContext(root), {})).toMatchObject({ result: 'repaired', left: 0 });
    expect(list().forgotten).toEqual(hashesOf('one', 'two'));
  });
});
