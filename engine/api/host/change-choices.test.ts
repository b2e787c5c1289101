import { describe, expect, it } from 'vitest';
import {
  type Choices,
  chosenPaths,
  decide,
  decideAll,
  keepChoices,
  NO_CHOICES,
  readChoices,
  recordChoices,
  skipOf,
  skippedPaths,
  skippedTotals,
  skipRows,
  tickOf,
  toggleSkip,
  winnerOf,
} from './change-choices.ts';
import type { ChangeRow } from './changes.ts';

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
  it('exclude a row and include it again', () => {
    const left = toggleSkip(NO_CHOICES, file('a/b.txt', { change: 'deleted' }));
    expect(skipOf(left, 'a/b.txt')).toBe('itself');
    expect(skippedTotals(left)).toEqual({ rows: 1, deleted: 1, bytes: 0 });
    expect(skippedTotals(toggleSkip(left, file('a/b.txt')))).toEqual({ rows: 0, deleted: 0, bytes: 0 });
  });

  it('exclude a whole folder, which replaces exclusions inside it, and no other folder', () => {
    const one = toggleSkip(NO_CHOICES, file('a/b.txt'));
    const all = skipRows(one, [folder('a/', 7, 2)]);
    expect(skippedPaths(all)).toEqual(['a/']);
    expect(skippedTotals(all)).toEqual({ rows: 7, deleted: 2, bytes: 70 });
    expect(skipOf(all, 'a/c/d.txt')).toBe('above');
    expect(skipOf(all, 'ab/c.txt')).toBeUndefined();
    expect(toggleSkip(all, file('a/b.txt'))).toBe(all);
  });

  it('tick a folder partly if some of its rows are excluded, otherwise fully or not at all', () => {
    const all = folder('a/', 3, 0);
    const ticks = (choices: Choices) => [tickOf(choices, all), tickOf(choices, folder('a/b/', 2, 0))];
    const one = toggleSkip(NO_CHOICES, file('a/b/c.txt'));
    expect(ticks(NO_CHOICES)).toEqual(['all', 'all']);
    expect(ticks(one)).toEqual(['some', 'some']);
    const two = toggleSkip(one, file('a/b/d.txt'));
    expect(ticks(two)).toEqual(['some', 'none']);
    const three = toggleSkip(two, file('a/e.txt'));
    expect(ticks(three)).toEqual(['none', 'none']);
    expect(ticks(toggleSkip(NO_CHOICES, all))).toEqual(['none', 'none']);
  });

  it('include the whole of a partly excluded folder, and exclude a fully ticked one', () => {
    const some = toggleSkip(NO_CHOICES, file('a/b.txt'));
    const whole = toggleSkip(some, folder('a/', 7, 2));
    expect(skippedPaths(whole)).toEqual([]);
    expect(skippedPaths(toggleSkip(whole, folder('a/', 7, 2)))).toEqual(['a/']);
  });

  it('tick folders after many steps as if their exclusions were counted anew', () => {
    const folders = [folder('a/', 9, 0), folder('a/b/', 5, 0), folder('c/', 4, 0)];
    const files = ['a/b/1', 'a/b/2', 'a/3', 'c/4', 'c/d/5', '6'].map((path) => file(path));
    const rows = [...folders, ...files];
    let choices: Choices = NO_CHOICES;
    for (let step = 0; step < 500; step += 1) {
      choices = toggleSkip(choices, rows[(step * step * 7 + step * 3) % rows.length]!);
      const anew = readChoices(recordChoices(choices));
      const ticks = (of: Choices) => rows.map((row) => tickOf(of, row));
      expect(ticks(choices)).toEqual(ticks(anew));
    }
  });

  it('name both paths of a rename', () => {
    const left = toggleSkip(NO_CHOICES, file('new.bin', { change: 'renamed', fromPath: 'old.bin' }));
    expect(skippedPaths(left)).toEqual(['new.bin', 'old.bin']);
  });
});

describe('the choices of a pull', () => {
  it('decide one conflict, until a decision for all replaces it', () => {
    const one = decide(decideAll(NO_CHOICES, 'ours'), 'a', 'theirs');
    expect([winnerOf(one, 'a'), winnerOf(one, 'b')]).toEqual(['theirs', 'ours']);
    expect(winnerOf(decideAll(one, 'ours'), 'a')).toBe('ours');
    expect(winnerOf(NO_CHOICES, 'a')).toBeUndefined();
  });
});

describe('the choices in a refreshed list', () => {
  it('stay for rows with the same change, and count their current sizes', () => {
    const renamed = file('new.bin', { change: 'renamed', fromPath: 'old.bin' });
    const rows = [file('same.txt'), file('gone.txt'), file('other.txt'), renamed, folder('a/', 7, 2)];
    const before = rows.reduce(toggleSkip, NO_CHOICES);
    expect(chosenPaths(before)).toEqual(['same.txt', 'gone.txt', 'other.txt', 'new.bin', 'a/']);
    const now = [
      file('same.txt', { sizeBytes: 5 }),
      file('other.txt', { change: 'deleted' }),
      { ...renamed, fromPath: 'another.bin' },
      { ...folder('a/', 3, 0), change: 'added' } as const,
    ];
    const kept = keepChoices(before, now, true);
    expect(skippedPaths(kept)).toEqual(['same.txt', 'a/']);
    expect(skippedTotals(kept)).toEqual({ rows: 4, deleted: 0, bytes: 35 });
  });

  it('stay for conflicts that still exist, and for all conflicts until a new one appears', () => {
    const before = decide(decide(decideAll(NO_CHOICES, 'theirs'), 'a', 'ours'), 'b', 'ours');
    const now = [file('a', { change: 'conflict' }), file('b')];
    expect([...keepChoices(before, now, true).decided]).toEqual([['a', 'ours']]);
    expect(winnerOf(keepChoices(before, now, true), 'c')).toBe('theirs');
    expect(winnerOf(keepChoices(before, now, false), 'c')).toBeUndefined();
  });
});
