import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatDollars,
  formatDuration,
  formatPlural,
} from '../../../engine/api/text/numbers.ts';
import { formatClock, parseSize } from './format.ts';

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1,023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [1024 ** 2 - 1, '1.0 MiB'],
    [120.4 * 1024 ** 2, '120 MiB'],
    [5 * 1024 ** 4, '5.0 TiB'],
    [2048 * 1024 ** 5, '2,048 PiB'],
  ])('writes %d as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it('is short and within five percent of the number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 50 }), (bytes) => {
        const text = formatBytes(bytes);
        expect(text.length).toBeLessThanOrEqual(9);
        const read = parseSize(text.replaceAll(',', '').replace(/ (.)iB$/, '$1'));
        if (text.endsWith('PiB')) return;
        expect(Math.abs((read ?? 0) - bytes) / bytes).toBeLessThan(0.05);
      }),
    );
  });
});

describe('parseSize', () => {
  it.each([
    ['0', 0],
    ['512', 512],
    ['1k', 1024],
    ['64MiB', 64 * 1024 ** 2],
    ['64 mb', 64 * 1024 ** 2],
    ['1.5G', 1.5 * 1024 ** 3],
    ['2T', 2 * 1024 ** 4],
  ])('reads %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', '-1', '1x', 'MiB', '1 2', '1e3', '99999999T', '0x10', '1.'])('refuses %j', (text) => {
    expect(parseSize(text)).toBeUndefined();
  });
});

describe('numbers for people', () => {
  it('separates thousands and counts nouns', () => {
    expect([formatCount(999), formatCount(1000), formatCount(1_234_567)]).toEqual([
      '999',
      '1,000',
      '1,234,567',
    ]);
    expect([formatPlural(1, 'file'), formatPlural(0, 'file'), formatPlural(2, 'entry', 'entries')]).toEqual([
      '1 file',
      '0 files',
      '2 entries',
    ]);
  });

  it('writes durations in at most two units', () => {
    expect([5, 210, 3_400, 65_000, 3_600_000, 7_390_000].map(formatDuration)).toEqual([
      '0.01 s',
      '0.21 s',
      '3.4 s',
      '1m 05s',
      '1h 00m',
      '2h 03m',
    ]);
    expect([400, 25_000, 754_000, 10_812_000].map(formatClock)).toEqual(['0:01', '0:25', '12:34', '3:00:12']);
  });

  it('writes prices with two digits that matter', () => {
    expect([0, 0.0000004, 0.0125, 0.4, 12.3].map(formatDollars)).toEqual([
      '$0',
      '$0.00000040',
      '$0.013',
      '$0.40',
      '$12.30',
    ]);
  });
});
