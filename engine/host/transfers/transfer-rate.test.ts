import { describe, expect, it } from 'vitest';
import { createTransferRate } from './transfer-rate.ts';

describe('the rate of a transfer', () => {
  it('is the rate of the last seconds, and gives the remaining time', () => {
    const rate = createTransferRate();
    for (let atMs = 0; atMs <= 60_000; atMs += 100)
      rate.note(atMs, { doneBytes: atMs < 30_000 ? 0 : (atMs - 30_000) * 5 });
    const { bytesPerSecond, secondsLeft } = rate.read(60_000, 50_000);
    expect(bytesPerSecond).toBeCloseTo(5_000, 0);
    expect(secondsLeft).toBeCloseTo(10, 1);
  });

  it('falls while nothing arrives', () => {
    const rate = createTransferRate();
    rate.note(0, { doneBytes: 0 });
    rate.note(4_000, { doneBytes: 40_000 });
    expect(rate.read(4_000, 1).bytesPerSecond).toBe(10_000);
    expect(rate.read(10_000, 1).bytesPerSecond).toBe(4_000);
  });

  it('is zero after a stall, which takes longer to detect if parts arrive far apart', () => {
    const rate = createTransferRate();
    for (let atMs = 0; atMs <= 20_000; atMs += 1_000) rate.note(atMs, { doneBytes: atMs });
    expect(rate.read(24_000, 1).bytesPerSecond).toBeGreaterThan(0);
    expect(rate.read(26_000, 1)).toEqual({ bytesPerSecond: 0 });
    rate.reset();
    for (let atMs = 0; atMs <= 90_000; atMs += 30_000) rate.note(atMs, { doneBytes: atMs });
    expect(rate.read(120_000, 1).bytesPerSecond).toBeGreaterThan(0);
    expect(rate.read(181_000, 1)).toEqual({ bytesPerSecond: 0 });
  });

  it('is the network rate, unless far fewer bytes are sent than are copied', () => {
    const rate = createTransferRate();
    for (let atMs = 0; atMs <= 8_000; atMs += 500)
      rate.note(atMs, { doneBytes: atMs < 8_000 ? 0 : 9_000, wireBytes: atMs });
    expect(rate.read(8_000, 1).bytesPerSecond).toBe(1_000);
    rate.reset();
    for (let atMs = 0; atMs <= 8_000; atMs += 500)
      rate.note(atMs, { doneBytes: atMs, wireBytes: atMs / 100 });
    expect(rate.read(8_000, 1).bytesPerSecond).toBe(1_000);
  });

  it('counts sent bytes of unfinished parts until they are lost', () => {
    const rate = createTransferRate();
    rate.note(0, { doneBytes: 0, wireBytes: 500 });
    rate.note(4_000, { doneBytes: 0, wireBytes: 4_500 });
    expect(rate.read(4_000, 10_000)).toEqual({ bytesPerSecond: 1_000, bytesUnderWay: 4_000, secondsLeft: 6 });
    rate.note(5_000, { doneBytes: 3_000, wireBytes: 5_500 });
    expect(rate.read(5_000, 7_000)).toMatchObject({ bytesUnderWay: 2_000, secondsLeft: 5 });
    rate.lose();
    rate.note(6_000, { doneBytes: 3_000, wireBytes: 5_600 });
    expect(rate.read(6_000, 7_000).bytesUnderWay).toBe(100);
  });

  it('gives no remaining time while its measurements are too few', () => {
    const rate = createTransferRate();
    expect(rate.read(0, 100)).toEqual({ bytesPerSecond: 0 });
    rate.note(0, { doneBytes: 0 });
    rate.note(1_000, { doneBytes: 100 });
    expect(rate.read(1_000, 100)).toEqual({ bytesPerSecond: 100 });
    expect(rate.read(3_000, undefined).secondsLeft).toBeUndefined();
    rate.note(3_000, { doneBytes: 100 });
    rate.reset();
    expect(rate.read(5_000, 100)).toEqual({ bytesPerSecond: 0 });
  });
});
