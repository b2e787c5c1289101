import { describe, expect, it } from 'vitest';
import type { EntryRow } from '../../../../engine/api/host/browse.ts';
import { chooseOnly, chosenOf, EVERYTHING, isChosen, NOTHING, toggleChoice } from './choice.ts';

const entry = (path: string, sizeBytes = 1): EntryRow => ({ path, kind: 'file', sizeBytes });
const VIEW = {
  list: 'list',
  filter: 'a',
  total: 1_000_000,
  bytes: 5_000_000,
  firstRows: [entry('a0'), entry('a1')],
  isWhole: true,
};

describe('what is chosen in a pane', () => {
  it('is nothing at first, and names each entry that is added', () => {
    const choice = toggleChoice(toggleChoice(NOTHING, entry('one', 3)), entry('two', 4));
    expect(chosenOf(choice, VIEW)).toEqual({ count: 2, bytes: 7, rows: [entry('one', 3), entry('two', 4)] });
    expect(isChosen(toggleChoice(choice, entry('one')), 'one')).toBe(false);
    expect(chosenOf(chooseOnly([entry('x')]), VIEW).count).toBe(1);
  });

  it('of a million entries names only the exceptions', () => {
    const choice = toggleChoice(EVERYTHING, entry('a1', 500));
    expect(isChosen(choice, 'a1')).toBe(false);
    expect(isChosen(choice, 'a2')).toBe(true);
    expect(chosenOf(choice, VIEW)).toEqual({
      count: 999_999,
      bytes: 4_999_500,
      rows: [entry('a0')],
      all: { list: 'list', filter: 'a', except: ['a1'] },
    });
    expect(isChosen(toggleChoice(choice, entry('a1')), 'a1')).toBe(true);
    expect(chosenOf(choice, { ...VIEW, isWhole: false })).toMatchObject({ isPart: true });
  });
});
