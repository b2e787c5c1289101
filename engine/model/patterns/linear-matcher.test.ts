import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../base/long-it.fixture.ts';
import { ANY, createLinearMatcher, type Part, SOME } from './linear-matcher.ts';

const letter = (wanted: string, count: () => void = () => {}): Part => ({
  kind: 'one',
  accepts: (code) => {
    count();
    return code === wanted.codePointAt(0);
  },
});

/** Random parts with the equivalent regular expression. */
const sequences = fc.letrec<{ parts: [Part[], string]; part: [Part, string] }>((tie) => ({
  parts: fc
    .array(tie('part'), { maxLength: 4, depthIdentifier: 'parts' })
    .map((all) => [all.map(([part]) => part), all.map(([, text]) => text).join('')]),
  part: fc.oneof(
    { depthIdentifier: 'parts', maxDepth: 3 },
    fc.constantFrom('a', 'b', '/', '\u{1f600}').map((one): [Part, string] => [letter(one), one]),
    fc.constant<[Part, string]>([SOME, '[^/]*']),
    fc.constant<[Part, string]>([ANY, '.*']),
    tie('parts').map(([of, text]): [Part, string] => [{ kind: 'many', of }, `(?:${text})*`]),
    fc
      .array(tie('parts'), { minLength: 1, maxLength: 3 })
      .map((all): [Part, string] => [
        { kind: 'either', of: all.map(([parts]) => parts) },
        `(?:${all.map(([, text]) => text).join('|')})`,
      ]),
  ),
})).parts;
const texts = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\u{1f600}', '\ud83d'), maxLength: 8 });

describe('a list of patterns', () => {
  it('matches exactly what the equivalent regular expressions match', () => {
    const pattern = fc.record({ sequence: sequences, isFloating: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(pattern, { maxLength: 4 }),
        fc.array(texts, { maxLength: 6 }),
        (patterns, asked) => {
          const matcher = createLinearMatcher(
            patterns.map(({ isFloating, sequence: [parts] }) => ({ parts, isFloating })),
          );
          const expressions = patterns.map(
            ({ isFloating, sequence: [, source] }) =>
              new RegExp(`^${isFloating ? '(?:|.*/)' : ''}(?:${source})$`, 'su'),
          );
          for (const text of asked) {
            const matching = expressions.flatMap((expression, at) => (expression.test(text) ? [at] : []));
            expect(matcher.matchesOf(text)).toEqual(matching);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('costs at most one step for each part and character, unlike backtracking', () => {
    let steps = 0;
    const a = letter('a', () => {
      steps += 1;
    });
    const nested: Part = {
      kind: 'many',
      of: [
        { kind: 'many', of: [a] },
        { kind: 'many', of: [a] },
      ],
    };
    const parts = [...Array.from({ length: 10 }, () => [ANY, a]).flat(), nested, nested, letter('b')];
    const matcher = createLinearMatcher([{ parts, isFloating: true }]);
    const text = 'a'.repeat(100_000);
    expect(matcher.matchesOf(text)).toEqual([]);
    expect(matcher.matchesOf(`${text}b`)).toEqual([0]);
    expect(steps).toBeGreaterThan(0);
    expect(steps).toBeLessThan(14 * 100);
  });

  longIt('keeps matching in bounded memory when it has more states than it can store', () => {
    let steps = 0;
    const count = () => {
      steps += 1;
    };
    // Whether each of the last 30 characters was an "a": about 2 ** 30 states.
    const isEither: Part = { kind: 'one', accepts: () => true };
    const parts = [ANY, letter('a', count), ...Array.from({ length: 30 }, () => isEither)];
    const matcher = createLinearMatcher([{ parts, isFloating: false }]);
    const [random] = fc.sample(
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 20_020, maxLength: 20_020 }),
      {
        numRuns: 1,
        seed: 19,
      },
    );
    for (let end = 20_000; end < 20_010; end += 1)
      expect(matcher.matchesOf(random!.slice(0, end))).toEqual(random![end - 31] === 'a' ? [0] : []);
    expect(steps).toBeGreaterThan(20_000);
    expect(steps).toBeLessThanOrEqual(10 * 20_010);
  });
});
