/** The contract on an object's description, and on copies that change it. */
import { describe, expect, it } from 'vitest';
import type { ObjectDescription, ObjectInfo, ObjectStore } from '../object-store.ts';
import type { StoreAbilities } from './abilities.fixture.ts';
import {
  AWKWARD_KEYS,
  expectCode,
  noise,
  readText,
  streamOf,
  text,
  written,
} from './awkward-objects.fixture.ts';

const DESCRIPTION: ObjectDescription = {
  contentType: 'text/csv',
  metadata: { mtime: '1700000000.123456789', 'two-words': 'some value', 'org.example.owner': 'ada' },
  cacheControl: 'max-age=60',
  contentDisposition: 'attachment; filename="a b.csv"',
  contentEncoding: 'identity',
  contentLanguage: 'en',
};

export function describeDescriptions(store: () => ObjectStore, abilities: StoreAbilities): void {
  /** Checks that an object written with the description returns all of it, or nothing. */
  const keptPart = (description: ObjectDescription) => (abilities.keepsDescriptions ? description : {});
  const descriptionOf = (info: ObjectInfo | undefined): ObjectDescription => {
    const { contentType, metadata, cacheControl, contentDisposition, contentEncoding, contentLanguage } =
      info!;
    const fields = { contentType, metadata, cacheControl, contentDisposition, contentEncoding };
    // Through JSON, to drop undefined properties.
    return JSON.parse(JSON.stringify({ ...fields, contentLanguage }));
  };

  describe('descriptions', () => {
    it('returns the description of an object, for each way to write and to read it', async () => {
      written(await store().put('described/put', text('content'), DESCRIPTION));
      written(await store().putStream('described/stream', streamOf([text('content')]), DESCRIPTION));
      for (const key of ['described/put', 'described/stream']) {
        const read = await store().read(key, { maxBytes: 10 });
        const got = await store().get(key);
        got!.body.destroy();
        for (const info of [await store().head(key), read!.info, got!.info])
          expect(descriptionOf(info), key).toEqual(keptPart(DESCRIPTION));
      }
    });

    it('returns the description given at the start of a multipart upload', async () => {
      const { multipart } = store();
      const key = 'described/parts';
      const upload = { key, uploadId: await multipart!.create(key, DESCRIPTION) };
      const part = await multipart!.uploadPart(upload, 1, text('content'));
      written(await multipart!.complete(upload, [part]));
      expect(descriptionOf(await store().head(key))).toEqual(keptPart(DESCRIPTION));
    });

    it('gives bytes of no known kind the generic content type', async () => {
      written(await store().put('described/plain', text('x')));
      const expected = keptPart({ contentType: 'application/octet-stream' });
      expect(descriptionOf(await store().head('described/plain'))).toEqual(expected);
    });

    it('describes the whole object even if a range of it is read', async () => {
      const bytes = noise(10_000, 40);
      const etag = written(await store().put('described/ranged', bytes, DESCRIPTION));
      const whole = { key: 'described/ranged', sizeBytes: 10_000, etag, ...keptPart(DESCRIPTION) };
      const range = { start: 100, end: 200 };
      const read = await store().read('described/ranged', { range, maxBytes: 100 });
      expect(read!.bytes.byteLength).toBe(100);
      expect(read!.info).toMatchObject(whole);
      const got = await store().get('described/ranged', { range });
      got!.body.destroy();
      expect(got!.sizeBytes).toBe(100);
      expect(got!.info).toMatchObject(whole);
      expect(Math.abs(got!.info.modifiedMs - Date.now())).toBeLessThan(24 * 3600 * 1000);
    });
  });

  describe('copies', () => {
    it('keep the description of the object', async () => {
      written(await store().put('copied/from', text('x'), DESCRIPTION));
      written(await store().copy('copied/from', 'copied/to'));
      expect(descriptionOf(await store().head('copied/to'))).toEqual(keptPart(DESCRIPTION));
    });

    it('replace the description of the object on request', async () => {
      const description = { contentType: 'text/x-other', metadata: { mtime: '5.25' } };
      for (const key of ['plain', ...AWKWARD_KEYS.slice(0, 6)]) {
        written(await store().put(`described-anew/from/${key}`, text(key)));
        const to = `described-anew/to/${key}`;
        written(await store().copy(`described-anew/from/${key}`, to, { description }));
        expect(await readText(store(), to)).toBe(key);
        expect(descriptionOf(await store().head(to))).toEqual(keptPart(description));
      }
    });

    it('onto the object itself change only its description', async () => {
      const before = { contentType: 'text/plain', metadata: { mtime: '1.5', kept: 'not' } };
      const after = { contentType: 'text/plain', metadata: { mtime: '2.5' } };
      const etag = written(await store().put('touched', text('the content'), before));
      written(await store().copy('touched', 'touched', { description: after, ifMatch: etag }));
      expect(await readText(store(), 'touched')).toBe('the content');
      expect(descriptionOf(await store().head('touched'))).toEqual(keptPart(after));
    });

    it('copy only the object that the etag names', async () => {
      const first = written(await store().put('pinned/from', text('first')));
      const second = written(await store().put('pinned/from', text('second')));
      await expectCode('conflict', store().copy('pinned/from', 'pinned/to', { ifMatch: first }));
      expect(await store().head('pinned/to')).toBeUndefined();
      written(await store().copy('pinned/from', 'pinned/to', { ifMatch: second }));
      expect(await readText(store(), 'pinned/to')).toBe('second');
      await expectCode('notFound', store().copy('pinned/absent', 'pinned/to', { ifMatch: first }));
    });

    it('obey conditions on the replaced object, if the store supports them for copies', async () => {
      written(await store().put('guarded/from', text('from')));
      const etag = written(await store().put('guarded/to', text('to')));
      if (!abilities.copiesUnderConditions) {
        // The store ignores the condition; a caller must know that.
        written(await store().copy('guarded/from', 'guarded/to', { condition: { absent: true } }));
        expect(await readText(store(), 'guarded/to')).toBe('from');
        return;
      }
      const absent = { condition: { absent: true } } as const;
      expect(await store().copy('guarded/from', 'guarded/to', absent)).toEqual({ written: false });
      expect(await readText(store(), 'guarded/to')).toBe('to');
      written(await store().copy('guarded/from', 'guarded/new', absent));
      written(await store().copy('guarded/from', 'guarded/to', { condition: { etag } }));
      expect(await store().copy('guarded/from', 'guarded/to', { condition: { etag } })).toEqual({
        written: false,
      });
    });

    it('refuse sources that the store cannot reach', async () => {
      const from = { bucket: 'no-such-bucket-of-ours', key: 'x' };
      await expect(store().copy(from, 'unreached')).rejects.toMatchObject({
        code: expect.stringMatching(/^(unsupported|bucketMissing|accessDenied|notFound)$/),
      });
      expect(await store().head('unreached')).toBeUndefined();
    });
  });
}
