import { describe, expect, it } from 'vitest';
import { authorName, openCommits } from './commit-words.ts';

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

describe('The name of an author', () => {
  it.each([
    ['Ada Okafor <ada@example.org>', 'Ada Okafor'],
    ['Ada <a> <ada@example.org> ', 'Ada <a>'],
    ['Ada <a <b>', 'Ada'],
    ['Ada >', 'Ada >'],
    ['Ada', 'Ada'],
    ['<ada@example.org>', '<ada@example.org>'],
    ['', ''],
  ])('of %j is %j', (author, name) => expect(authorName(author)).toBe(name));

  it('is found in a text of many spaces and brackets, which is looked through once', () => {
    const spaces = ' '.repeat(50_000);
    expect(authorName(`a${spaces}b`)).toBe(`a${spaces}b`);
    const brackets = '<'.repeat(50_000);
    expect(authorName(brackets)).toBe(brackets);
  });
});
