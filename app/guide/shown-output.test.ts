import { describe, expect, it } from 'vitest';
import { takeHashes, withOneHash } from './shown-output.fixture.ts';

const known = () => ({ actualOf: new Map<string, string>(), shownOf: new Map<string, string>() });

describe('The hashes of a page', () => {
  it('stand for one hash of the run each, whether they are shown long or short', () => {
    const hashes = known();
    const long = `${'a'.repeat(9)}1`;
    expect(takeHashes(hashes, ['main is at e6c118f490.'], [`main is at ${long}.`])).toBe(true);
    expect(
      takeHashes(hashes, [`commit e6c118f490${'0'.repeat(54)}`], [`commit ${long}${'f'.repeat(54)}`]),
    ).toBe(true);
    expect(takeHashes(hashes, ['main at 394cdffff3.'], [`main at ${long}.`])).toBe(false);
    expect(takeHashes(hashes, ['main at e6c118f490.'], ['main at bbbbbbbbb2.'])).toBe(false);
  });

  it('are compared before and after the lines that a page leaves out', () => {
    const hashes = known();
    expect(takeHashes(hashes, ['at e6c118f490'], ['at aaaaaaaaa1'])).toBe(true);
    const output = ['first aaaaaaaaa1', 'more ccccccccc3', 'last aaaaaaaaa1'];
    expect(takeHashes(hashes, ['first e6c118f490', '[...]', 'last e6c118f490'], output)).toBe(true);
    expect(takeHashes(hashes, ['first e6c118f490', '[...]', 'last 394cdffff3'], output)).toBe(false);
  });

  it('are corrected to those of the earlier blocks', () => {
    const hashes = known();
    takeHashes(hashes, ['at e6c118f490'], ['at aaaaaaaaa1']);
    expect(withOneHash(hashes, ['again 394cdffff3, in 1 s'], ['again aaaaaaaaa1, in 9 s'])).toEqual([
      'again e6c118f490, in 1 s',
    ]);
  });
});
