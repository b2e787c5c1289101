import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { createFaults, withFaults } from '../../remotes/wrappers/with-faults.fixture.ts';
import { createAdaptiveLimit } from '../limit/adaptive-limit.ts';
import { uploadInParts } from './multipart-upload.ts';
import { openRemoteSource } from './remote-source.ts';
import { createJournal, KEY, storedBytes, uploadOf } from './upload.fixture.ts';

const FROM = 'from/large.bin';
const never = new AbortController().signal;

async function sourceOf(store: ObjectStore) {
  const limit = createAdaptiveLimit({ clock: systemClock, fixed: 3 });
  return openRemoteSource({ store, key: FROM, info: (await store.head(FROM))!, limit });
}

async function sourceStore(bytes: Uint8Array, etags: 'md5' | 'none' = 'md5'): Promise<ObjectStore> {
  let nowMs = 0;
  // Each write has a different time.
  const nextMs = () => {
    nowMs += 1;
    return nowMs;
  };
  const store = createMemoryStore({ etags, clock: { ...systemClock, nowMs: nextMs } });
  await store.put(FROM, bytes);
  return store;
}

describe('openRemoteSource', () => {
  it('copies an object from one store to another, range by range', async () => {
    const bytes = randomBytes(25_500);
    const from = await sourceStore(bytes);
    const to = createMemoryStore();
    const uploaded = await uploadInParts(uploadOf(to, await sourceOf(from)));
    expect(uploaded).toMatchObject({ sentParts: 26, sentBytes: 25_500, confirmedBy: 'checksum' });
    expect(await storedBytes(to)).toEqual(new Uint8Array(bytes));
  });

  it('reads only missing parts when it resumes after a crash', async () => {
    const bytes = randomBytes(20_000);
    const inner = await sourceStore(bytes);
    const to = createMemoryStore({ etags: 'md5' });
    const reading = createFaults();
    reading
      .add('read')
      .errorInstead(new DrayError('unreachable', 'Gone.', { retry: 'retry' }))
      .when((call) => (call.arguments[1] as { range: { start: number } }).range.start >= 12_000);
    const from = withFaults(inner, reading);
    const journal = createJournal();
    await expect(uploadInParts(uploadOf(to, await sourceOf(from), { journal }))).rejects.toThrow();
    let reads = 0;
    const counting: ObjectStore = {
      ...inner,
      read: (...call) => {
        reads += 1;
        return inner.read(...call);
      },
    };
    const again = await uploadInParts(uploadOf(to, await sourceOf(counting), { journal }));
    expect(again.keptParts).toBeGreaterThan(5);
    expect(again.keptParts + again.sentParts).toBe(20);
    expect(reads).toBe(again.sentParts);
    expect(await storedBytes(to)).toEqual(new Uint8Array(bytes));
  });

  it('starts again after a crash when the source has changed', async () => {
    const from = await sourceStore(randomBytes(5_000));
    const to = createMemoryStore();
    const faults = createFaults();
    faults.add('complete').errorInstead(new DrayError('unreachable', 'Gone.', { retry: 'retry' }));
    const journal = createJournal();
    const faulty = withFaults(to, faults);
    await expect(uploadInParts(uploadOf(faulty, await sourceOf(from), { journal }))).rejects.toThrow();
    const bytes = randomBytes(5_000);
    await from.put(FROM, bytes);
    const again = await uploadInParts(uploadOf(to, await sourceOf(from), { journal }));
    expect(again).toMatchObject({ keptParts: 0, sentParts: 5 });
    expect(await storedBytes(to)).toEqual(new Uint8Array(bytes));
    expect((await to.multipart?.listUploads({ prefix: '' }))?.uploads).toEqual([]);
  });

  it.each(['md5', 'none'] as const)('never uploads a mixture of two states (etags: %s)', async (etags) => {
    const from = await sourceStore(randomBytes(20_000), etags);
    const to = createMemoryStore();
    const source = await sourceOf(from);
    let reads = 0;
    const changing = {
      ...source,
      read: async (...call: Parameters<typeof source.read>) => {
        reads += 1;
        if (reads === 10) await from.put(FROM, randomBytes(20_000));
        return source.read(...call);
      },
    };
    await expect(uploadInParts(uploadOf(to, changing))).rejects.toMatchObject({
      code: 'io',
      data: { path: FROM, reason: 'changedWhileRead' },
    });
    expect(await to.head(KEY)).toBeUndefined();
  });

  it('reports a deleted object, and a changed one when the condition was ignored', async () => {
    const from = await sourceStore(randomBytes(100));
    const source = await sourceOf(from);
    const ignoring = await sourceOf({
      ...from,
      read: (key, { ifMatch: _, ...request }) => from.read(key, request),
    });
    await from.put(FROM, randomBytes(100));
    await expect(ignoring.read(0, new Uint8Array(10), never)).rejects.toMatchObject({
      data: { reason: 'changedWhileRead' },
    });
    await from.delete([FROM]);
    await expect(source.read(0, new Uint8Array(10), never)).rejects.toMatchObject({
      code: 'io',
      data: { reason: 'vanished' },
    });
  });

  it('does not accept fewer bytes than it requested', async () => {
    const inner = await sourceStore(randomBytes(100));
    const source = await sourceOf({
      ...inner,
      read: async (key, request) => {
        const answer = (await inner.read(key, request))!;
        return { ...answer, bytes: answer.bytes.subarray(1) };
      },
    });
    await expect(source.read(0, new Uint8Array(10), never)).rejects.toMatchObject({ code: 'damaged' });
  });
});
