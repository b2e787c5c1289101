import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longIt } from '../base/long-it.fixture.ts';
import { comparePaths } from './entry.ts';
import { collisionFinder, foldName, type NameCollision } from './name-collisions.ts';

function findNameCollisions(paths: readonly string[]): readonly NameCollision[] {
  const finder = collisionFinder();
  return paths.flatMap((path) => finder.add(path));
}

function find(...paths: string[]): string[] {
  return [...findNameCollisions(paths.sort(comparePaths))].map(({ path, other }) => `${other} ~ ${path}`);
}

describe('name collisions', () => {
  it('are found between names that differ in case', () => {
    expect(find('readme', 'README', 'ReadMe')).toEqual(['README ~ ReadMe', 'README ~ readme']);
  });

  it('are found between folders with different content', () => {
    expect(find('A/x', 'a/y', 'b/c')).toEqual(['A/ ~ a/']);
  });

  it('are found between a folder and a file', () => {
    expect(find('A/x', 'a')).toEqual(['A/ ~ a']);
    expect(find('A', 'a/x', 'empty/', 'EMPTY')).toEqual(['A ~ a/', 'EMPTY ~ empty/']);
  });

  it('are found once for each folder, not for each path in it', () => {
    expect(find('A/x', 'a/x', 'a/y', 'a/z/x')).toEqual(['A/ ~ a/']);
  });

  it('are not seen between names of different folders', () => {
    expect(find('a/X', 'b/x', 'X/a', 'y/A')).toEqual([]);
  });

  it.each([
    ['e\u0301', '\u00e9'],
    ['E\u0301', '\u00e9'],
    ['mass', 'ma\u00df'],
    ['MASS', 'Ma\u00df'],
    ['k', '\u212a'],
    ['s/x', '\u017f'],
    ['\u03c3', '\u03c2'],
    ['\u{10400}', '\u{10428}'],
    ['\u00c9', 'e\u0301/x'],
  ])('are found between %s and %s', (one, two) => {
    expect(find(one, two)).toHaveLength(1);
    expect(find(`folder/${one}`, `folder/${two}`, 'folder/zz')).toHaveLength(1);
  });

  it('are reported path by path, as soon as they occur', () => {
    const finder = collisionFinder();
    expect(finder.add('A/B/x')).toEqual([]);
    expect(finder.add('A/b/x')).toEqual([{ path: 'A/b/', other: 'A/B/' }]);
    expect(finder.add('a/b')).toEqual([{ path: 'a/', other: 'A/' }]);
  });

  it('are limited to the pairs that the given check confirms, each name against every earlier one', () => {
    const inForm = (path: string, other: string) => path.normalize('NFC') === other.normalize('NFC');
    const finder = collisionFinder(inForm);
    const names = ['E\u0301/x', 'MAKE', 'e\u0301', 'make', '\u00c9/y', '\u00e9'];
    expect(names.flatMap((name) => finder.add(name))).toEqual([
      { path: '\u00c9/', other: 'E\u0301/' },
      { path: '\u00e9', other: 'e\u0301' },
    ]);
  });

  it('are the same as in a comparison of all siblings at once', () => {
    const name = fc.constantFrom(
      'a',
      'A',
      'ab',
      'aB',
      'AB',
      'b',
      's',
      'ss',
      '\u00df',
      '\u017f',
      '\u00e9',
      'e\u0301',
      'E\u0301',
      'a-',
      'k',
      '\u212a',
    );
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 30 }), (paths) => {
        const files = paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`)));
        const found = [...findNameCollisions(files.sort(comparePaths))].map((collision) => collision.path);
        expect(found.sort()).toEqual(findPlainly(files).sort());
      }),
      { numRuns: 500 },
    );
  });

  longIt('use a fold that every character shares with its upper and its lower case', () => {
    const offences: string[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      const folded = foldName(character);
      const others = [folded, character.toUpperCase(), character.toLowerCase()];
      if (others.some((other) => foldName(other) !== folded)) offences.push(code.toString(16));
    }
    expect(offences).toEqual([]);
  });

  it('find the capital sharp s beside the small one and beside "ss"', () => {
    const found = (paths: readonly string[]) => [...findNameCollisions(paths)].map(({ path }) => path);
    expect(found(['Ma\u00dfe', 'Ma\u1e9ee'])).toEqual(['Ma\u1e9ee']);
    expect(found(['MASSE', 'Ma\u1e9ee'])).toEqual(['Ma\u1e9ee']);
  });

  it('use a fold that is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(foldName(foldName(name))).toBe(foldName(name));
      }),
    );
  });
});

/** Every name but the first of those with the same fold in one folder. */
function findPlainly(files: readonly string[]): string[] {
  const siblings = new Set<string>();
  for (const path of files) {
    const parts = path.split('/');
    for (let count = 1; count <= parts.length; count += 1) {
      siblings.add(parts.slice(0, count).join('/') + (count < parts.length ? '/' : ''));
    }
  }
  const met = new Set<string>();
  return [...siblings].sort(comparePaths).filter((path) => {
    const bare = path.replace(/\/$/, '');
    const start = bare.lastIndexOf('/') + 1;
    const key = bare.slice(0, start) + foldName(bare.slice(start));
    if (met.has(key)) return true;
    met.add(key);
    return false;
  });
}
