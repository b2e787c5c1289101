import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../base/clock.ts';
import { createBandwidthRate } from './bandwidth.ts';
import { createHostFixture, type HostFixture } from './host.fixture.ts';

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
});
