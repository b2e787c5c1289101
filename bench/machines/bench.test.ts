import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatasetShape } from '../data/dataset.ts';
import { checkArrival } from '../data/fingerprint.ts';
import { datasetHolding, uploadedHolding } from '../scenarios/holding.ts';
import { roomOf } from '../scenarios/room.ts';
import type { Bench } from './bench.ts';
import { openSmallBench } from './small-bench.ts';

const SHAPE: DatasetShape = { files: 3, bytesMax: 10, sizes: 'equal' };

describe('A bench', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSmallBench();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it('gives each run a new place with a cache of its own', async () => {
    const [first, second] = [await bench.newPlace(), await bench.newPlace()];
    expect(first.prefix).not.toBe(second.prefix);
    expect(first.cacheFolder).not.toBe(second.cacheFolder);
    expect(first.storeFolder).not.toBe(second.storeFolder);
  });

  it('reaches a place through a latency and directly', async () => {
    const slow = await bench.newPlace(30);
    expect(slow.endpoint).not.toBe(bench.server.endpoint);
    expect(slow.environment.AWS_ENDPOINT_URL).toBe(slow.endpoint);
    const direct = await bench.reach(slow, 0);
    expect(direct.endpoint).toBe(bench.server.endpoint);
    expect(direct).toMatchObject({ prefix: slow.prefix, environment: { AWS_ENDPOINT_URL: direct.endpoint } });
    expect((await bench.newPlace(30)).endpoint).toBe(slow.endpoint);
    expect((await fetch(slow.endpoint)).status).toBeGreaterThan(0);
  });

  it('has pairs of servers with equal keys and different endpoints', async () => {
    const { source, destination } = await bench.newPlacePair(roomOf(SHAPE));
    const endpoints = [bench.server.endpoint, source.endpoint, destination.endpoint];
    expect(new Set(endpoints).size).toBe(3);
    expect(source.environment.AWS_SECRET_ACCESS_KEY).toBe(destination.environment.AWS_SECRET_ACCESS_KEY);
    for (const place of [source, destination])
      expect((await bench.reach(place, 0)).endpoint).toBe(place.endpoint);
    expect((await bench.newPlacePair(roomOf(SHAPE))).source.endpoint).toBe(source.endpoint);
  });

  it('writes a dataset once for each owner', async () => {
    const [all, again, own] = [
      await bench.dataset(SHAPE),
      await bench.dataset(SHAPE),
      await bench.dataset(SHAPE, 'dray'),
    ];
    expect(again.folder).toBe(all.folder);
    expect(own.folder).not.toBe(all.folder);
    expect(own.fingerprint()).toEqual(all.fingerprint());
  });

  it('stores a dataset once in each form', async () => {
    const { fingerprint } = await bench.dataset(SHAPE);
    const place = await bench.stored(SHAPE);
    expect((await bench.stored(SHAPE)).prefix).toBe(place.prefix);
    checkArrival(place.storeFolder, fingerprint());
  });

  it("ignores the developer's own settings", async () => {
    process.env.RCLONE_TRANSFERS = '1';
    try {
      expect((await bench.newPlace()).environment.RCLONE_TRANSFERS).toBeUndefined();
    } finally {
      delete process.env.RCLONE_TRANSFERS;
    }
  });

  it("removes a heat's files and all holdings that no later heat needs", async () => {
    await using own = await openSmallBench();
    const kept = await own.dataset(SHAPE);
    const stored = await own.stored(SHAPE);
    const dropped = await own.dataset(SHAPE, 'once');
    const [path, place] = [own.newPath('local'), await own.newPlace()];
    for (const folder of [path, `${path}.restic-cache`, place.storeFolder, place.cacheFolder])
      mkdirSync(folder);
    let ended = 0;
    own.atHeatEnd(async () => {
      ended += 1;
    });
    const names = [datasetHolding(SHAPE), uploadedHolding(SHAPE)].map(({ name }) => name);
    for (let heat = 0; heat < 2; heat += 1) {
      await own.beginHeat(new Set(names));
      expect(ended).toBe(1);
      const left = [path, `${path}.restic-cache`, place.storeFolder, place.cacheFolder, dropped.folder];
      expect(left.filter((folder) => existsSync(folder))).toEqual([]);
      expect([kept.folder, stored.storeFolder].every((folder) => existsSync(folder))).toBe(true);
      expect(own.held()).toEqual(names);
    }
    expect((await own.dataset(SHAPE)).folder).toBe(kept.folder);
    expect((await own.dataset(SHAPE, 'once')).folder).not.toBe(dropped.folder);
  });

  it('retries a holding that failed', async () => {
    await using own = await openSmallBench();
    const holding = datasetHolding(SHAPE, 'fragile');
    await expect(own.hold(holding, () => Promise.reject(new Error('no room')))).rejects.toThrow('no room');
    expect(await own.hold(holding, async () => ({ thing: 7, folders: [] }))).toBe(7);
  });

  it('leaves nothing behind when it is closed', async () => {
    const other = await openSmallBench();
    const folder = dirname((await other.dataset(SHAPE)).folder);
    const { dataFolder } = other.server;
    expect([folder, dataFolder].every((path) => existsSync(path))).toBe(true);
    await other[Symbol.asyncDispose]();
    expect([folder, dataFolder].some((path) => existsSync(path))).toBe(false);
  });
});
