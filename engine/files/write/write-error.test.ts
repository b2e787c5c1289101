import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { writeError } from './write-error.ts';

function failure(errno: string): Error {
  return Object.assign(new Error(`${errno}: something`), { code: errno });
}

describe('writeError', () => {
  it.each([
    ['ENOSPC', 'diskFull'],
    ['EDQUOT', 'diskFull'],
    ['ENAMETOOLONG', 'unsafePath'],
    ['EILSEQ', 'unsafePath'],
    ['EACCES', 'io'],
    ['EROFS', 'io'],
    ['EXDEV', 'io'],
    ['EIO', 'io'],
  ])('translates %s to %s and names the path of the workspace', (errno, code) => {
    const error = writeError(failure(errno), 'a/b');
    expect(error).toMatchObject({ code, data: { path: 'a/b', errno } });
    expect(error.message).toContain('a/b');
  });

  it('keeps a translated error unchanged', () => {
    const known = new DrayError('damaged', 'x');
    expect(writeError(known, 'a')).toBe(known);
  });
});
