import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SAMPLE_DAYS, type VerifyRequest } from '../../api/jobs/jobs.ts';
import { collectGarbage } from '../collect/collect.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { forget } from '../retention/forget.ts';
import { keysBelow, spoilObject, tipOf, truncateObject } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { branch, tag } from './refs.ts';
import { verify } from './verify.ts';

const FILES = 40;

let sandbox: Sandbox;
let root: string;
let remote: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  remote = sandbox.path('store');
  mkdirSync(root, { recursive: true });
  await initWorkspace(testContext(root), { remoteUrl: remote, layout: { kind: 'objects' } });
  for (let at = 0; at < FILES; at += 1) sandbox.write(`work/${at}`, `content ${at}`.repeat(at + 1));
  await push(testContext(root), {});
});
afterEach(() => sandbox[Symbol.dispose]());

const verified = (request: VerifyRequest = {}) => verify(testContext(root), request);

async function findings(): Promise<string[]> {
  const context = testContext(root);
  await verify(context, {});
  return eventsOf(context, 'check')
    .filter(({ result }) => result === 'failed')
    .map(({ detail }) => detail);
}

/** Two commits, of which the first is forgotten and collected: round 1. */
async function collectOnce() {
  sandbox.write('work/0', 'another');
  await push(testContext(root), {});
  await forget(testContext(root), { policy: { keepLast: 1 } });
  expect(await collectGarbage(testContext(root), { graceSeconds: 0 })).toMatchObject({ removedObjects: 1 });
}

describe('verify of a sample', () => {
  it('reads with all parts each object once', async () => {
    const parts = [1, 2, 3, 4, 5].map((part) => ({ kind: 'part', part, of: 5 }) as const);
    const read = [];
    for (const sample of parts) read.push(await verified({ sample }));
    expect(read.map(({ sample }) => sample)).toEqual(['1/5', '2/5', '3/5', '4/5', '5/5']);
    expect(read.reduce((sum, { readObjects }) => sum + readObjects, 0)).toBe(FILES);
    expect(read.reduce((sum, { readBytes }) => sum + readBytes, 0)).toBe(read[0]!.storedBytes);
  });

  it('finds a damage in exactly one of the parts', async () => {
    spoilObject(remote, keysBelow(remote, 'objects')[3]!, 2);
    const damaged = [];
    for (let part = 1; part <= 4; part += 1)
      damaged.push((await verified({ sample: { kind: 'part', part, of: 4 } })).damaged);
    expect(damaged.sort()).toEqual([0, 0, 0, 1]);
    expect(await verified()).toMatchObject({ damaged: 0, readObjects: 0 });
  });

  it('reads so many objects, and no more bytes than allowed', async () => {
    expect(await verified({ sample: { kind: 'objects', count: 7 } })).toMatchObject({ readObjects: 7 });
    expect(await verified({ sample: { kind: 'objects', count: 70 } })).toMatchObject({ readObjects: FILES });
    const { readBytes, readObjects } = await verified({ sample: { kind: 'bytes', bytes: 1_000 } });
    expect(readBytes).toBeLessThanOrEqual(1_000);
    expect(readObjects).toBeGreaterThan(0);
    expect(await verified({ sample: { kind: 'bytes', bytes: 1 } })).toMatchObject({ readObjects: 1 });
  });

  it('reads without a value the part of the day', async () => {
    const { sample } = await verified({ sample: { kind: 'today' } });
    const [part, of] = sample!.split('/').map(Number);
    expect(of).toBe(SAMPLE_DAYS);
    expect(part).toBeGreaterThanOrEqual(1);
    expect(part).toBeLessThanOrEqual(SAMPLE_DAYS);
  });
});

describe('verify', () => {
  it('reports that every branch and tag is gone', async () => {
    const tip = tipOf(remote);
    rmSync(sandbox.path('store/refs'), { recursive: true });
    expect(await findings()).toEqual([
      `refs/ is damaged: no branch and no tag is left, but this workspace knows the commit ${tip.slice(0, 12)}.`,
    ]);
  });

  it('finds a repository whole after a collection, with a removed branch and a pending tag', async () => {
    await collectOnce();
    await branch(testContext(root), { name: 'side' });
    await branch(testContext(root), { name: 'side', remove: true });
    await tag(testContext(root), { name: 'v1' });
    const path = sandbox.path('store/refs/tags/v1');
    const ref = {
      ...JSON.parse(readFileSync(path, 'utf8')),
      state: 'pending',
      nonce: 'x',
      commit: 'a'.repeat(64),
    };
    writeFileSync(path, JSON.stringify(ref));
    expect(await verified({ readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
    writeFileSync(path, '{"format":1');
    expect(await findings()).toEqual([expect.stringContaining('refs/tags/v1 is damaged')]);
  });

  it('names the file of a damaged object of a later generation', async () => {
    await collectOnce();
    sandbox.write('work/0', 'content 0');
    await push(testContext(root), {});
    const later = keysBelow(remote, 'objects').filter((key) => key.endsWith('.1'));
    expect(later).toHaveLength(1);
    spoilObject(remote, later[0]!, 2);
    const context = testContext(root);
    expect(await verify(context, { readDataPercent: 100 })).toMatchObject({ damaged: 1, affectedPaths: 1 });
    expect(eventsOf(context, 'check')).toMatchObject([{ check: 'damaged', paths: ['0'] }]);
  });

  it('reports a damaged list of retention, state and lists of a collection', async () => {
    await collectOnce();
    const state = sandbox.path('store/collection.json');
    const good = readFileSync(state, 'utf8');
    const { avoid, refs } = JSON.parse(good) as { avoid: string[]; refs: string };
    const lists = [...avoid, refs].map((name) => `collection/${name.slice(0, 2)}/${name.slice(2)}`);
    expect(keysBelow(remote, 'collection')).toEqual(lists.toSorted());
    truncateObject(remote, 'retention.json', 3);
    rmSync(sandbox.path('store', lists[0]!));
    expect(await findings()).toEqual([
      expect.stringContaining(`${lists[0]} is damaged`),
      expect.stringContaining('retention.json is damaged'),
      expect.anything(),
    ]);
    writeFileSync(state, good.slice(0, 40));
    expect(await findings()).toContainEqual(expect.stringContaining('collection.json is damaged'));
    rmSync(state);
    expect(await findings()).toContainEqual(
      'collection.json is damaged: it is missing, but refs/heads/main knows round 1.',
    );
  });
});
