import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderIdentity, nestingOf } from './folder-nesting.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-nesting-'));
  mkdirSync(join(root, 'photos/2024'), { recursive: true });
  mkdirSync(join(root, 'photos-2024'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** As a file system has it that takes no notice of case. */
const folding = (path: string) =>
  folderIdentity(path.startsWith(root) ? root + path.slice(root.length).toLowerCase() : path);

describe('Two folders', () => {
  it.each([
    ['photos', 'photos', 'same'],
    ['Photos', 'photos', 'same'],
    ['photos/2024', 'PHOTOS', 'firstInside'],
    ['Photos', 'photos/not/there/yet', 'secondInside'],
    ['photos', 'photos-2024', undefined],
    ['photos/2024', 'photos-2024', undefined],
    ['not/there', 'not', undefined],
  ])('%s and %s are told by what they are, not by their names: %s', (first, second, nesting) => {
    expect(nestingOf(join(root, first), join(root, second), folding)).toBe(nesting);
  });

  it('are told by their names where the file system does', () => {
    expect(nestingOf(join(root, 'photos/2024'), join(root, 'photos'))).toBe('firstInside');
    expect(nestingOf(join(root, 'photos/2024'), join(root, 'photos-2024'))).toBeUndefined();
  });
});
