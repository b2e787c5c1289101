import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import { hashOfText } from '../entries.fixture.ts';
import { collectionListKey, commitKey, objectKey, packKey, segmentKey } from '../keys.ts';
import { avoidValueOf, decodeAvoidList, encodeAvoidList, hasValue, mergeAvoidLists } from './avoid-list.ts';
import { decodeKeyList, encodeKeyList } from './key-list.ts';
import { readList, writeList } from './stored-list.ts';

const NAME = hashOfText('list');
const head = { round: 3, run: '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77', kind: 'candidates', part: 0 } as const;
const hash = (text: string) => hashOfText(text) as never;

describe('an avoid list', () => {
  it('holds the values that it was made of, each once', () => {
    const value = fc.integer({ min: 0, max: 2 ** 40 - 1 });
    fc.assert(
      fc.property(fc.array(value, { maxLength: 300 }), (numbers) => {
        const values = mergeAvoidLists([Float64Array.from(numbers)]);
        const decoded = decodeAvoidList(NAME, encodeAvoidList(head, values));
        expect([...decoded]).toEqual([...new Set(numbers)].sort((left, right) => left - right));
        for (const number of numbers) expect(hasValue(decoded, number)).toBe(true);
        expect(hasValue(decoded, 0.5)).toBe(false);
      }),
    );
  });

  it('takes about three bytes a key', () => {
    const values = Float64Array.from({ length: 100_000 }, (_, at) => avoidValueOf(objectKey(hash(`${at}`))));
    expect(encodeAvoidList(head, values.sort()).length / values.length).toBeLessThan(4);
  });

  it.each<[string, (raw: Uint8Array) => Uint8Array]>([
    ['is cut short', (raw) => raw.subarray(0, -1)],
    ['goes on after its end', (raw) => Buffer.concat([raw, Buffer.of(1)])],
    [
      'says another number of values',
      (raw) => Buffer.concat([raw.subarray(0, 24), Buffer.of(9, 0, 0, 0), raw.subarray(28)]),
    ],
    ['is something else', () => Buffer.from('text')],
    ['has a gap that never ends', (raw) => Buffer.concat([raw.subarray(0, 28), Buffer.alloc(20, 0xff)])],
  ])('is damaged when it %s', (_, change) => {
    const raw = encodeAvoidList(head, Float64Array.of(5, 2 ** 39));
    expect(() => decodeAvoidList(NAME, change(raw))).toThrow(/is damaged/);
  });
});

describe('a key list', () => {
  const keys = [
    commitKey(hash('a')),
    segmentKey(hash('b')),
    objectKey(hash('c')),
    objectKey(hash('c'), 12),
    packKey(hash('d')),
  ];

  it('reads as it was written, from the store too', async () => {
    const raw = encodeKeyList(head, keys);
    expect(decodeKeyList(NAME, raw)).toEqual(keys);
    expect(decodeKeyList(NAME, encodeKeyList(head, []))).toEqual([]);
    const store = createMemoryStore();
    const name = await writeList(store, raw);
    expect(Buffer.from(await readList(store, name))).toEqual(Buffer.from(raw));
    await store.put(collectionListKey(name), Buffer.from('wrong'));
    await expect(readList(store, name)).rejects.toMatchObject({ code: 'damaged' });
    await store.delete([collectionListKey(name)]);
    await expect(readList(store, name)).rejects.toMatchObject({ code: 'damaged' });
  });

  it.each(['dray.json', 'refs/heads/main', 'collection.json', 'retention.json', 'notes.txt', ''])(
    'never holds %s, which is no content',
    (key) => {
      expect(() => encodeKeyList(head, [key])).toThrow();
      const text = Buffer.from(encodeKeyList(head, keys)).toString().replace(keys[0]!, key);
      expect(() => decodeKeyList(NAME, Buffer.from(text))).toThrow(/is damaged/);
    },
  );

  it('is damaged when it is cut short', () => {
    const raw = encodeKeyList(head, keys);
    for (const length of [0, 5, raw.length - 10, raw.length - 1])
      expect(() => decodeKeyList(NAME, raw.subarray(0, length))).toThrow(/is damaged/);
  });
});
