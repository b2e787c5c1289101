/**
 * Where listings start, and how many requests a lookup at a destination takes, on real servers of two makes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { comparePaths } from '../../engine/model/entry.ts';
import type { TreeItem } from '../../engine/model/tree-item.ts';
import { beforePath } from '../../engine/query/trees/before-path.ts';
import { readTreePage } from '../../engine/query/trees/object-pages.ts';
import { createLookupTally, lookUpDestination } from '../../engine/query/trees/tree-lookup.ts';
import type { ObjectStore } from '../../engine/remotes/object-store.ts';
import { openS3Store } from '../../engine/remotes/s3/open-s3-store.ts';
import { createMeter, withMeter } from '../../engine/remotes/wrappers/with-meter.ts';
import { startMinio } from '../servers/minio.ts';
import { type S3Endpoint, startVersitygw } from '../servers/versitygw.ts';

const { signal } = new AbortController();
const limit = { run: <T>(task: () => Promise<T>) => task() };
const KEYS = 5_000;
const PUTS_AT_ONCE = 32;

const numbered = (count: number, step = 1) =>
  Array.from({ length: count }, (_, at) => `part-${String(at * step).padStart(8, '0')}`);

/** Keys that sort differently by bytes, by UTF-16 and by folders. No key is a folder of another. */
const ODD_KEYS = [
  'a-',
  'a-b/0',
  'a.b/1',
  'a/-',
  'a/0/1',
  'a/00',
  'a0/x',
  'a0 b',
  'aa',
  'a+b',
  'a%2Fb',
  'd/0/0',
  'd/0/1',
  'd/1/0',
  'd0',
  '\u00e9',
  '\u00e9/0',
  '\ud7ff',
  '\ue000',
  '\uffee',
  '\u{1f600}',
  '\u{1f601}/0',
].filter((key, _, keys) => !keys.some((other) => other.startsWith(`${key}/`)));

function describeOn(name: string, start: () => Promise<S3Endpoint>): void {
  describe(name, () => {
    let server: S3Endpoint;
    const stores: ObjectStore[] = [];
    const filled = async (prefix: string, keys: readonly string[]) => {
      const { bucket, environment } = server;
      const store = await openS3Store({ bucket, prefix, environment });
      stores.push(store);
      for (let at = 0; at < keys.length; at += PUTS_AT_ONCE)
        await Promise.all(keys.slice(at, at + PUTS_AT_ONCE).map((key) => store.put(key, new Uint8Array(1))));
      return store;
    };
    let many: ObjectStore;
    beforeAll(async () => {
      server = await start();
      many = await filled('many', numbered(KEYS));
    });
    afterAll(async () => {
      await Promise.all(stores.map((store) => store.close()));
      await server?.stop();
    });

    it('starts a page exactly at the requested key', async () => {
      const store = await filled('odd', ODD_KEYS);
      const ordered = ODD_KEYS.toSorted(comparePaths);
      for (const [at, key] of ordered.entries()) {
        const { items } = await readTreePage({ store, limit, signal, startAfter: beforePath(key) });
        expect(items.map(({ path }) => path)).toEqual(ordered.slice(at));
      }
      for (const key of numbered(KEYS).filter((_, at) => at % 97 === 0 || at % 1_000 < 12)) {
        const page = await readTreePage({
          store: many,
          limit,
          signal,
          startAfter: beforePath(key),
          pageSize: 1,
        });
        expect(page.items.map(({ path }) => path)).toEqual([key]);
      }
    });

    it('takes one request a page, one HEAD for one name, and no page far from the source', async () => {
      const names = numbered(KEYS);
      expect(await look(many, names, true)).toMatchObject({ there: KEYS, extras: 0, requests: 5 });
      expect(await look(many, names, false)).toMatchObject({ there: KEYS, requests: 5 });
      expect(await look(many, names.slice(77, 78), false)).toMatchObject({ there: 1, requests: 1 });
      expect(await look(many, numbered(500, 3_000), false)).toMatchObject({ there: 2 });
      const spread = await look(many, numbered(50, 100), false);
      expect(spread.there).toBe(50);
      expect(spread.requests).toBeLessThanOrEqual(6);
      const together = await look(many, names.slice(2_100, 2_900), false);
      expect(together).toMatchObject({ there: 800, requests: 1 });
      const beyond = Array.from({ length: 3_000 }, (_, at) => `z${String(at).padStart(5, '0')}`);
      expect(await look(many, beyond, true)).toMatchObject({ there: 0, extras: KEYS });
      expect(await look(many, beyond, false)).toMatchObject({ there: 0, requests: 1 });
    });
  });
}

async function look(store: ObjectStore, source: readonly string[], wantExtras: boolean) {
  const meter = createMeter('local');
  async function* items(): AsyncGenerator<readonly TreeItem[]> {
    for (let at = 0; at < source.length; at += 1_000)
      yield source
        .slice(at, at + 1_000)
        .map((path) => ({ path, kind: 'file', sizeBytes: 1, token: '', modifiedMs: 0 }));
  }
  let there = 0;
  let extras = 0;
  for await (const batch of lookUpDestination({
    source: items(),
    store: withMeter(store, meter),
    limit,
    signal,
    tally: createLookupTally(),
    wantExtras,
  })) {
    there += batch.pairs.filter(({ destination }) => destination).length;
    extras += batch.extras.length;
  }
  return { there, extras, requests: meter.totals().total };
}

describeOn('A lookup at versitygw', startVersitygw);
// Another make of server. The contract of stores runs against both in every run.
if (runBudget({ short: false, long: true })) describeOn('A lookup at MinIO', startMinio);
