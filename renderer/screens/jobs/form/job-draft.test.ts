import { describe, expect, it } from 'vitest';
import { draftOf, EMPTY_FORM, isComplete } from './job-draft.ts';
import { splitWords } from './split-words.ts';

describe('a new job', () => {
  const copy = { ...EMPTY_FORM, name: 'night', source: '-odd', destination: 's3://bucket/a b' };

  it('of a copy keeps its places apart from its options', () => {
    expect(draftOf({ ...copy, options: "--exclude '*.tmp'" })).toEqual({
      name: 'night',
      words: ['copy', '--exclude', '*.tmp', '--', '-odd', 's3://bucket/a b'],
      notices: null,
    });
  });

  it('of a push runs in its workspace, and a pull does not watch it', () => {
    const push = { ...EMPTY_FORM, name: 'a', kind: 'push', root: '/data', onChange: true } as const;
    expect(draftOf(push)).toEqual({
      ...{ name: 'a', words: ['push'], directory: '/data', onChange: true, settle: '5s' },
      notices: null,
    });
    expect(draftOf({ ...push, kind: 'pull' })).toEqual({
      name: 'a',
      words: ['pull'],
      directory: '/data',
      notices: null,
    });
  });

  it('of a collection runs in its workspace, and does not watch it', () => {
    const gc = { ...EMPTY_FORM, name: 'space', kind: 'gc', root: '/data', options: '--grace 2d' } as const;
    expect(draftOf({ ...gc, onChange: true })).toEqual({
      ...{ name: 'space', words: ['gc', '--grace', '2d'], directory: '/data' },
      notices: null,
    });
    expect([isComplete(gc), isComplete({ ...gc, root: '' })]).toEqual([true, false]);
  });

  it('has its week as cron, and needs a time of day', () => {
    const weekly = { ...copy, schedule: 'weekly', time: '04:05', weekday: '0' } as const;
    expect(draftOf(weekly).cron).toEqual(['5 4 * * 0']);
    expect([isComplete(weekly), isComplete({ ...weekly, time: '25:00' })]).toEqual([true, false]);
    expect(isComplete(EMPTY_FORM)).toBe(false);
  });
});

describe('splitWords', () => {
  it.each([
    ['', []],
    ['--a  b', ['--a', 'b']],
    [`--a='x y' "it's"`, ['--a=x y', "it's"]],
  ])('of %j is %j', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });
});
