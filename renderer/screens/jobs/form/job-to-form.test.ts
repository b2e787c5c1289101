import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NoticeSettings, SavedJobCard, SavedTrigger } from '../../../../engine/api/host/saved.ts';
import { draftOf } from './job-draft.ts';
import { formOfJob } from './job-to-form.ts';
import { NO_NOTICES, noticesIn, withKnownMail } from './notice-draft.ts';
import { joinWords, splitWords } from './split-words.ts';

function card(more: Partial<SavedJobCard>): SavedJobCard {
  const words = ['copy', 'photos', 's3://bucket/a b', '--exclude', '*.tmp'];
  return {
    ...{ name: 'night', version: '1', kind: 'copy', arguments: words, places: ['photos', 's3://bucket/a b'] },
    ...{ directory: '/home/me', triggers: [], state: 'idle' as const },
    ...more,
  };
}

describe('the form of a saved job', () => {
  it('has its places and its options apart, and means the same command', () => {
    const form = formOfJob(card({}));
    expect(form).toMatchObject({
      source: 'photos',
      destination: 's3://bucket/a b',
      options: '--exclude *.tmp',
    });
    expect(draftOf(form)).toEqual({
      ...{ name: 'night', version: '1', directory: '/home/me' },
      words: ['copy', '--exclude', '*.tmp', '--', 'photos', 's3://bucket/a b'],
      notices: null,
    });
  });

  it.each([
    ['a place is also the value of an option', ['copy', 'a', 'b', '--exclude', 'a'], ['a', 'b'], 'copy'],
    ['an option stands before the command', ['-q', 'copy', 'a', 'b'], ['a', 'b'], 'copy'],
    ['a word has a line break', ['push', '-m', 'one\ntwo'], [], 'push'],
    ['a pull names a version', ['pull', 'v1'], ['v1'], 'pull'],
    ['an earlier version saved it', ['copy', 'a', 'b'], [], undefined],
  ])('has the whole line where %s', (_why, words, places, kind) => {
    const { kind: _, ...rest } = card({ arguments: words, places });
    const form = formOfJob(kind === undefined ? rest : { ...rest, kind });
    expect(form.line).toBe(joinWords(words));
    expect(draftOf(form).words).toEqual(words);
    expect(draftOf(form).directory).toBe('/home/me');
  });

  it('keeps starts that it has no fields for', () => {
    const triggers: readonly SavedTrigger[] = [
      { on: 'every', everyMs: 5_400_000 },
      { on: 'cron', expression: '0 3 * * *' },
      { on: 'cron', expression: '*/5 1 2 3 *' },
      { on: 'change', folder: '/home/me/photos', settleMs: 90_000 },
      { on: 'mount', path: '/media/a' },
      { on: 'mount', path: '/media/b' },
      { on: 'login' },
    ];
    expect(draftOf(formOfJob(card({ triggers })))).toMatchObject({
      ...{ every: '90m', cron: ['0 3 * * *', '*/5 1 2 3 *'], onChange: true, settle: '90s' },
      ...{ onMount: ['/media/a', '/media/b'], atLogin: true },
    });
  });

  it.each<NoticeSettings>([
    { on: ['failure', 'recovery'], days: 7 },
    { on: ['recovery'], desktop: false },
    { on: ['failure'], webhookUrlFile: '/url', webhookKeyFile: '/key', command: 'a b' },
    {
      ...{
        on: ['failure', 'recovery'],
        mailTo: ['a@b.c', 'd@e.f'],
        mailFrom: 'a@b.c',
        mailServer: 'smtps://b.c',
      },
      ...{ mailUser: 'a', mailPasswordFile: '/password' },
    },
  ])('keeps its notices: %j', (notices) => {
    expect(draftOf(formOfJob(card({ notices }))).notices).toEqual(notices);
  });

  it('knows the mail account of another job', () => {
    const mail = { mailTo: ['a@b.c'], mailFrom: 'a@b.c', mailServer: 'smtps://b.c', mailUser: 'a' };
    const form = withKnownMail({ ...NO_NOTICES, mailTo: 'x@y.z' }, [card({}), card({ notices: mail })]);
    expect(noticesIn(form)).toMatchObject({ ...mail, mailTo: ['x@y.z'] });
  });

  it.each([
    ['30 4 * * *', { schedule: 'daily', time: '04:30' }],
    ['5 14 * * 0', { schedule: 'weekly', time: '14:05', weekday: '0' }],
    ['0 3 * * mon-fri', { schedule: 'cron', cron: '0 3 * * mon-fri' }],
    ['61 3 * * *', { schedule: 'cron', cron: '61 3 * * *' }],
  ])('shows the schedule %s', (expression, fields) => {
    expect(formOfJob(card({ triggers: [{ on: 'cron', expression }] }))).toMatchObject(fields);
  });
});

it('words survive a field of text', () => {
  const word = fc.stringMatching(/^[a-c'" \\*\n]{0,6}$/);
  fc.assert(
    fc.property(fc.array(word), (words) => {
      expect(splitWords(joinWords(words))).toEqual(words);
    }),
  );
});
