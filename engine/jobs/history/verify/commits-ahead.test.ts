import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import type { CommitHash } from '../../../model/entry.ts';
import { createMemoryStore } from '../../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import { encodeCommit, storeCommit } from '../../../repository/commit.ts';
import { commitKey } from '../../../repository/keys.ts';
import { EMPTY_MANIFEST, totalsOfManifest } from '../../../repository/manifest/manifest.ts';
import { createAdaptiveLimit } from '../../../transfer/limit/adaptive-limit.ts';
import { onEachRequest } from '../../collect/collected-repository.fixture.ts';
import { readCommitsAhead } from './commits-ahead.ts';
import { walkCommits } from './find-commits.ts';

/** From the newest to the first. */
async function storeChain(store: ObjectStore, length: number): Promise<readonly CommitHash[]> {
  const chain: CommitHash[] = [];
  for (let at = 0; at < length; at += 1) {
    const commit = encodeCommit({
      repository: '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77',
      parents: chain.slice(0, 1),
      author: 'a',
      message: `${at}`,
      time: '2026-01-31T12:00:00.000Z',
      totals: totalsOfManifest(EMPTY_MANIFEST),
      manifest: EMPTY_MANIFEST,
    });
    await storeCommit(store, commit);
    chain.unshift(commit.hash);
  }
  return chain;
}

/** Walks through a store in which many requests are answered at once, but one after the other takes turns. */
async function walk(store: ObjectStore, tip: CommitHash) {
  let turns = 0;
  let turn: Promise<unknown> | undefined;
  const calls: string[] = [];
  const { store: counted } = onEachRequest(store, async (_, __, call) => {
    calls.push(call);
    turn ??= (async () => {
      // Whoever asks before it ends shares the turn.
      for (let at = 0; at < 20; at += 1) await setImmediate();
      turns += 1;
      turn = undefined;
    })();
    await turn;
  });
  const limit = createAdaptiveLimit({ clock: systemClock, fixed: 32 });
  const tools = { context: { signal: new AbortController().signal }, limit, store: counted };
  await using ahead = readCommitsAhead(tools);
  const seen: CommitHash[] = [];
  const found: unknown[] = [];
  await walkCommits(
    { ...tools, store: ahead.store },
    {
      tips: [tip],
      findings: { report: (error) => found.push(error) },
      onCommit: (hash) => {
        seen.push(hash);
      },
    },
  );
  return { calls, found, seen, turns };
}

it('a long history is read in few turns, and each commit once', async () => {
  const store = createMemoryStore();
  const chain = await storeChain(store, 100);
  const { calls, found, seen, turns } = await walk(store, chain[0]!);
  expect(found).toEqual([]);
  expect(seen).toEqual(chain);
  expect(calls.filter((call) => call.startsWith('list'))).toHaveLength(1);
  expect(calls.filter((call) => call.startsWith('read')).sort()).toEqual(
    chain.map((hash) => `read ${commitKey(hash)}`).sort(),
  );
  expect(turns).toBeLessThan(20);
});

it('a short history is not listed', async () => {
  const store = createMemoryStore();
  const chain = await storeChain(store, 3);
  const { calls, seen } = await walk(store, chain[0]!);
  expect(seen).toEqual(chain);
  expect(calls).toHaveLength(3);
});

it('a commit that is missing or damaged is reported as without reading ahead', async () => {
  const store = createMemoryStore();
  const chain = await storeChain(store, 30);
  await store.delete([commitKey(chain[20]!)]);
  const missing = await walk(store, chain[0]!);
  expect(missing.seen).toEqual(chain.slice(0, 20));
  expect(missing.found).toMatchObject([{ code: 'notFound', data: { commit: chain[20] } }]);
  await store.put(commitKey(chain[10]!), Buffer.from('no commit'));
  const damaged = await walk(store, chain[0]!);
  expect(damaged.seen).toEqual(chain.slice(0, 10));
  expect(damaged.found).toMatchObject([{ code: 'damaged', data: { key: commitKey(chain[10]!) } }]);
  // Bytes that arrived damaged are read again.
  expect(damaged.calls.filter((call) => call === `read ${commitKey(chain[10]!)}`)).toHaveLength(2);
});
