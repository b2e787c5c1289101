/** The contract on single objects: reading, conditions, checksums. */
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { comparePaths } from '../../model/entry.ts';
import type { ObjectStore } from '../object-store.ts';
import {
  AWKWARD_KEYS,
  collect,
  decode,
  expectCode,
  listAll,
  MIB,
  noise,
  pieces,
  race,
  readText,
  same,
  sha256,
  text,
  written,
} from './awkward-objects.fixture.ts';

export function describeObjects(store: () => ObjectStore): void {
  describe('objects', () => {
    it('reads back written bytes at once, with the same etag everywhere', async () => {
      const bytes = noise(100_000, 1);
      const etag = written(await store().put('objects/one', bytes));
      expect(etag).not.toContain('"');
      const info = await store().head('objects/one');
      expect(info).toMatchObject({ key: 'objects/one', sizeBytes: 100_000, etag });
      expect(Math.abs(info!.modifiedMs - Date.now())).toBeLessThan(24 * 3600 * 1000);
      const read = await store().get('objects/one');
      expect(read).toMatchObject({ sizeBytes: 100_000, etag });
      expect(same(await collect(read!.body), bytes)).toBe(true);
      const whole = await store().read('objects/one', { maxBytes: 100_000 });
      expect(whole!.etag).toBe(etag);
      expect(same(whole!.bytes, bytes)).toBe(true);
      const page = await store().list({ prefix: 'objects/one' });
      const sizeBytes = store().sealing?.listedBytes(100_000) ?? 100_000;
      expect(page.objects).toMatchObject([{ key: 'objects/one', sizeBytes, etag }]);
    });

    it('returns undefined for an absent object', async () => {
      expect(await store().head('objects/absent')).toBeUndefined();
      expect(await store().get('objects/absent')).toBeUndefined();
      expect(await store().get('objects/absent', { range: { start: 0, end: 1 } })).toBeUndefined();
      expect(await store().read('objects/absent', { maxBytes: 1 })).toBeUndefined();
    });

    it('keeps an empty object', async () => {
      written(await store().put('objects/empty', new Uint8Array()));
      expect(await store().head('objects/empty')).toMatchObject({ sizeBytes: 0 });
      expect((await store().read('objects/empty', { maxBytes: 0 }))!.bytes.byteLength).toBe(0);
      const read = await store().get('objects/empty');
      expect((await collect(read!.body)).byteLength).toBe(0);
    });

    it('replaces an object and its etag as a whole', async () => {
      const first = written(await store().put('objects/replaced', text('the first, longer content')));
      const second = written(await store().put('objects/replaced', text('second')));
      expect(second).not.toBe(first);
      expect(await readText(store(), 'objects/replaced')).toBe('second');
    });

    it('does not keep a reference to the written memory', async () => {
      const bytes = text('before');
      written(await store().put('objects/memory', bytes));
      bytes.fill(0);
      expect(await readText(store(), 'objects/memory')).toBe('before');
    });

    it('reads half-open ranges, cut at the end of the object', async () => {
      const bytes = noise(1000, 2);
      written(await store().put('objects/ranged', bytes));
      for (const [start, end] of [
        [0, 1],
        [0, 1000],
        [10, 20],
        [999, 1000],
        [990, 5000],
        [1, 999],
      ] as const) {
        const whole = await store().read('objects/ranged', { range: { start, end }, maxBytes: 5000 });
        expect(same(whole!.bytes, bytes.subarray(start, end)), `read ${start} to ${end}`).toBe(true);
        const read = await store().get('objects/ranged', { range: { start, end } });
        expect(read!.sizeBytes).toBe(Math.min(end, 1000) - start);
        expect(same(await collect(read!.body), bytes.subarray(start, end)), `get ${start} to ${end}`).toBe(
          true,
        );
      }
    });

    it('fails with damaged if a range begins past the end of the object', async () => {
      written(await store().put('objects/short', noise(1000, 3)));
      const range = { start: 1000, end: 1010 };
      await expectCode('damaged', store().get('objects/short', { range }));
      await expectCode('damaged', store().read('objects/short', { range, maxBytes: 10 }));
    });

    it('refuses to read more into memory than allowed', async () => {
      written(await store().put('objects/bounded', noise(1001, 4)));
      await expectCode('damaged', store().read('objects/bounded', { maxBytes: 1000 }));
      const range = { start: 0, end: 1000 };
      expect((await store().read('objects/bounded', { maxBytes: 1000, range }))!.bytes.byteLength).toBe(1000);
    });

    it('reads into the given memory, or leaves it untouched', async () => {
      const bytes = noise(5000, 5);
      written(await store().put('objects/given', bytes));
      for (const givenBytes of [5000, 8000, 100]) {
        const memory = new Uint8Array(new SharedArrayBuffer(10_000)).fill(7);
        const into = memory.subarray(1000, 1000 + givenBytes);
        const read = (await store().read('objects/given', { maxBytes: 5000, into }))!.bytes;
        expect(same(read, bytes)).toBe(true);
        const isInto = read.buffer === memory.buffer;
        if (isInto) expect([read.byteOffset, read.byteLength]).toEqual([1000, 5000]);
        const untouched = [memory.subarray(0, 1000), memory.subarray(isInto ? 6000 : 1000)];
        for (const part of untouched) expect(part.every((byte) => byte === 7)).toBe(true);
      }
    });

    it('stays usable after a body is dropped half-way', async () => {
      const bytes = noise(4 * MIB, 5);
      written(await store().put('objects/dropped', bytes));
      for (let round = 0; round < 5; round += 1) {
        const unread = await store().get('objects/dropped');
        unread!.body.destroy();
        const begun = await store().get('objects/dropped');
        for await (const chunk of begun!.body) {
          expect(chunk.byteLength).toBeGreaterThan(0);
          break;
        }
        begun!.body.destroy();
      }
      expect(same((await store().read('objects/dropped', { maxBytes: 4 * MIB }))!.bytes, bytes)).toBe(true);
    });

    it('keeps awkward names apart', async () => {
      await Promise.all(
        AWKWARD_KEYS.map(async (key) => written(await store().put(`awkward/${key}`, text(key)))),
      );
      for (const key of AWKWARD_KEYS) {
        expect(await readText(store(), `awkward/${key}`)).toBe(key);
        expect((await store().head(`awkward/${key}`))?.key).toBe(`awkward/${key}`);
      }
      const listed = await listAll(store(), { prefix: 'awkward/' });
      expect(listed.keys).toEqual(AWKWARD_KEYS.map((key) => `awkward/${key}`).sort(comparePaths));
    });

    it('takes a content type and metadata without changing the bytes', async () => {
      const options = { contentType: 'application/json', metadata: { purpose: 'contract test' } };
      written(await store().put('objects/described', text('{}'), options));
      expect(await readText(store(), 'objects/described')).toBe('{}');
      const metadata = (await store().head('objects/described'))?.metadata;
      if (metadata !== undefined) expect(metadata).toMatchObject({ purpose: 'contract test' });
    });
  });
}

export function describeConditions(store: () => ObjectStore): void {
  describe('conditions', () => {
    it('creates an object under "must be absent" only once', async () => {
      written(await store().put('conditions/once', text('first'), { condition: { absent: true } }));
      expect(await store().put('conditions/once', text('second'), { condition: { absent: true } })).toEqual({
        written: false,
      });
      expect(await readText(store(), 'conditions/once')).toBe('first');
    });

    it('replaces only the object that the etag names', async () => {
      const first = written(await store().put('conditions/swap', text('1')));
      const second = written(await store().put('conditions/swap', text('2'), { condition: { etag: first } }));
      expect(await store().put('conditions/swap', text('3'), { condition: { etag: first } })).toEqual({
        written: false,
      });
      expect(await readText(store(), 'conditions/swap')).toBe('2');
      written(await store().put('conditions/swap', text('4'), { condition: { etag: second } }));
      expect(await readText(store(), 'conditions/swap')).toBe('4');
    });

    it('writes nothing if an etag is required and the object is absent', async () => {
      const etag = written(await store().put('conditions/other', text('x')));
      expect(await store().put('conditions/absent', text('y'), { condition: { etag } })).toEqual({
        written: false,
      });
      expect(await store().head('conditions/absent')).toBeUndefined();
    });

    it('lets exactly one of 16 racing writers create an object', async () => {
      for (let round = 0; round < 3; round += 1) {
        const key = `conditions/race-${round}`;
        const outcomes = await race(16, (writer) =>
          store().put(key, text(`writer ${writer}`), { condition: { absent: true } }),
        );
        const winners = outcomes.flatMap((outcome, writer) => (outcome.written ? [writer] : []));
        expect(winners).toHaveLength(1);
        expect(await readText(store(), key)).toBe(`writer ${winners[0]}`);
      }
    });

    it('lets exactly one of 16 racing writers replace an object', async () => {
      for (let round = 0; round < 3; round += 1) {
        const key = `conditions/swap-race-${round}`;
        const etag = written(await store().put(key, text('before')));
        const outcomes = await race(16, (writer) =>
          store().put(key, text(`writer ${writer}`), { condition: { etag } }),
        );
        const winners = outcomes.flatMap((outcome, writer) => (outcome.written ? [writer] : []));
        expect(winners).toHaveLength(1);
        expect(await readText(store(), key)).toBe(`writer ${winners[0]}`);
      }
    });

    it('reads only the object that the etag names', async () => {
      const first = written(await store().put('conditions/read', text('one')));
      written(await store().put('conditions/read', text('other')));
      await expectCode('conflict', store().get('conditions/read', { ifMatch: first }));
      await expectCode('conflict', store().read('conditions/read', { ifMatch: first, maxBytes: 10 }));
      const now = (await store().head('conditions/read'))!.etag;
      expect(decode((await store().read('conditions/read', { ifMatch: now, maxBytes: 10 }))!.bytes)).toBe(
        'other',
      );
      expect(await store().get('conditions/read-absent', { ifMatch: first })).toBeUndefined();
    });
  });
}

export function describeChecksums(store: () => ObjectStore): void {
  describe('checksums', () => {
    const bytes = noise(10_000, 6);

    it('accepts bytes that match their SHA-256 or CRC-32', async () => {
      written(await store().put('checksums/sha256', bytes, { checksum: { sha256: sha256(bytes) } }));
      written(await store().put('checksums/crc32', bytes, { checksum: { crc32: crc32(bytes) } }));
      written(
        await store().put('checksums/empty', new Uint8Array(), {
          checksum: { sha256: sha256(new Uint8Array()) },
        }),
      );
      written(await store().put('checksums/zero', new Uint8Array(), { checksum: { crc32: 0 } }));
      expect(same((await store().read('checksums/sha256', { maxBytes: 10_000 }))!.bytes, bytes)).toBe(true);
    });

    it('refuses bytes that do not match and changes nothing', async () => {
      written(await store().put('checksums/kept', text('kept')));
      const wrong = [{ sha256: sha256(noise(10_000, 7)) }, { crc32: crc32(bytes) ^ 1 }];
      for (const checksum of wrong.map((sum) => ('crc32' in sum ? { crc32: sum.crc32 >>> 0 } : sum))) {
        await expectCode('checksumRefused', store().put('checksums/kept', bytes, { checksum }));
        await expectCode('checksumRefused', store().put('checksums/never', bytes, { checksum }));
      }
      expect(await readText(store(), 'checksums/kept')).toBe('kept');
      expect(await store().head('checksums/never')).toBeUndefined();
    });

    it('refuses a stream that does not match and changes nothing', async () => {
      const long = noise(6 * MIB, 8);
      const right = { checksum: { sha256: sha256(long) } };
      written(await store().putStream('checksums/stream', pieces(long, 100_001), right));
      const wrong = { checksum: { sha256: sha256(bytes) } };
      await expectCode(
        'checksumRefused',
        store().putStream('checksums/stream-bad', pieces(long, 100_001), wrong),
      );
      await expectCode(
        'checksumRefused',
        store().putStream('checksums/stream-bad', pieces(bytes, 1000), { checksum: { crc32: 1 } }),
      );
      expect(await store().head('checksums/stream-bad')).toBeUndefined();
    });
  });
}
