import { describe, expect, it } from 'vitest';
import { createNameClashes } from './name-clashes.ts';

const inForm = (path: string, other: string) => path.normalize('NFC') === other.normalize('NFC');
const inCase = (path: string, other: string) => path.toLowerCase() === other.toLowerCase();

function refused(areOne: (path: string, other: string) => boolean, paths: readonly string[]): string[] {
  const clashes = createNameClashes(areOne);
  return paths.filter((path) => clashes(path) !== undefined);
}

describe('names that clash', () => {
  const paths = [
    'Data/x',
    'Makefile',
    'data/y',
    'e\u0301/x',
    'makefile',
    'strasse',
    'stra\u00dfe',
    '\u00e9/y',
  ];

  it('are not those that differ in case when only Unicode form is ignored', () => {
    expect(refused(inForm, paths)).toEqual(['\u00e9/y']);
  });

  it('are not those that differ in form or more than case when only case is ignored', () => {
    expect(refused(inCase, paths)).toEqual(['data/y', 'makefile']);
  });

  it('are reported with the name that is in the way', () => {
    const clashes = createNameClashes(inCase);
    clashes('Data/x');
    expect(clashes('data/y')).toMatchObject({ code: 'unsafePath', data: { path: 'data/y', other: 'Data/' } });
    expect(clashes('data/z')).toMatchObject({ code: 'unsafePath', data: { path: 'data/z', other: 'Data/' } });
  });
});
