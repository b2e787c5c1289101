import { describe, expect, it } from 'vitest';
import { triggerWords } from './job-words.ts';

describe('triggerWords', () => {
  it.each([
    ['0 3 * * *', 'every day at 03:00'],
    ['30 2 * * sun', 'Sundays at 02:30'],
    ['5 14 * * 7', 'Sundays at 14:05'],
    ['0 3 * * mon-fri', 'by cron 0 3 * * mon-fri'],
    ['*/5 * * * *', 'by cron */5 * * * *'],
    ['0 3 1 * *', 'by cron 0 3 1 * *'],
  ])('says of cron "%s" that it means %s', (expression, words) => {
    expect(triggerWords({ on: 'cron', expression })).toBe(words);
  });

  it('names the largest whole unit of a span', () => {
    expect(triggerWords({ on: 'every', everyMs: 90 * 60_000 })).toBe('every 90 minutes');
    expect(triggerWords({ on: 'every', everyMs: 3_600_000 })).toBe('every 1 hour');
  });
});
