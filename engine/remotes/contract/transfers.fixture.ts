/** The contract on long writes: streams, multipart uploads, and stopping half-way. */
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import type { MultipartStore, ObjectStore } from '../object-store.ts';
import {
  collect,
  decode,
  expectCode,
  MIB,
  noise,
  PART_BYTES,
  pieces,
  readText,
  same,
  sha256,
  streamOf,
  text,
  written,
} from './awkward-objects.fixture.ts';

export function describeStreams(store: () => ObjectStore): void {
  describe('streams', () => {
    it('writes a stream of unknown length above 5 MiB', async () => {
      const bytes = noise(12 * MIB + 12_345, 9);
      const etag = written(await store().putStream('streams/long', pieces(bytes, 65_537)));
      expect(await store().head('streams/long')).toMatchObject({ sizeBytes: bytes.byteLength, etag });
      const read = await store().get('streams/long');
      expect(same(await collect(read!.body), bytes)).toBe(true);
    });

    it('writes an empty stream, with no piece and with an empty one', async () => {
      written(await store().putStream('streams/none', pieces(new Uint8Array(), 1)));
      expect(await store().head('streams/none')).toMatchObject({ sizeBytes: 0 });
      written(await store().putStream('streams/empty-piece', streamOf([new Uint8Array()])));
      expect(await store().head('streams/empty-piece')).toMatchObject({ sizeBytes: 0 });
    });

    it('writes a stream of known size', async () => {
      const bytes = noise(300_000, 10);
      written(
        await store().putStream('streams/known', pieces(bytes, 10_000), { sizeBytes: bytes.byteLength }),
      );
      expect(same((await store().read('streams/known', { maxBytes: MIB }))!.bytes, bytes)).toBe(true);
    });

    it('obeys conditions on streams, short and long', async () => {
      for (const [key, size] of [
        ['streams/once-short', 1000],
        ['streams/once-long', 6 * MIB],
      ] as const) {
        const condition = { absent: true } as const;
        const bytes = noise(size, 11);
        written(await store().putStream(key, pieces(bytes, 50_000), { condition }));
        expect(await store().putStream(key, pieces(noise(size, 12), 50_000), { condition })).toEqual({
          written: false,
        });
        expect(same((await store().read(key, { maxBytes: size }))!.bytes, bytes)).toBe(true);
      }
    });

    it("leaves nothing behind when the source fails, and passes on the source's error", async () => {
      async function* failing(size: number) {
        yield noise(size, 13);
        throw new DrayError('io', 'The disk went away.');
      }
      await expectCode('io', store().putStream('streams/failed', failing(1000)));
      await expectCode('io', store().putStream('streams/failed', failing(7 * MIB)));
      expect(await store().head('streams/failed')).toBeUndefined();
    });
  });
}

export function describeMultipart(store: () => ObjectStore): void {
  /** Runs if the store has multipart uploads; otherwise only states that it has none. */
  const withMultipart = (name: string, body: (multipart: MultipartStore) => Promise<void>) =>
    it(name, async () => {
      const { multipart } = store();
      if (multipart) await body(multipart);
      else expect(multipart).toBeUndefined();
    });

  describe('multipart uploads', () => {
    const parts = [noise(PART_BYTES, 20), noise(PART_BYTES + 1, 21), noise(12_345, 22)] as const;
    const whole = Buffer.concat(parts);

    withMultipart('joins parts by number, whatever the order of their arrival', async (multipart) => {
      const key = 'multipart/order #1+%';
      const upload = { key, uploadId: await multipart.create(key, { checksum: 'sha256' }) };
      const send = (number: number) =>
        multipart.uploadPart(upload, number, parts[number - 1]!, {
          checksum: { sha256: sha256(parts[number - 1]!) },
        });
      const [third, first, second] = [await send(3), await send(1), await send(2)];
      expect(await store().head(key)).toBeUndefined();
      const etag = written(await multipart.complete(upload, [third, first, second]));
      expect(await store().head(key)).toMatchObject({ sizeBytes: whole.byteLength, etag });
      expect(same((await store().read(key, { maxBytes: whole.byteLength }))!.bytes, whole)).toBe(true);
    });

    withMultipart(
      'keeps the last of two parts with one number, and lists the parts that it holds',
      async (multipart) => {
        const key = 'multipart/again';
        const upload = { key, uploadId: await multipart.create(key) };
        expect(await multipart.listParts(upload)).toEqual([]);
        await multipart.uploadPart(upload, 2, parts[2]);
        await multipart.uploadPart(upload, 1, parts[1]);
        await multipart.uploadPart(upload, 1, parts[0]);
        const held = await multipart.listParts(upload);
        expect(held).toMatchObject([
          { number: 1, sizeBytes: PART_BYTES },
          { number: 2, sizeBytes: 12_345 },
        ]);
        written(await multipart.complete(upload, held));
        const bytes = (await store().read(key, { maxBytes: whole.byteLength }))!.bytes;
        expect(same(bytes, Buffer.concat([parts[0], parts[2]]))).toBe(true);
      },
    );

    withMultipart('resumes a checksummed upload from the parts that it lists', async (multipart) => {
      for (const kind of ['sha256', 'crc32'] as const) {
        const checksumOf = (bytes: Uint8Array) =>
          kind === 'sha256' ? { sha256: sha256(bytes) } : { crc32: crc32(bytes) };
        const key = `multipart/resumed-${kind}`;
        const upload = { key, uploadId: await multipart.create(key, { checksum: kind }) };
        await multipart.uploadPart(upload, 1, parts[0], { checksum: checksumOf(parts[0]) });
        const held = await multipart.listParts(upload);
        const last = await multipart.uploadPart(upload, 2, parts[2], { checksum: checksumOf(parts[2]) });
        written(await multipart.complete(upload, [...held, last]));
        expect((await store().head(key))!.sizeBytes).toBe(PART_BYTES + 12_345);
      }
    });

    withMultipart('refuses a part whose checksum does not match', async (multipart) => {
      const key = 'multipart/refused';
      const upload = { key, uploadId: await multipart.create(key, { checksum: 'sha256' }) };
      const checksum = { sha256: sha256(parts[0]) };
      await expectCode('checksumRefused', multipart.uploadPart(upload, 1, parts[2], { checksum }));
      await multipart.abort(upload);
    });

    withMultipart('takes parts from objects of the same store, whole and in ranges', async (multipart) => {
      written(await store().put('multipart/source &1', parts[1]));
      const key = 'multipart/patched';
      const source = { key: 'multipart/source &1' };
      const upload = { key, uploadId: await multipart.create(key) };
      const first = await multipart.uploadPartCopy(upload, 1, source);
      expect(first).toMatchObject({ number: 1, sizeBytes: PART_BYTES + 1 });
      const second = await multipart.uploadPart(upload, 2, parts[0]);
      const range = { start: 100, end: 20_100 };
      const third = await multipart.uploadPartCopy(upload, 3, { ...source, range });
      expect(third).toMatchObject({ number: 3, sizeBytes: 20_000 });
      written(await multipart.complete(upload, [first, second, third]));
      const expected = Buffer.concat([parts[1], parts[0], parts[1].subarray(range.start, range.end)]);
      expect(same((await store().read(key, { maxBytes: expected.byteLength }))!.bytes, expected)).toBe(true);
    });

    withMultipart('fails with notFound if the source of a part is absent', async (multipart) => {
      const key = 'multipart/from-nothing';
      const upload = { key, uploadId: await multipart.create(key) };
      await expectCode('notFound', multipart.uploadPartCopy(upload, 1, { key: 'multipart/nothing' }));
      await multipart.abort(upload);
    });

    withMultipart('obeys conditions when it completes', async (multipart) => {
      const key = 'multipart/once';
      const upload = { key, uploadId: await multipart.create(key) };
      const part = await multipart.uploadPart(upload, 1, parts[2]);
      written(await store().put(key, text('first')));
      expect(await multipart.complete(upload, [part], { condition: { absent: true } })).toEqual({
        written: false,
      });
      expect(await readText(store(), key)).toBe('first');
      await multipart.abort(upload);
    });

    withMultipart('forgets an aborted upload, and aborting it again is not an error', async (multipart) => {
      const key = 'multipart/aborted';
      const upload = { key, uploadId: await multipart.create(key) };
      const part = await multipart.uploadPart(upload, 1, parts[2]);
      await multipart.abort(upload);
      await multipart.abort(upload);
      await expectCode('notFound', multipart.listParts(upload));
      await expectCode('notFound', multipart.uploadPart(upload, 2, parts[2]));
      await expectCode('notFound', multipart.complete(upload, [part]));
      expect(await store().head(key)).toBeUndefined();
    });
  });
}

export function describeAborts(store: () => ObjectStore): void {
  describe('abort signals', () => {
    it('stops every call whose signal has already fired', async () => {
      const signal = AbortSignal.abort();
      written(await store().put('aborts/there', text('x')));
      const bytes = text('x');
      const calls: Record<string, () => Promise<unknown>> = {
        head: () => store().head('aborts/there', { signal }),
        get: () => store().get('aborts/there', { signal }),
        read: () => store().read('aborts/there', { signal, maxBytes: 10 }),
        put: () => store().put('aborts/new', bytes, { signal }),
        putStream: () => store().putStream('aborts/new', pieces(bytes, 1), { signal }),
        list: () => store().list({ prefix: '' }, { signal }),
        delete: () => store().delete(['aborts/there'], { signal }),
        copy: () => store().copy('aborts/there', 'aborts/new', { signal }),
        create: async () => store().multipart?.create('aborts/new', { signal }) ?? expectStopped(),
      };
      for (const [name, call] of Object.entries(calls)) await expectCode('aborted', call(), name);
      expect(await store().head('aborts/new')).toBeUndefined();
      expect(await readText(store(), 'aborts/there')).toBe('x');
    });

    it('stops a body half-way', async () => {
      written(await store().put('aborts/body', noise(8 * MIB, 30)));
      const control = new AbortController();
      const read = await store().get('aborts/body', { signal: control.signal });
      const drain = async () => {
        for await (const chunk of read!.body) {
          expect(chunk.byteLength).toBeGreaterThan(0);
          control.abort();
        }
      };
      await expectCode('aborted', drain());
    });

    it('stops a stream that is being written and leaves nothing behind', async () => {
      const control = new AbortController();
      async function* endless() {
        for (let sent = 0; ; sent += 1) {
          if (sent === 12) control.abort();
          yield noise(MIB, sent);
        }
      }
      await expectCode('aborted', store().putStream('aborts/endless', endless(), { signal: control.signal }));
      expect(await store().head('aborts/endless')).toBeUndefined();
    });

    it('works as usual under a signal that does not fire', async () => {
      const { signal } = new AbortController();
      written(await store().put('aborts/calm', text('calm'), { signal }));
      expect(decode((await store().read('aborts/calm', { maxBytes: 10, signal }))!.bytes)).toBe('calm');
    });
  });
}

/** A store without multipart uploads has nothing to stop here. */
function expectStopped(): Promise<never> {
  return Promise.reject(new DrayError('aborted', 'Nothing to stop.'));
}
