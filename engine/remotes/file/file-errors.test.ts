import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { toFileError } from './file-errors.ts';

const system = (code: string) => Object.assign(new Error(`${code}: it failed`), { code });

describe('Errors of the file system', () => {
  it('become codes that name the path', () => {
    for (const [code, expected] of [
      ['ENOSPC', 'diskFull'],
      ['EDQUOT', 'diskFull'],
      ['EACCES', 'accessDenied'],
      ['EROFS', 'accessDenied'],
      ['ENAMETOOLONG', 'unsafePath'],
      ['ENOTDIR', 'unsafePath'],
      ['EIO', 'io'],
      ['ESTALE', 'unreachable'],
    ] as const) {
      const error = toFileError(system(code), '/data/x');
      expect(error).toMatchObject({ code: expected, data: { path: '/data/x', systemCode: code } });
      expect((error as DrayError).message).toContain('/data/x');
    }
  });

  it('have the code of an error that Node has no name for', () => {
    const error = toFileError(system('Unknown system error -116'), '/x');
    expect(error).toMatchObject({ code: 'unreachable', data: { systemCode: 'ESTALE' }, retry: 'retry' });
  });

  it('may be retried if they are temporary, and not otherwise', () => {
    expect(toFileError(system('EMFILE'), '/x')).toMatchObject({ retry: 'retry' });
    expect(toFileError(system('ESTALE'), '/x')).toMatchObject({ retry: 'retry' });
    expect(toFileError(system('ENOSPC'), '/x')).toMatchObject({ retry: 'no' });
  });

  it('pass unchanged if they are DrayErrors or not errors of the system', () => {
    const known = new DrayError('aborted', 'Stopped.');
    expect(toFileError(known, '/x')).toBe(known);
    const foreign = new TypeError('a mistake');
    expect(toFileError(foreign, '/x')).toBe(foreign);
  });
});
