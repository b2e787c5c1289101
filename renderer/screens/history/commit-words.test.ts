import { describe, expect, it } from 'vitest';
import { openCommits } from './commit-words.ts';

const commits = (...ids: readonly string[]) => ids.map((commit) => ({ commit }));

describe('What stands open of a history', () => {
  it('is what was chosen, in the order of the list', () => {
    expect(openCommits(commits('c', 'b', 'a'), ['a', 'c'])).toEqual(['c', 'a']);
  });

  it('is the newest when nothing was chosen, or nothing of it is in the branch that is shown', () => {
    expect(openCommits(commits('c', 'b'), [])).toEqual(['c']);
    expect(openCommits(commits('c', 'b'), ['x', 'y'])).toEqual(['c']);
    expect(openCommits(commits('c', 'b'), ['x', 'b'])).toEqual(['b']);
    expect(openCommits([], ['x'])).toEqual([]);
  });
});
