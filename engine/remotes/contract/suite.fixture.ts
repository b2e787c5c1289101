/**
 * The suite that every ObjectStore passes: it proves the promises of `object-store.ts` against the store
 * itself. Call it at the top of a test file. Each `open()` must give an empty store of its own.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { comparePaths } from '../../model/entry.ts';
import type { ObjectStore } from '../object-store.ts';
import type { StoreAbilities } from './abilities.fixture.ts';
import {
  AWKWARD_KEYS,
  expectCode,
  listAll,
  MIB,
  noise,
  ORDER_KEYS,
  readText,
  same,
  text,
  written,
} from './awkward-objects.fixture.ts';
import { describeDescriptions } from './descriptions.fixture.ts';
import { describeChecksums, describeConditions, describeObjects } from './objects.fixture.ts';
import { describeJoinedChecksums, describeKeptChecksums } from './sums.fixture.ts';
import { describeAborts, describeMultipart, describeStreams } from './transfers.fixture.ts';

export interface OpenedStore {
  readonly store: ObjectStore;
  close(): Promise<void>;
}

export function describeObjectStoreContract(
  name: string,
  open: () => Promise<OpenedStore>,
  abilities: StoreAbilities,
): void {
  describe(`${name} keeps the contract of an object store`, () => {
    let opened: OpenedStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => {
      await opened?.close();
    });
    const store = () => opened.store;

    describeObjects(store);
    describeConditions(store);
    describeChecksums(store);
    describeStreams(store);
    describeLists(store);
    describeRemovalAndCopies(store, abilities);
    describeMultipart(store);
    describeDescriptions(store, abilities);
    describeKeptChecksums(store, abilities);
    describeJoinedChecksums(store, abilities);
    describeAborts(store);

    it('shares nothing with a store that was opened elsewhere', async () => {
      await store().put('isolation/mine', text('x'));
      const other = await open();
      try {
        expect(await other.store.head('isolation/mine')).toBeUndefined();
        expect((await other.store.list({ prefix: '' })).objects).toEqual([]);
        await other.store.put('theirs', text('y'));
        expect((await other.store.list({ prefix: '' })).objects.map((object) => object.key)).toEqual([
          'theirs',
        ]);
        expect(await store().head('theirs')).toBeUndefined();
      } finally {
        await other.close();
      }
    });

    it('can be closed twice', async () => {
      const other = await open();
      await other.store.close();
      await other.store.close();
      await other.close();
    });
  });
}

export function describeLists(store: () => ObjectStore): void {
  describe('lists', () => {
    beforeAll(async () => {
      await Promise.all(ORDER_KEYS.map((key) => store().put(`lists/${key}`, text(key))));
    });
    const all = ORDER_KEYS.map((key) => `lists/${key}`);

    it('lists in byte order of the UTF-8 keys', async () => {
      const page = await store().list({ prefix: 'lists/' });
      expect(page.objects.map((object) => object.key)).toEqual(all);
      expect(page.folders).toEqual([]);
      expect(page.continuation).toBeUndefined();
    });

    it('gives the same keys page by page, for any page size', async () => {
      for (const limit of [1, 2, 7, all.length, all.length + 1]) {
        const listed = await listAll(store(), { prefix: 'lists/', limit });
        expect(listed.keys, `pages of ${limit}`).toEqual(all);
        expect(Math.max(...listed.pages.map((page) => page.objects.length))).toBeLessThanOrEqual(limit);
      }
    });

    it('starts after any key, existing or not', async () => {
      for (const after of [...ORDER_KEYS, '', 'a', 'a/', 'a/inside1', 'b', '~', '\u{10FFFF}']) {
        const startAfter = `lists/${after}`;
        const expected = all.filter((key) => comparePaths(key, startAfter) > 0);
        const listed = await listAll(store(), { prefix: 'lists/', startAfter, limit: 4 });
        expect(listed.keys, `after ${after}`).toEqual(expected);
      }
      expect((await store().list({ prefix: 'lists/', startAfter: 'a-key-before' })).objects).toHaveLength(
        all.length,
      );
      expect((await store().list({ prefix: 'lists/', startAfter: 'zzz' })).objects).toEqual([]);
    });

    it('treats a prefix as characters, not as a folder', async () => {
      const listed = await listAll(store(), { prefix: 'lists/a' });
      expect(listed.keys).toEqual(all.filter((key) => key.startsWith('lists/a')));
      expect((await store().list({ prefix: 'lists/nothing' })).objects).toEqual([]);
      expect((await listAll(store(), { prefix: 'lists/\u{1F600}' })).keys).toEqual(['lists/\u{1F600}']);
    });

    it('folds folders at the delimiter, across pages too', async () => {
      const expectedKeys = all.filter((key) => !key.slice('lists/'.length).includes('/'));
      const expectedFolders = ['lists/Z/', 'lists/a/', 'lists/b-b/', 'lists/b/'];
      for (const limit of [1, 3, 1000]) {
        const listed = await listAll(store(), { prefix: 'lists/', delimiter: '/', limit });
        expect(listed.keys, `pages of ${limit}`).toEqual(expectedKeys);
        expect(listed.folders, `pages of ${limit}`).toEqual(expectedFolders);
      }
      const inside = await store().list({ prefix: 'lists/a/', delimiter: '/' });
      expect(inside.objects.map((object) => object.key)).toEqual(['lists/a/inside', 'lists/a/inside2']);
      expect((await store().list({ prefix: 'lists/a', delimiter: '/' })).folders).toEqual(['lists/a/']);
      const root = await store().list({ prefix: '', delimiter: '/' });
      expect(root.folders).toContain('lists/');
    });
  });
}

function describeRemovalAndCopies(store: () => ObjectStore, abilities: StoreAbilities): void {
  describe('removal and copies', () => {
    it('removes existing objects and ignores absent ones', async () => {
      const keys = AWKWARD_KEYS.map((key) => `removed/${key}`);
      await Promise.all(keys.map((key) => store().put(key, text('x'))));
      written(await store().put('removed/kept', text('x')));
      await store().delete([...keys, 'removed/never-there']);
      expect((await store().list({ prefix: 'removed/' })).objects.map((object) => object.key)).toEqual([
        'removed/kept',
      ]);
      await store().delete(keys);
      await store().delete(['removed/kept']);
      await store().delete(['removed/kept']);
      await store().delete([]);
      expect(await store().head('removed/kept')).toBeUndefined();
      expect((await store().list({ prefix: 'removed/' })).objects).toEqual([]);
      written(await store().put('removed/kept', text('again'), { condition: { absent: true } }));
    });

    it('removes an object only if its etag matches, if the store supports the condition', async () => {
      const first = written(await store().put('removed/seen', text('1')));
      const second = written(await store().put('removed/seen', text('2')));
      if (abilities.removesUnderConditions) {
        const late = store().delete(['removed/seen'], { ifMatch: first });
        await expect(late).rejects.toMatchObject({ code: 'conflict' });
        expect(await store().head('removed/seen')).toBeDefined();
      }
      await store().delete(['removed/seen'], { ifMatch: second });
      expect(await store().head('removed/seen')).toBeUndefined();
      await store().delete(['removed/seen'], { ifMatch: second });
    });

    it('copies inside the store, over an existing object', async () => {
      const bytes = noise(50_000, 14);
      for (const key of ['plain', ...AWKWARD_KEYS]) {
        written(await store().put(`copies/from/${key}`, bytes));
        const etag = written(await store().copy(`copies/from/${key}`, `copies/to/${key}`));
        expect(await store().head(`copies/to/${key}`)).toMatchObject({ sizeBytes: 50_000, etag });
      }
      written(await store().put('copies/from/plain', text('newer')));
      written(await store().copy('copies/from/plain', 'copies/to/plain'));
      expect(await readText(store(), 'copies/to/plain')).toBe('newer');
      expect(
        same((await store().read(`copies/to/${AWKWARD_KEYS[0]}`, { maxBytes: MIB }))!.bytes, bytes),
      ).toBe(true);
    });

    it('fails with notFound when there is nothing to copy', async () => {
      await expectCode('notFound', store().copy('copies/nothing', 'copies/to/nothing'));
      expect(await store().head('copies/to/nothing')).toBeUndefined();
    });
  });
}
