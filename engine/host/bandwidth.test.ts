import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/clock.ts';
import { createBandwidthRate } from './bandwidth.ts';
import { createHostFixture, type HostFixture, transferIn } from './host-fixture.ts';

describe('The rate of transfers', () => {
  let fixture: HostFixture;
  beforeEach(() => {
    fixture = createHostFixture();
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  it('follows the hours and the settings while transfers run', async () => {
    let nowMs = new Date('2026-01-01T07:59:00').getTime();
    const clock: Clock = { ...systemClock, nowMs: () => nowMs, monotonicMs: () => nowMs };
    const rate = createBandwidthRate(fixture.host.windowFile, clock);
    const set = (limit: number | null) =>
      fixture.client.ask('settings.set', { bandwidth: { limit, from: '08:00', to: '18:00' } });
    await set(5000);
    expect(rate()).toBeUndefined();
    nowMs += 60_000;
    expect(rate()).toBe(5000);
    await set(7000);
    nowMs += 1_000;
    expect(rate()).toBe(7000);
    await set(null);
    nowMs += 1_000;
    expect(rate()).toBeUndefined();
  });

  it('is asked for the bytes that a transfer moves, of all transfers together', async () => {
    const { client, host, sandbox } = fixture;
    let takenBytes = 0;
    host.throttle.take = async (bytes) => {
      takenBytes += bytes;
    };
    for (const name of ['one', 'two']) {
      const root = await fixture.workspace(name);
      sandbox.write(`${name}/a.bin`, 'x'.repeat(100_000));
      const { id } = await client.ask('transfers.start', { kind: 'push', root });
      expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    }
    expect(takenBytes).toBeGreaterThanOrEqual(200_000);
  });
});
