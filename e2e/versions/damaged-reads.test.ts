/** Dray fetches a damaged body once more. If the second answer is damaged too, the error names the object. */
import { mkdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { findCutPath } from '../../engine/repository/manifest/cut-path.fixture.ts';
import { SEGMENT_MIN_ENTRIES } from '../../engine/repository/manifest/segment-cutter.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../fresh-store.ts';
import type { FakeRequest, Fault } from '../servers/fake-s3.ts';

freshStorePerTest();

let work: string;
beforeEach(() => {
  work = sandbox.path('work');
  mkdirSync(work);
});

const url = () => `s3://${store.bucket}/data`;
const clone = () => cloneWorkspace(contextIn(), { url: url(), directory: sandbox.path('copy') });

/** A repository with packs, objects, chunks and segments. */
async function startRepository(): Promise<void> {
  await initWorkspace(contextIn(work), {
    remoteUrl: url(),
    layout: { packBelow: 512, chunkAbove: 2_000_000 },
  });
  for (let at = 0; at < SEGMENT_MIN_ENTRIES; at += 1)
    sandbox.write(`work/${at % 7}/${at}`, `content of ${at}`);
  sandbox.write(`work/${findCutPath('7')}`, 'the last of its segment');
  sandbox.write('work/object', Buffer.alloc(1_500, 'o'));
  sandbox.write('work/chunked', Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * at) >> 7)));
  await push(contextIn(work), {});
}

const DOCUMENTS_AND_BLOBS = /^data\/(?:commits|manifests|objects|packs)\//;

/**
 * Damages the first answer for each key, so that every kind of read meets a damaged one.
 * @returns The keys whose answers were damaged.
 */
function damageFirst(fault: Fault, keys = DOCUMENTS_AND_BLOBS): Set<string> {
  const damaged = new Set<string>();
  store.fault = ({ key, method }: FakeRequest) => {
    if (method !== 'GET' || !keys.test(key) || damaged.has(key)) return undefined;
    damaged.add(key);
    return fault;
  };
  return damaged;
}

describe('A repository whose answers are damaged once', () => {
  it.each([
    ['other bytes', { spoiled: true }],
    ['fewer bytes', { announced: 3 }],
  ] as const)('is cloned whole with one more request for each: %s', async (_, fault) => {
    await startRepository();
    const damaged = damageFirst(fault);
    expect(await clone()).toMatchObject({ failed: 0 });
    expect(describeTree(sandbox.path('copy'))).toEqual(describeTree(work));
    const kinds = new Set([...damaged].map((key) => key.split('/')[1]));
    expect(kinds).toEqual(new Set(['commits', 'manifests', 'objects', 'packs']));
  });

  it('passes a verify that reads it', async () => {
    await startRepository();
    const damaged = damageFirst({ spoiled: true }, /^data\/(?:objects|packs)\//);
    expect(await verify(contextIn(work), { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
    expect(damaged.size).toBeGreaterThan(2);
  });

  it('is reported as damaged when the second answer is damaged as well', async () => {
    await startRepository();
    store.fault = ({ key, method }) =>
      method === 'GET' && key.startsWith('data/packs/') ? { spoiled: true } : undefined;
    expect((await clone()).failed).toBeGreaterThan(SEGMENT_MIN_ENTRIES);
    const pack = [...store.objects.keys()].find((key) => key.startsWith('data/packs/'))!;
    expect(store.log.filter((line) => line === `GET ${pack}`)).toHaveLength(2);
  });
});

describe('A plain object whose answer is damaged once', () => {
  it.each([
    ['other bytes', { spoiled: true }],
    ['fewer bytes', { announced: 3 }],
  ] as const)('is copied whole: %s', async (_, fault) => {
    store.objects.set('tree/a', Buffer.from('content'));
    const damaged = damageFirst(fault, /^tree\//);
    const request = {
      source: { place: `s3://${store.bucket}/tree` },
      destination: { place: sandbox.path('down') },
    };
    expect(await copyTree(contextIn(), request)).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(damaged.size).toBe(1);
    expect(describeTree(sandbox.path('down'), { times: false })).toEqual([`a - ${btoa('content')}`]);
  });
});
