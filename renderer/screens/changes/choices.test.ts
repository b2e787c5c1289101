import { describe, expect, it } from 'vitest';
import type { ChangeRow } from '../../../engine/api/host.ts';
import {
  decide,
  decideAll,
  NO_CHOICES,
  skipOf,
  skippedPaths,
  skippedTotals,
  toggleSkip,
  winnerOf,
} from './choices.ts';

const file = (path: string, more: Partial<ChangeRow> = {}): ChangeRow => ({
  change: 'added',
  path,
  kind: 'file',
  sizeBytes: 1,
  ...more,
});
const folder = (path: string, rows: number, deleted: number): ChangeRow => ({
  change: 'modified',
  path,
  kind: 'folder',
  sizeBytes: rows,
  below: { rows, deleted, bytes: 10 * rows },
});

describe('the choices of a push', () => {
  it('leave a row out and take it in again', () => {
    const left = toggleSkip(NO_CHOICES, file('a/b.txt', { change: 'deleted' }));
    expect(skipOf(left, 'a/b.txt')).toBe('itself');
    expect(skippedTotals(left)).toEqual({ rows: 1, deleted: 1, bytes: 0 });
    expect(skippedTotals(toggleSkip(left, file('a/b.txt')))).toEqual({ rows: 0, deleted: 0, bytes: 0 });
  });

  it('leave all of a folder out, in the place of what was left out in it, and of no folder beside it', () => {
    const one = toggleSkip(NO_CHOICES, file('a/b.txt'));
    const all = toggleSkip(one, folder('a/', 7, 2));
    expect(skippedPaths(all)).toEqual(['a/']);
    expect(skippedTotals(all)).toEqual({ rows: 7, deleted: 2, bytes: 70 });
    expect(skipOf(all, 'a/c/d.txt')).toBe('above');
    expect(skipOf(all, 'ab/c.txt')).toBeUndefined();
    expect(toggleSkip(all, file('a/b.txt'))).toBe(all);
  });

  it('name both paths of a rename', () => {
    const left = toggleSkip(NO_CHOICES, file('new.bin', { change: 'renamed', fromPath: 'old.bin' }));
    expect(skippedPaths(left)).toEqual(['new.bin', 'old.bin']);
  });
});

describe('the choices of a pull', () => {
  it('decide one conflict before all, and all at once take that back', () => {
    const one = decide(decideAll(NO_CHOICES, 'ours'), 'a', 'theirs');
    expect([winnerOf(one, 'a'), winnerOf(one, 'b')]).toEqual(['theirs', 'ours']);
    expect(winnerOf(decideAll(one, 'ours'), 'a')).toBe('ours');
    expect(winnerOf(NO_CHOICES, 'a')).toBeUndefined();
  });
});
