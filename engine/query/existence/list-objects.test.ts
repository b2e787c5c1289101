import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import type { BlobHash } from '../../model/entry.ts';
import { estimateObjects } from './estimate-objects.ts';
import type { HashListRequest } from './existence-probe.ts';
import { countOf, packHashes, sizeInRun } from './hash-run.ts';
import { createListing } from './list-objects.ts';
import { sampleWindows } from './sampler.ts';
import { createSimulatedRemote, sizeOfSimulated, strangeHashes } from './simulated-remote.fixture.ts';

const anyHash = fc
  .array(fc.constantFrom(...'0123456789abcdef'), { minLength: 64, maxLength: 64 })
  .map((digits) => digits.join('') as BlobHash);

function pagesOf(hashes: readonly BlobHash[], pageObjects: number) {
  const sorted = [...new Set(hashes)].sort();
  let requests = 0;
  const list = async ({ after = '' }: HashListRequest) => {
    requests += 1;
    const rest = sorted.filter((hash) => hash > after);
    const page = rest.slice(0, pageObjects);
    return { hashes: page, sizes: page.map(sizeOfSimulated), isTruncated: rest.length > pageObjects };
  };
  return { list, requests: () => requests };
}

describe('createListing', () => {
  it('answers like brute force for any hashes, any page size and any misestimate', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyHash, { maxLength: 60 }),
        fc.array(anyHash, { maxLength: 20 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 20_000 }),
        fc.integer({ min: 0, max: 4 }),
        async (present, strange, pageObjects, objects, samples) => {
          const { list } = pagesOf(present, pageObjects);
          const draw = Math.abs(Math.sin(objects));
          const windows =
            samples === 0 ? [] : await sampleWindows({ list, random: () => draw, windows: [], count: 1 });
          const more =
            samples > 1
              ? await sampleWindows({ list, random: () => draw, windows, count: samples })
              : windows;
          const listing = createListing({ list, windows: more, objects, relativeError: 0 });
          const asked = [...new Set([...present, ...strange])];
          const found = await listing.find(asked);
          const truth = new Set(present);
          for (const hash of asked) {
            const sizeBytes = truth.has(hash) ? sizeOfSimulated(hash) : undefined;
            expect(found.get(hash)).toBe(sizeBytes);
            expect(listing.known(hash)).toBe(sizeBytes ?? null);
          }
        },
      ),
      { numRuns: runBudget({ short: 40, long: 150 }) },
    );
  });

  it('continues when more hashes than a page share their first 48 bits', async () => {
    const crowd = Array.from(
      { length: 30 },
      (_, at) => `${'0'.repeat(60)}${at.toString(16).padStart(4, '0')}` as BlobHash,
    );
    const { list } = pagesOf(crowd, 7);
    const windows = await sampleWindows({ list, random: () => 0.5, windows: [], count: 1 });
    const listing = createListing({ list, windows, objects: 30, relativeError: 0 });
    expect((await listing.find(crowd)).size).toBe(30);
    expect(listing.total()).toBe(30);
  });

  it('lists 50,000 objects in at most 72 requests, including sampling', async () => {
    for (let seed = 0; seed < runBudget({ short: 3, long: 12 }); seed += 1) {
      const remote = createSimulatedRemote({ seed, objects: 50_000 });
      const list = (request: HashListRequest) => remote.probe.list(request);
      const windows = await sampleWindows({
        list,
        random: () => remote.clock.random(),
        windows: [],
        count: 1,
      });
      const estimate = estimateObjects(windows);
      const relativeError = (estimate.high - estimate.low) / 4 / estimate.objects;
      const listing = createListing({ list, windows, objects: estimate.objects, relativeError });
      await listing.find(strangeHashes(seed, 5_000));
      expect(listing.total()).toBeGreaterThan(49_000);
      expect(remote.lists()).toBeLessThanOrEqual(66);
    }
  });

  it('fetches only ranges with a candidate, each once', async () => {
    const remote = createSimulatedRemote({ seed: 4, objects: 200_000 });
    const list = (request: HashListRequest) => remote.probe.list(request);
    const listing = createListing({ list, windows: [], objects: 200_000, relativeError: 0 });
    const wanted = remote.someObjects(10);
    expect([...(await listing.find(wanted)).keys()]).toEqual(wanted);
    expect(remote.lists()).toBeLessThanOrEqual(12);
    const before = remote.lists();
    await Promise.all([listing.find(wanted), listing.find(wanted)]);
    expect(remote.lists()).toBe(before);
  });

  it('splits a range that is much denser than estimated, in about one request per page', async () => {
    const remote = createSimulatedRemote({ seed: 9, objects: 100_000 });
    const list = (request: HashListRequest) => remote.probe.list(request);
    const listing = createListing({ list, windows: [], objects: 500, relativeError: 0 });
    await listing.find(strangeHashes(1, 1));
    expect(listing.total()).toBeGreaterThan(99_000);
    expect(remote.lists()).toBeLessThan(125);
    expect(remote.mostAtOnce()).toBeGreaterThan(10);
  });

  it('asks again after a failure, and refuses a listing that does not advance', async () => {
    let isDown = true;
    const list = async () => {
      if (isDown) throw new Error('down');
      return { hashes: [], sizes: [], isTruncated: false };
    };
    const listing = createListing({ list, windows: [], objects: 10, relativeError: 0 });
    await expect(listing.find(strangeHashes(1, 1))).rejects.toThrow('down');
    isDown = false;
    expect((await listing.find(strangeHashes(1, 1))).size).toBe(0);

    const stuck = createListing({
      list: async () => ({ hashes: [], sizes: [], isTruncated: true }),
      windows: [],
      objects: 10,
      relativeError: 0,
    });
    await expect(stuck.find(strangeHashes(1, 1))).rejects.toMatchObject({ code: 'remoteFailed' });
  });
});

describe('a hash run', () => {
  it('contains exactly the hashes that it was made of, with their sizes', () => {
    fc.assert(
      fc.property(
        fc.array(anyHash, { maxLength: 50 }),
        fc.array(anyHash, { maxLength: 50 }),
        (inside, outside) => {
          const sorted = [...new Set(inside)].sort();
          const run = packHashes(sorted, sorted.map(sizeOfSimulated));
          expect(countOf(run)).toBe(new Set(inside).size);
          for (const hash of [...inside, ...outside])
            expect(sizeInRun(run, hash)).toBe(inside.includes(hash) ? sizeOfSimulated(hash) : undefined);
        },
      ),
    );
  });

  it('takes 20 bytes for each hash, so ten million objects fit into 200 MB', () => {
    const hashes = strangeHashes(1, 1_000);
    expect(packHashes(hashes, hashes.map(sizeOfSimulated)).byteLength).toBe(20_000);
  });

  it('counts an object of 4 GiB or more as one of 4 GiB', () => {
    const [hash] = strangeHashes(1, 1);
    expect(sizeInRun(packHashes([hash!], [2 ** 40]), hash!)).toBe(2 ** 32 - 1);
  });
});
