import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseMoment } from './moment.ts';

const NOW = Date.parse('2026-06-15T12:00:00Z');

describe('A moment on the command line', () => {
  it.each([
    ['90s', '2026-06-15T11:58:30Z'],
    ['30m', '2026-06-15T11:30:00Z'],
    ['12h', '2026-06-15T00:00:00Z'],
    ['7d', '2026-06-08T12:00:00Z'],
    ['1.5d', '2026-06-14T00:00:00Z'],
    ['2w', '2026-06-01T12:00:00Z'],
    ['2026-01-31T10:20:30Z', '2026-01-31T10:20:30Z'],
    ['2026-01-31 10:20+02:00', '2026-01-31T08:20:00Z'],
    ['2026-01-31T10:20:30.25-01:30', '2026-01-31T11:50:30.250Z'],
  ])('%s is %s', (text, expected) => {
    expect(parseMoment(text, NOW)).toBe(Date.parse(expected));
  });

  it("uses this machine's time zone if it names none, also for a date without a time", () => {
    expect(parseMoment('2026-01-31', NOW)).toBe(new Date(2026, 0, 31).getTime());
    expect(parseMoment('2026-01-31T10:20', NOW)).toBe(new Date(2026, 0, 31, 10, 20).getTime());
  });

  it.each([
    '',
    '7',
    'd',
    '-7d',
    '7 d',
    '7y',
    'yesterday',
    '2026',
    '2026-13-01',
    '2026-01-31T25:00',
    '31.1.2026',
  ])('is refused as "%s"', (text) => {
    expect(() => parseMoment(text, NOW)).toThrow(InvalidArgumentError);
  });
});
