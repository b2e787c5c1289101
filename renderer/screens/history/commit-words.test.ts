import { describe, expect, it } from 'vitest';
import { authorName, openCommits } from './commit-words.ts';

const commits = (...ids: readonly string[]) => ids.map((commit) => ({ commit }));

describe('The selected commits of a history', () => {
  it('are the chosen ones, in the order of the list', () => {
    expect(openCommits(commits('c', 'b', 'a'), ['a', 'c'])).toEqual(['c', 'a']);
  });

  it('are the newest one if none was chosen, or no chosen one is in the shown branch', () => {
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

  it('is found in linear time in a text of many spaces and brackets', () => {
    const spaces = ' '.repeat(50_000);
    expect(authorName(`a${spaces}b`)).toBe(`a${spaces}b`);
    const brackets = '<'.repeat(50_000);
    expect(authorName(brackets)).toBe(brackets);
  });
});
