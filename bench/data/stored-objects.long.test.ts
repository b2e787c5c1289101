import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Place } from '../entrants/contender.ts';
import type { Bench } from '../machines/bench.ts';
import { SERVER_NAMES } from '../machines/bench-servers.ts';
import { runUnmeasured } from '../machines/measure.ts';
import { DRAY_FROM_SOURCES, openSmallBench } from '../machines/small-bench.ts';
import { clearFolders } from './clear-folders.ts';
import { type DatasetShape, pathOfFile } from './dataset.ts';
import { checkPlainObjects, guardObjects, removePlace } from './stored-objects.ts';

const SHAPE: DatasetShape = { files: 5, bytesMax: 100, sizes: 'equal' };

describe.each(SERVER_NAMES)('The check of stored objects on %s', (server) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSmallBench({ server });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  async function upload(folder: string, place: Place): Promise<void> {
    await runUnmeasured(DRAY_FROM_SOURCES.upload(folder, place), bench.signal);
  }

  it('passes for the sent files, and fails for others', async () => {
    const { folder, fingerprint } = await bench.dataset(SHAPE);
    const place = await bench.newPlace();
    await upload(folder, place);
    await expect(checkPlainObjects(bench, place, fingerprint())).resolves.toBeUndefined();

    const other = await bench.dataset(SHAPE, 'other');
    await appendFile(join(other.folder, pathOfFile(3)), 'x');
    await upload(other.folder, place);
    await expect(checkPlainObjects(bench, place, fingerprint())).rejects.toThrow('not what was sent');
    await expect(checkPlainObjects(bench, place, other.fingerprint())).resolves.toBeUndefined();
  });

  it('finds that nothing has arrived', async () => {
    const { fingerprint } = await bench.dataset(SHAPE);
    await expect(checkPlainObjects(bench, await bench.newPlace(), fingerprint())).rejects.toThrow();
  });

  it('finds whether a place is unchanged', async () => {
    const { folder } = await bench.dataset(SHAPE);
    const place = await bench.newPlace();
    await upload(folder, place);

    await bench.watch.reset();
    const unharmed = await guardObjects(bench, place);
    await runUnmeasured(DRAY_FROM_SOURCES.dryRun!.command(folder, place), bench.signal);
    await expect(unharmed((await bench.watch.read()).requests)).resolves.toBeUndefined();

    await bench.watch.reset();
    const harmed = await guardObjects(bench, place);
    const more = bench.newPath('more');
    await mkdir(more);
    await writeFile(join(more, 'one'), 'more');
    await upload(more, place);
    await expect(harmed((await bench.watch.read()).requests)).rejects.toThrow(/it (wrote|changed)/);
  });

  it('passes for an empty place that stays empty', async () => {
    const place = await bench.newPlace();
    await bench.watch.reset();
    const guard = await guardObjects(bench, place);
    const { folder } = await bench.dataset(SHAPE);
    await runUnmeasured(DRAY_FROM_SOURCES.dryRun!.command(folder, place), bench.signal);
    await expect(guard((await bench.watch.read()).requests)).resolves.toBeUndefined();
  });
});

describe("The check by the server's log", () => {
  it('rejects a tool that sent no request', async () => {
    await using bench = await openSmallBench();
    const guard = await guardObjects(bench, await bench.newPlace());
    await expect(guard([])).rejects.toThrow('nothing');
    await expect(guard(null)).rejects.toThrow('nothing');
  });
});

describe('Clearing', () => {
  it("removes the tools' caches beside a folder, and nothing else", async () => {
    await using bench = await openSmallBench();
    const folder = bench.newPath('fetched');
    const others = [`${folder}.restic-cache`, `${folder}.dray-cache`];
    for (const path of [folder, ...others, `${folder}-2`]) await mkdir(path);
    await clearFolders(folder);
    expect([folder, ...others].filter(existsSync)).toEqual([]);
    expect(existsSync(`${folder}-2`)).toBe(true);
    await rm(`${folder}-2`, { recursive: true });
  });

  it("removes a place's objects and cache, and keeps the place beside it", async () => {
    await using bench = await openSmallBench();
    const { folder, fingerprint } = await bench.dataset(SHAPE);
    const places = [await bench.newPlace(), await bench.newPlace()] as const;
    for (const place of places) await runUnmeasured(DRAY_FROM_SOURCES.upload(folder, place), bench.signal);
    await removePlace(places[0]);
    expect(existsSync(places[0].storeFolder)).toBe(false);
    expect(existsSync(places[0].cacheFolder)).toBe(false);
    await checkPlainObjects(bench, places[1], fingerprint());
    expect(await readFile(join(folder, pathOfFile(0)))).toHaveLength(SHAPE.bytesMax);
  });
});
