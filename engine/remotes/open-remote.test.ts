import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { openRemote } from './open-remote.ts';
import { parseRemoteUrl } from './remote-url.ts';
import { createMeter } from './wrappers/with-meter.ts';

describe('Opening a remote', () => {
  const common = { connection: {}, environment: {} };
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dray-open-remote-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('gives a store on a folder, created only on request', async () => {
    const url = parseRemoteUrl('new/folder', folder);
    await expect(openRemote(url, common)).rejects.toMatchObject({ code: 'bucketMissing' });
    expect(await readdir(folder)).toEqual([]);
    const store = await openRemote(url, { ...common, create: true });
    expect(store).toMatchObject({ address: `file://${folder}/new/folder`, provider: 'local' });
    await store.put('a', new Uint8Array(3));
    await store.close();
    expect(await readdir(join(folder, 'new/folder'))).toEqual(['a']);
  });

  it('limits the bandwidth of the store, and still knows which copies it can make', async () => {
    let passedMs = 0;
    const clock = {
      ...systemClock,
      monotonicMs: () => passedMs,
      sleep: async (ms: number) => {
        passedMs += ms;
      },
    };
    const store = await openRemote(parseRemoteUrl(folder, '/'), {
      ...common,
      clock,
      bandwidthBytesPerSecond: 1000,
    });
    await store.put('a', new Uint8Array(1500));
    expect(passedMs).toBe(500);
    await store.read('a', { maxBytes: 1500 });
    expect(passedMs).toBe(2000);
    await store.close();
    const environment = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
    const bucket = parseRemoteUrl('s3://bucket/a?endpoint=http://127.0.0.1:9', '/');
    const remote = await openRemote(bucket, { connection: {}, environment, bandwidthBytesPerSecond: 1 });
    expect(remote.place).toMatchObject({ bucket: 'bucket', keyPrefix: 'a/' });
    await remote.close();
  });

  it('counts the requests to the store', async () => {
    const meter = createMeter();
    const store = await openRemote(parseRemoteUrl(folder, '/'), { ...common, meter });
    await store.put('a', new Uint8Array(3));
    await store.head('a');
    expect(meter.totals()).toMatchObject({ reads: 1, writes: 1, total: 2, sentBytes: 3, dollars: 0 });
    await store.close();
  });

  it('knows the provider, and so the prices, of a bucket without a request', async () => {
    const environment = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
    for (const [text, provider] of [
      ['s3://bucket/a?region=eu-west-1', 'aws'],
      ['s3://bucket/a?endpoint=https://s3.us-west-004.backblazeb2.com', 'b2'],
      ['s3://bucket/a?endpoint=http://127.0.0.1:9', 'local'],
    ] as const) {
      const store = await openRemote(parseRemoteUrl(text, '/'), { connection: {}, environment });
      expect(store.provider).toBe(provider);
      await store.close();
    }
  });
});
