import { readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectGarbage } from '../collect/collect.ts';
import { branch, tag } from '../history/refs.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { initWorkspace } from '../remotes/init.ts';
import { forget } from '../retention/forget.ts';
import { keysBelow } from '../session/damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { push } from './push.ts';

let sandbox: Sandbox;
let work: string;
let remote: string;
beforeEach(() => {
  sandbox = createSandbox();
  work = sandbox.path('work');
  remote = sandbox.path('remote');
});
afterEach(() => sandbox[Symbol.dispose]());

async function init(kind?: 'objects'): Promise<void> {
  sandbox.write('work/first', 'first');
  await initWorkspace(testContext(work), {
    remoteUrl: remote,
    ...(kind ? { layout: { kind } } : {}),
  });
  await push(testContext(work), {});
}

async function clone(name: string): Promise<string> {
  const root = sandbox.path(name);
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: root });
  return root;
}

const collect = (root = work) => collectGarbage(testContext(root), { graceSeconds: 0 });

/** Pushes content, removes it, and forgets all but the last commit: then only garbage has it. */
async function pushAndForget(path: string, content: Uint8Array | string): Promise<void> {
  sandbox.write(`work/${path}`, content);
  await push(testContext(work), {});
  rmSync(`${work}/${path}`);
  await push(testContext(work), {});
  await forget(testContext(work), { policy: { keepLast: 1 } });
}

async function expectWhole(path: string, content: Uint8Array | string): Promise<void> {
  expect(await verify(testContext(work), { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
  const copy = await clone(`copy-${path}`);
  expect(readFileSync(`${copy}/${path}`).equals(Buffer.from(content))).toBe(true);
}

describe('content that comes back after a collection', () => {
  it('is sent again under another key: an object', async () => {
    await init('objects');
    await pushAndForget('old', 'the old content');
    const [first] = keysBelow(remote, 'objects').filter((key) => !key.includes('.'));
    expect((await collect()).removedObjects).toBeGreaterThan(0);
    sandbox.write('work/old', 'the old content');
    await push(testContext(work), {});
    expect(first).toBeDefined();
    expect(keysBelow(remote, 'objects').filter((key) => key.endsWith('.1'))).toHaveLength(1);
    await expectWhole('old', 'the old content');
  });

  it('is sent again under another key: a pack and the commit that it made', async () => {
    await init();
    await pushAndForget('old', 'the old content');
    const before = keysBelow(remote, 'packs');
    expect((await collect()).removedObjects).toBeGreaterThan(0);
    const removed = before.filter((key) => !keysBelow(remote, 'packs').includes(key));
    expect(removed).toHaveLength(1);
    sandbox.write('work/old', 'the old content');
    await push(testContext(work), {});
    expect(keysBelow(remote, 'packs')).not.toContain(removed[0]);
    await expectWhole('old', 'the old content');
  });

  it('is sent again chunk by chunk, and a second time after another collection', async () => {
    const content = Buffer.alloc(70 * 1024 * 1024, 7);
    for (let at = 0; at < content.length; at += 4096) content.writeUInt32LE(at, at);
    await init();
    for (const round of [1, 2]) {
      await pushAndForget('large', content);
      await collect();
      sandbox.write('work/large', content);
      await push(testContext(work), {});
      const again = keysBelow(remote, 'objects');
      expect(again.length).toBeGreaterThan(3);
      expect(again.every((key) => key.endsWith(`.${round}`))).toBe(true);
    }
    await expectWhole('large', content);
  });

  it('is not taken from what another workspace remembers', async () => {
    await init('objects');
    const other = await clone('other');
    await pushAndForget('old', 'the old content');
    await pull(testContext(other), {});
    await collect();
    sandbox.write('other/old', 'the old content');
    await push(testContext(other), {});
    await pull(testContext(work), {});
    await expectWhole('old', 'the old content');
  });
});

describe('a workspace whose base was collected', () => {
  it('is refused by a push that would have to merge, and pulls first', async () => {
    await init();
    const other = await clone('other');
    sandbox.write('work/first', 'second');
    await push(testContext(work), {});
    await forget(testContext(work), { policy: { keepLast: 1 } });
    await collect();
    sandbox.write('other/own', 'own');
    await expect(push(testContext(other), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { reason: 'baseCollected' },
    });
    await pull(testContext(other), {});
    await push(testContext(other), {});
    expect(await verify(testContext(other), { readDataPercent: 100 })).toMatchObject({
      missing: 0,
      damaged: 0,
    });
    expect(readFileSync(`${other}/first`, 'utf8')).toBe('second');
  });
});

describe('a tag or a branch of what may be collected', () => {
  it('can be given to a commit that is kept, and not to one that is gone', async () => {
    await init();
    const kept = (await push(testContext(work), {})).commit!;
    await switchBranch(testContext(work), { name: 'trial', create: true });
    sandbox.write('work/trial', 'trial');
    const gone = (await push(testContext(work), {})).commit!;
    await switchBranch(testContext(work), { name: 'main' });
    await branch(testContext(work), { name: 'trial', remove: true });
    await collect();
    await tag(testContext(work), { name: 'v1', ref: kept });
    await expect(tag(testContext(work), { name: 'v2', ref: gone })).rejects.toThrow(/missing|collection/);
    // A name that was removed can be used again.
    await branch(testContext(work), { name: 'trial', ref: kept });
    await collect();
    expect(await verify(testContext(work), {})).toMatchObject({ missing: 0, damaged: 0 });
  });
});
