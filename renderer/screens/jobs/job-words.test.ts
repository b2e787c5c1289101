import { describe, expect, it } from 'vitest';
import type { SavedJobCard } from '../../../engine/api/host/saved.ts';
import { JOB_KINDS } from './form/job-draft.ts';
import { kindWords, noticeLine, triggerWords } from './job-words.ts';

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

describe('kindWords', () => {
  it('marks no kind with a check, which a failed job would have too', () => {
    const icons = JOB_KINDS.map((kind) => kindWords({ kind } as SavedJobCard)[1]);
    expect(icons).not.toContain('check');
  });
});

describe('noticeLine', () => {
  it('says how and when a job sends notices', () => {
    expect(noticeLine()).toBe('Notification on failure and recovery');
    const mail = { desktop: false, mailTo: ['me@example.com'] };
    expect(noticeLine({ ...mail, on: ['failure'], days: 3 })).toBe(
      'Mail on failure, after 3 days without success',
    );
    const all = { mailTo: ['me@example.com'], webhookUrlFile: '/url', command: 'true' };
    expect(noticeLine({ ...all, on: [], days: 1 })).toBe(
      'Notification, mail, webhook and command after 1 day without success',
    );
  });

  it('says of a job that sends none that it sends none', () => {
    expect(noticeLine({ desktop: false })).toBe('No notices');
    expect(noticeLine({ on: [] })).toBe('No notices');
  });
});
