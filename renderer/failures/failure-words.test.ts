import { describe, expect, it } from 'vitest';
import { DrayError, ERROR_CODES, exitCodeOf } from '../../engine/api/error.ts';
import { adviceFor, commandDetail, failureWords } from './failure-words.ts';

const COMMAND = /\bdray [a-z]|--[a-z]|[A-Z]+_[A-Z]/;

describe('The words for an error', () => {
  it.each(ERROR_CODES)('leave its command out, and offer it as a detail: %s', (code) => {
    expect(exitCodeOf(code)).toBeGreaterThan(0);
    const error = new DrayError(code, 'It did not work.', {
      data: { paths: ['a.csv'], count: 12, owner: 7 },
      advice: 'Run "dray push --force" with AWS_PROFILE.',
      command: 'dray push --force',
    });
    expect(`${failureWords(error)} ${adviceFor(error).text}`).not.toMatch(COMMAND);
    expect(commandDetail(error)).toEqual({ advice: error.data.advice, command: 'dray push --force' });
  });

  it('are the engine\u2019s own where nothing better is known, and then offer no command', () => {
    const error = new DrayError('io', 'The file a.csv cannot be read.');
    expect(failureWords(error)).toBe('The file a.csv cannot be read.');
    expect(commandDetail(error)).toBeUndefined();
  });

  it('say why the environment gives no password, and that the repository is locked', () => {
    const data = { remote: 's3://b/p', repository: 'r', check: 'c', reason: 'passwordSource' };
    const error = new DrayError('noPassword', 'The password file /gone does not exist.', { data });
    expect(failureWords(error)).toBe(
      'The password file /gone does not exist. The repository at s3://b/p is encrypted, and is locked here.',
    );
  });

  it('name what is missing, and lead to the screen that mends it', () => {
    const gone = new DrayError('usage', 'There is no profile "lab".', {
      data: { profile: 'lab', reason: 'noProfile' },
    });
    expect(failureWords(gone)).toContain('The keys of \u201clab\u201d are not here');
    expect(adviceFor(new DrayError('conflict', 'Both changed.')).go?.screen).toBe('changes');
    const emptied = new DrayError('manyEmptied', 'm', { data: { count: 12, paths: ['a.csv'] } });
    expect(failureWords(emptied)).toContain('12 files have become empty');
    expect(adviceFor(new DrayError('conflict', 'm', { data: { reason: 'refExists' } })).go).toBeUndefined();
    for (const reason of ['switch', 'wouldLose', 'refMoved'])
      expect(adviceFor(new DrayError('conflict', 'm', { data: { reason } })).text).not.toMatch(
        /which version/,
      );
  });
});
