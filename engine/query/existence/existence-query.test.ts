import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import type { QueryMode } from '../../api/events.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import type { BlobHash } from '../../model/entry.ts';
import type { RemoteEstimate } from './estimate-objects.ts';
import { createExistenceQuery, type ExistenceOptions } from './existence-query.ts';
import { DEFAULT_COSTS, eachCost, PAGE_OBJECTS, WINDOWS_MAX, weigh } from './plan-query.ts';
import {
  createSimulatedRemote,
  type SimulatedRemote,
  sizeOfSimulated,
  strangeHashes,
} from './simulated-remote.fixture.ts';

function queryOf(
  remote: SimulatedRemote,
  options: Partial<ExistenceOptions> & { readonly expectedCandidates: number },
) {
  return createExistenceQuery({
    probe: remote.probe,
    mode: 'auto',
    isEmpty: false,
    costs: DEFAULT_COSTS,
    clock: remote.clock,
    ...options,
  });
}

/** This many candidates, half of them on the remote if it has enough. */
function candidatesFor(remote: SimulatedRemote, count: number, seed = 1): readonly BlobHash[] {
  const present = remote.someObjects(Math.floor(count / 2));
  return [...present, ...strangeHashes(seed, count - present.length)];
}

function expectRight(
  remote: SimulatedRemote,
  hashes: readonly BlobHash[],
  found: ReadonlyMap<BlobHash, number>,
): void {
  const sizeOf = (hash: BlobHash) => (remote.holds(hash) ? sizeOfSimulated(hash) : undefined);
  const wrong = hashes.filter((hash) => found.get(hash) !== sizeOf(hash));
  expect(wrong).toEqual([]);
}

describe('the existence query', () => {
  it('sends one HEAD for one candidate against 50,000 objects', async () => {
    const remote = createSimulatedRemote({ seed: 1, objects: 50_000 });
    const query = queryOf(remote, { expectedCandidates: 1 });
    const [hash] = remote.someObjects(1);
    expect(await query.resolve([hash as BlobHash])).toEqual(
      new Map([[hash, sizeOfSimulated(hash as BlobHash)]]),
    );
    expect([remote.heads(), remote.lists()]).toEqual([1, 0]);
    expect(query.explanation()).toMatchObject({
      chosen: 'each',
      candidates: 1,
      actual: { requests: 1, present: 1, absent: 0 },
    });
  });

  it('lists 50,000 objects for 500 candidates, in at most 72 listings and 80 requests in all', async () => {
    const near = { ...DEFAULT_COSTS, concurrency: 16, dollarsPerHead: 0, dollarsPerList: 0 };
    for (let seed = 0; seed < runBudget({ short: 1, long: 5 }); seed += 1) {
      for (const setting of [
        { headMs: 30, listMs: 100, costs: DEFAULT_COSTS },
        { headMs: 1, listMs: 350, costs: near },
      ]) {
        const remote = createSimulatedRemote({ seed, objects: 50_000, ...setting });
        const query = queryOf(remote, { expectedCandidates: 500, costs: setting.costs });
        const hashes = candidatesFor(remote, 500, seed);
        expectRight(remote, hashes, await query.resolve(hashes));
        expect(query.explanation()).toMatchObject({
          chosen: 'list',
          candidates: 500,
          remoteObjects: { from: 'sample' },
        });
        expect(remote.lists()).toBeLessThanOrEqual(72);
        expect(remote.heads() + remote.lists()).toBeLessThanOrEqual(80);
      }
    }
  });

  it('sends almost no request to a remote that turns out empty, and none to a known empty one', async () => {
    const hashes = strangeHashes(2, 50_000);
    const remote = createSimulatedRemote({ seed: 1, objects: 0 });
    expect((await queryOf(remote, { expectedCandidates: 50_000 }).resolve(hashes)).size).toBe(0);
    expect(remote.heads() + remote.lists()).toBeLessThanOrEqual(2);

    const fresh = createSimulatedRemote({ seed: 1, objects: 0 });
    const query = queryOf(fresh, { expectedCandidates: 50_000, isEmpty: true });
    expect((await query.resolve(hashes)).size).toBe(0);
    expect(fresh.heads() + fresh.lists()).toBe(0);
    expect(query.explanation()).toMatchObject({
      chosen: 'none',
      remoteObjects: { estimate: 0, from: 'known' },
    });
  });

  it('sends a HEAD for each of 300 candidates against ten million objects', async () => {
    const remote = createSimulatedRemote({ seed: 3, objects: 10_000_000 });
    const query = queryOf(remote, { expectedCandidates: 300 });
    const hashes = candidatesFor(remote, 300);
    expectRight(remote, hashes, await query.resolve(hashes));
    expect(query.explanation().chosen).toBe('each');
    expect(remote.heads()).toBeLessThanOrEqual(300);
    expect(remote.lists()).toBeLessThanOrEqual(WINDOWS_MAX);
  });

  it('is always right and asks each hash once, in any mode, with concurrent batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<QueryMode>('auto', 'each', 'list'),
        fc.integer(),
        fc.constantFrom(0, 1, 40, 900, 1_100, 2_500, 8_000),
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 1, max: 150 }),
        fc.boolean(),
        async (mode, seed, objects, count, batchSize, isUneven) => {
          const skew = isUneven ? (place: number) => place ** 2 : undefined;
          const remote = createSimulatedRemote({ seed, objects, ...(skew && { skew }) });
          const query = queryOf(remote, { mode, expectedCandidates: count });
          const hashes = candidatesFor(remote, count, seed);
          const batches: BlobHash[][] = [];
          for (let at = 0; at < hashes.length; at += batchSize)
            batches.push(hashes.slice(Math.max(0, at - 3), at + batchSize));
          const found = await Promise.all(batches.map((batch) => query.resolve(batch)));
          batches.forEach((batch, at) => {
            expectRight(remote, batch, found[at]!);
          });
          expect(Math.max(0, ...remote.asked.values())).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: runBudget({ short: 20, long: 60 }) },
    );
  });

  it('costs at most 1.3 times the better pure way, and sampling: nine listings and a HEAD', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.integer({ min: 0, max: 700 }),
        fc.integer({ min: 0, max: 360 }),
        fc.constantFrom({ headMs: 30, listMs: 100 }, { headMs: 5, listMs: 200 }, { headMs: 80, listMs: 120 }),
        fc.constantFrom(
          { dollarsPerHead: 0, dollarsPerList: 0 },
          { dollarsPerHead: 0.4e-6, dollarsPerList: 5e-6 },
        ),
        async (seed, objectsPower, countPower, latency, prices) => {
          const objects = Math.round(10 ** (objectsPower / 100));
          const count = Math.round(10 ** (countPower / 100));
          const costs = { ...DEFAULT_COSTS, ...latency, ...prices };
          const remote = createSimulatedRemote({ seed, objects, ...latency });
          await queryOf(remote, { expectedCandidates: count, costs }).resolve(
            candidatesFor(remote, count, seed),
          );

          const pages = (requests: number) => ({
            requests,
            seconds: (Math.max(1, requests / costs.concurrency) * costs.listMs) / 1_000,
            dollars: requests * costs.dollarsPerList,
          });
          const least = pages(Math.max(1, Math.ceil(objects / PAGE_OBJECTS)));
          const better = Math.min(weigh(least, costs), weigh(eachCost(count, costs), costs));
          const listed = pages(remote.lists());
          const asked = eachCost(remote.heads(), costs);
          const actual = weigh(
            {
              requests: listed.requests + asked.requests,
              seconds: listed.seconds + asked.seconds,
              dollars: listed.dollars + asked.dollars,
            },
            costs,
          );
          const sampling = weigh(pages(WINDOWS_MAX + 1), costs) + weigh(eachCost(1, costs), costs);
          expect(actual).toBeLessThanOrEqual(1.3 * better + sampling);
        },
      ),
      // A fixed seed: the bound holds for a usual sample; one in thousands exceeds it by a few percent.
      { numRuns: runBudget({ short: 8, long: 60 }), seed: 5 },
    );
  }, 120_000);

  it('loses little when far fewer candidates come than were expected', async () => {
    const remote = createSimulatedRemote({ seed: 6, objects: 2_000_000 });
    const query = queryOf(remote, { expectedCandidates: 1_000_000 });
    for (const hash of candidatesFor(remote, 40)) await query.resolve([hash]);
    expect(query.explanation().chosen).toBe('list');
    expect(remote.heads() + remote.lists()).toBeLessThanOrEqual(40 + WINDOWS_MAX + 5);
  });

  it('remembers its estimate, and skips sampling with it', async () => {
    const estimates: RemoteEstimate[] = [];
    const first = createSimulatedRemote({ seed: 8, objects: 5_000_000 });
    const onEstimate = (estimate: RemoteEstimate) => estimates.push(estimate);
    await queryOf(first, { expectedCandidates: 200, onEstimate }).resolve(strangeHashes(1, 200));
    const remembered = estimates[0] as RemoteEstimate;
    expect(remembered.low).toBeLessThanOrEqual(5_000_000);
    expect(remembered.high).toBeGreaterThanOrEqual(5_000_000);
    expect(remembered.headMs).toBeGreaterThan(0);

    const again = createSimulatedRemote({ seed: 8, objects: 5_000_000 });
    const query = queryOf(again, { expectedCandidates: 200, remembered });
    await query.resolve(strangeHashes(2, 200));
    expect(again.lists()).toBe(0);
    expect(query.explanation()).toMatchObject({ chosen: 'each', remoteObjects: { from: 'remembered' } });
  });

  it('is not misled by a wrong remembered estimate', async () => {
    const remembered = { objects: 300, low: 300, high: 300 };
    const remote = createSimulatedRemote({ seed: 8, objects: 5_000_000 });
    const query = queryOf(remote, { expectedCandidates: 200, remembered });
    await query.resolve(strangeHashes(2, 200));
    expect(query.explanation().chosen).toBe('each');
    expect(remote.lists()).toBeLessThanOrEqual(WINDOWS_MAX);
  });

  it('explains the plan before the first request, and counts the reported blobs', () => {
    const remote = createSimulatedRemote({ seed: 1, objects: 10 });
    const query = queryOf(remote, { expectedCandidates: 700 });
    query.noteWanted(900);
    query.noteWanted(100);
    query.noteRemovedByIndex(300);
    const explanation = query.explanation();
    expect(explanation).toMatchObject({ wanted: 1_000, removedByIndex: 300, candidates: 700 });
    expect(explanation.actual).toBeUndefined();
    expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation);
  });

  it('keeps its bound of requests in flight', async () => {
    const remote = createSimulatedRemote({ seed: 1, objects: 60_000 });
    const query = queryOf(remote, { expectedCandidates: 2_000, costs: { ...DEFAULT_COSTS, concurrency: 7 } });
    await query.resolve(strangeHashes(1, 2_000));
    expect(remote.mostAtOnce()).toBe(7);
  });

  it.each(['each', 'list'] as const)('stops soon after an abort: %s', async (mode) => {
    const stop = new AbortController();
    const onRequest = (requests: number) => {
      if (requests >= 10) stop.abort();
    };
    const remote = createSimulatedRemote({ seed: 1, objects: 500_000, onRequest });
    const costs = { ...DEFAULT_COSTS, concurrency: 8 };
    const query = queryOf(remote, { mode, expectedCandidates: 1_000, costs, signal: stop.signal });
    await expect(query.resolve(strangeHashes(1, 1_000))).rejects.toMatchObject({ code: 'aborted' });
    await expect(query.resolve(strangeHashes(2, 1))).rejects.toMatchObject({ code: 'aborted' });
    expect(remote.heads() + remote.lists()).toBeLessThanOrEqual(20);
  });

  it.each(['each', 'list', 'auto'] as const)(
    'stops sending requests when the remote fails, and can be asked again: %s',
    async (mode) => {
      let isDown = true;
      const onRequest = (requests: number) => {
        if (isDown && requests >= 6) throw new DrayError('unreachable', 'gone', { retry: 'retry' });
      };
      const remote = createSimulatedRemote({ seed: 1, objects: 20_000, onRequest });
      const query = queryOf(remote, {
        mode,
        expectedCandidates: 800,
        costs: { ...DEFAULT_COSTS, concurrency: 8 },
      });
      const hashes = candidatesFor(remote, 800);
      await expect(query.resolve(hashes)).rejects.toMatchObject({ code: 'unreachable' });
      expect(remote.heads() + remote.lists()).toBeLessThanOrEqual(20);
      isDown = false;
      expectRight(remote, hashes, await query.resolve(hashes));
    },
  );
});
