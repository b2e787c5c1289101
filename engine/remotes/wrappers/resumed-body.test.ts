import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { createMemoryStore } from '../memory/memory-store.fixture.ts';
import type { GetOptions, ObjectStore } from '../object-store.ts';
import { withRetry } from './with-retry.ts';

const KEY = 'object';
const content = new Uint8Array(randomBytes(10_000));
const cut = () => new DrayError('unreachable', 'The wire was cut.', { retry: 'retry' });
const clock = { nowMs: () => 0, monotonicMs: () => 0, random: () => 0, sleep: async () => {} };

/** Each body gives this many bytes and breaks; 'end': right after its last byte. */
function breaking(inner: ObjectStore, afterBytes: readonly (number | 'end')[]) {
  const gets: GetOptions[] = [];
  const store: ObjectStore = {
    ...inner,
    get: async (key, call = {}) => {
      const after = afterBytes[gets.length];
      gets.push(call);
      const read = await inner.get(key, call);
      if (!read || after === undefined) return read;
      async function* body() {
        let left = after === 'end' ? Number.POSITIVE_INFINITY : Number(after);
        for await (const piece of read!.body) {
          if (left > 0) yield piece.subarray(0, left);
          left -= piece.byteLength;
          if (left <= 0) throw cut();
        }
        throw cut();
      }
      return { ...read, body: { [Symbol.asyncIterator]: body, destroy: () => read.body.destroy() } };
    },
  };
  return { gets, store: withRetry(store, { clock, attemptsMax: 3 }) };
}

async function stored() {
  const inner = createMemoryStore();
  await inner.put(KEY, content);
  return inner;
}

async function readAll(store: ObjectStore, call: GetOptions): Promise<Uint8Array> {
  const read = await store.get(KEY, call);
  const pieces = [];
  for await (const piece of read!.body) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
}

describe('A body that is resumed', () => {
  it('continues with the missing bytes, however often it breaks, as long as some arrive', async () => {
    const { gets, store } = breaking(await stored(), [10, 4_000, 1, 1, 1, 'end']);
    expect(await readAll(store, { isResumed: true, ifMatch: (await store.head(KEY))!.etag })).toEqual(
      content,
    );
    expect(gets.map(({ range }) => range?.start)).toEqual([undefined, 10, 4_010, 4_011, 4_012, 4_013]);
  });

  it('keeps to the requested range', async () => {
    const { gets, store } = breaking(await stored(), [10]);
    const range = { start: 100, end: 900 };
    expect(await readAll(store, { isResumed: true, range })).toEqual(content.subarray(100, 900));
    expect(gets.map((call) => call.range)).toEqual([range, { start: 110, end: 900 }]);
  });

  it('gives up when nothing arrives any more', async () => {
    const { gets, store } = breaking(await stored(), [500, 0, 0, 0, 0]);
    await expect(readAll(store, { isResumed: true })).rejects.toMatchObject({ code: 'unreachable' });
    expect(gets).toHaveLength(3);
  });

  it('adds nothing to the retry budget of other calls by its pieces', async () => {
    const earned: number[] = [];
    const budget = { take: () => true, give: (tokens: number) => void earned.push(tokens) };
    const store = withRetry(await stored(), { clock, budget });
    const read = await store.get(KEY, { isResumed: true });
    const afterHead = earned.length;
    for await (const _ of read!.body);
    expect(earned).toHaveLength(afterHead);
  });

  it('is not resumed if the answer has no length', async () => {
    const inner = await stored();
    const untold: ObjectStore = {
      ...inner,
      get: async (key, call) => ({ ...(await inner.get(key, call))!, sizeBytes: Number.NaN }),
    };
    expect(await readAll(withRetry(untold, { clock }), { isResumed: true })).toEqual(content);
    const { gets, store } = breaking(untold, [500]);
    await expect(readAll(store, { isResumed: true })).rejects.toMatchObject({ code: 'unreachable' });
    expect(gets).toHaveLength(1);
  });

  it.each([
    ['replaced', (inner: ObjectStore) => inner.put(KEY, randomBytes(10_000))],
    ['removed', (inner: ObjectStore) => inner.delete([KEY])],
  ])('is a conflict when the object was %s', async (_, change) => {
    const inner = await stored();
    // A store that ignores If-Match.
    const heedless: ObjectStore = {
      ...inner,
      get: (key, { ifMatch: _ifMatch, ...call } = {}) => inner.get(key, call),
    };
    for (const store of [inner, heedless]) {
      await inner.put(KEY, content);
      const read = await breaking(store, [500]).store.get(KEY, { isResumed: true });
      await change(inner);
      const drain = async () => {
        for await (const piece of read!.body) expect(piece.byteLength).toBeGreaterThan(0);
      };
      await expect(drain()).rejects.toMatchObject({ code: 'conflict' });
    }
  });

  it('is not resumed unless requested', async () => {
    const { gets, store } = breaking(await stored(), [500]);
    await expect(readAll(store, {})).rejects.toMatchObject({ code: 'unreachable' });
    expect(gets).toHaveLength(1);
  });
});
