import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import { dollarsFor } from '../../model/prices.ts';
import { createMemoryStore } from '../memory/memory-store.fixture.ts';
import { createFaults, withFaults } from './with-faults.fixture.ts';
import { createMeter, withMeter } from './with-meter.ts';
import { withRetry } from './with-retry.ts';

async function* pieces(...sizes: number[]) {
  for (const size of sizes) yield new Uint8Array(size);
}

describe('The meter', () => {
  it('counts each request once, in its class, and the bytes in both directions', async () => {
    const meter = createMeter('aws');
    const store = withMeter(createMemoryStore(), meter);
    await store.put('a', new Uint8Array(10));
    await store.head('a');
    await store.head('absent');
    await store.read('a', { maxBytes: 10 });
    for await (const _ of (await store.get('a', { range: { start: 2, end: 5 } }))!.body);
    await store.list({ prefix: '' });
    await store.copy('a', 'b');
    await store.putStream('c', pieces(3, 4));
    await store.delete(['a', 'b', 'c']);
    const counts = { reads: 4, writes: 3, lists: 1, deletes: 1 };
    expect(meter.totals()).toEqual({
      ...counts,
      total: 9,
      sentBytes: 17,
      receivedBytes: 13,
      dollars: dollarsFor('aws', counts),
    });
  });

  it('counts every step of a multipart upload and of a long stream', async () => {
    const meter = createMeter('local');
    const store = withMeter(createMemoryStore(), meter);
    const upload = { key: 'a', uploadId: await store.multipart!.create('a') };
    const part = await store.multipart!.uploadPart(upload, 1, new Uint8Array(5));
    await store.multipart!.uploadPartCopy(upload, 2, { key: 'a' }).catch(() => {});
    await store.multipart!.listParts(upload);
    await store.multipart!.complete(upload, [part]);
    await store.multipart!.abort(upload);
    await store.multipart!.listUploads({ prefix: '' });
    await store.parts!('a');
    expect(meter.totals()).toMatchObject({ writes: 4, reads: 2, lists: 2, deletes: 1, sentBytes: 5 });
    const MIB = 1024 * 1024;
    await store.putStream('b', pieces(5 * MIB, 5 * MIB, 1), { partSizeBytes: 5 * MIB });
    expect(meter.totals()).toMatchObject({ writes: 4 + 5, sentBytes: 5 + 10 * MIB + 1 });
    await store.putStream('b', pieces(5 * MIB, 5 * MIB, 1));
    expect(meter.totals()).toMatchObject({ writes: 4 + 5 + 1 });
  });

  it('counts attempts, so a retried request counts as often as it was sent', async () => {
    const meter = createMeter('local');
    const faults = createFaults();
    faults
      .add('head')
      .errorInstead(new DrayError('unreachable', 'Gone.', { retry: 'retry' }))
      .repeat(2);
    const counted = withMeter(withFaults(createMemoryStore(), faults), meter);
    await withRetry(counted, { clock: systemClock, baseDelayMs: 0 }).head('a');
    expect(meter.totals().reads).toBe(3);
  });

  it('uses the prices of its store if none are given', async () => {
    const meter = createMeter();
    expect(meter.totals().dollars).toBe(0);
    await withMeter(createMemoryStore({ provider: 'aws' }), meter).list({ prefix: '' });
    expect(meter.totals().dollars).toBeCloseTo(0.000005);
  });

  it('does not count a request that was stopped before it was sent', async () => {
    const meter = createMeter('local');
    const store = withMeter(createMemoryStore(), meter);
    await store.head('a', { signal: AbortSignal.abort() }).catch(() => {});
    await store.delete(['a'], { signal: AbortSignal.abort() }).catch(() => {});
    expect(meter.totals().total).toBe(0);
  });
});

describe('The price table', () => {
  it('charges by class and provider', () => {
    const counts = { reads: 1_000_000, writes: 1000, lists: 1000, deletes: 1000 };
    expect(dollarsFor('aws', counts)).toBeCloseTo(0.4 + 0.005 + 0.005);
    expect(dollarsFor('b2', counts)).toBeCloseTo(0.4 + 0.004);
    expect(dollarsFor('r2', counts)).toBeCloseTo(0.36 + 0.0045 + 0.0045);
    expect(dollarsFor('wasabi', counts)).toBe(0);
    expect(dollarsFor('local', counts)).toBe(0);
  });

  it('treats an unknown provider as a server of your own', () => {
    expect(dollarsFor('toString', { reads: 1e9, writes: 0, lists: 0, deletes: 0 })).toBe(0);
  });
});
