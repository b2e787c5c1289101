import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { readVersion } from '../base/dray-version.ts';
import { DEFAULT_LAYOUT, OBJECTS_LAYOUT } from '../model/layout.ts';
import { createMemoryStore } from '../remotes/memory/memory-store.fixture.ts';
import { createDescriptor, readDescriptor, upgradeDescriptor } from './descriptor.ts';

const clock = { ...systemClock, nowMs: () => Date.UTC(2026, 0, 31, 12) };

const DOCUMENT = {
  format: 1,
  id: '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77',
  created: '2026-01-31T12:00:00.000Z',
  hash: 'sha256',
  layout: DEFAULT_LAYOUT,
  encryption: null,
};

function readText(text: string) {
  const store = createMemoryStore();
  return store.put('dray.json', Buffer.from(text)).then(() => readDescriptor(store));
}

const readJson = (value: unknown) => readText(JSON.stringify(value));

describe('a descriptor', () => {
  it('is absent where there is no repository', async () => {
    expect(await readDescriptor(createMemoryStore())).toBeUndefined();
  });

  const { compression: _, ...plain } = DEFAULT_LAYOUT;

  it.each([DEFAULT_LAYOUT, OBJECTS_LAYOUT, plain])('reads as it was created', async (layout) => {
    const store = createMemoryStore();
    const { descriptor, created } = await createDescriptor(store, { layout, clock });
    expect(created).toBe(true);
    expect(descriptor).toMatchObject({ format: 1, created: '2026-01-31T12:00:00.000Z', layout });
    expect(await readDescriptor(store)).toEqual(descriptor);
    expect(descriptor.features.includes('zstd')).toBe(layout !== plain);
  });

  it('is created by one of many concurrent callers, and all get the same one', async () => {
    const store = createMemoryStore();
    const tries = Array.from({ length: 16 }, () =>
      createDescriptor(store, { layout: DEFAULT_LAYOUT, clock }),
    );
    const outcomes = await Promise.all(tries);
    expect(outcomes.filter((outcome) => outcome.created)).toHaveLength(1);
    expect(new Set(outcomes.map((outcome) => outcome.descriptor.id)).size).toBe(1);
  });

  it('is not created with a contradictory layout', async () => {
    const store = createMemoryStore();
    const { chunkSize } = DEFAULT_LAYOUT;
    const impossible = [
      { ...DEFAULT_LAYOUT, packBelow: -1 },
      { ...DEFAULT_LAYOUT, packBelow: 2 ** 26 },
      { ...DEFAULT_LAYOUT, packTarget: 2 ** 30 },
      { ...DEFAULT_LAYOUT, chunkSize: { ...chunkSize, min: 0 } },
      { ...DEFAULT_LAYOUT, chunkSize: { ...chunkSize, average: chunkSize.max + 1 } },
    ];
    for (const layout of impossible) {
      await expect(createDescriptor(store, { layout, clock })).rejects.toMatchObject({ code: 'usage' });
    }
    expect(await readDescriptor(store)).toBeUndefined();
  });

  it('of a newer format names the number and asks for an upgrade', async () => {
    const reading = readJson({ ...DOCUMENT, format: 7 });
    await expect(reading).rejects.toMatchObject({
      code: 'formatTooNew',
      message: expect.stringMatching(/format 7.*Upgrade/),
    });
  });

  it.each([{ encryption: { kind: 'age' } }, { hash: 'blake3' }, { required: ['teleports'] }])(
    'with %o needs a newer version',
    async (more) => {
      await expect(readJson({ ...DOCUMENT, ...more })).rejects.toMatchObject({ code: 'formatTooNew' });
    },
  );

  it('may have unknown fields', async () => {
    expect(await readJson({ ...DOCUMENT, note: 'x' })).toMatchObject({ id: DOCUMENT.id });
  });

  it.each([
    { id: 'x' },
    { id: undefined },
    { created: 'yesterday' },
    { layout: undefined },
    { layout: { ...DEFAULT_LAYOUT, packTarget: 0.5 } },
    { layout: { ...DEFAULT_LAYOUT, chunkSize: { min: 5, average: 4, max: 3 } } },
    { encryption: undefined },
    { hash: undefined },
    { compression: 'lzma' },
    { format: '1' },
  ])('with %o is damaged', async (more) => {
    const reading = readJson({ ...DOCUMENT, ...more });
    await expect(reading).rejects.toMatchObject({ code: 'damaged', data: { key: 'dray.json' } });
  });

  it('that is truncated or too long is damaged', async () => {
    const text = JSON.stringify(DOCUMENT);
    for (let length = 0; length < text.length; length += 1) {
      await expect(readText(text.slice(0, length))).rejects.toMatchObject({ code: 'damaged' });
    }
    await expect(readText(' '.repeat(100_000))).rejects.toMatchObject({ code: 'damaged' });
  });

  it('with an unknown feature names it, and the version that reads it', async () => {
    const document = { ...DOCUMENT, required: ['collection', 'sealed'], since: '7.2.0' };
    await expect(readJson(document)).rejects.toMatchObject({
      code: 'formatTooNew',
      message: expect.stringContaining('needs the feature sealed'),
      data: { features: ['sealed'], since: '7.2.0' },
    });
    await expect(readJson(document)).rejects.toThrow('Dray 7.2.0 reads it.');
    const hostile = { ...document, since: '7.2.0; run this' };
    await expect(readJson(hostile)).rejects.toMatchObject({
      data: { key: 'dray.json', features: ['sealed'] },
    });
  });

  it('says with a new feature which version wrote it', async () => {
    const store = createMemoryStore();
    await createDescriptor(store, { layout: DEFAULT_LAYOUT, clock });
    const { bytes } = (await store.read('dray.json', { maxBytes: 65_536 }))!;
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ since: readVersion() });
  });

  it('gets the version of whoever adds a feature', async () => {
    const store = createMemoryStore();
    await store.put('dray.json', Buffer.from(JSON.stringify({ ...DOCUMENT, since: '0.0.1' })));
    await upgradeDescriptor(store, {});
    const { bytes } = (await store.read('dray.json', { maxBytes: 65_536 }))!;
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({
      required: ['collection'],
      since: readVersion(),
    });
  });
});
