import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CommitHash } from '../model/entry.ts';
import { findMergeBases, isInHistory } from './merge-bases.ts';

interface Drawn {
  readonly parents: readonly number[];
  readonly time: string;
}

/** Each commit has earlier ones as parents; its clock may be wrong. */
const histories = fc
  .array(fc.record({ picks: fc.array(fc.nat(), { maxLength: 3 }), time: fc.nat({ max: 9 }) }), {
    minLength: 1,
    maxLength: 16,
  })
  .map((drawn) =>
    drawn.map(
      ({ picks, time }, at): Drawn => ({
        parents: at === 0 ? [] : [...new Set(picks.map((pick) => pick % at))],
        time: String(time),
      }),
    ),
  );

const nameOf = (at: number) => `c${String(at).padStart(2, '0')}` as CommitHash;
const readerOf = (history: readonly Drawn[]) => async (hash: CommitHash) => {
  const { parents, time } = history[Number(hash.slice(1))]!;
  return { parents: parents.map(nameOf), time };
};

function ancestorsOf(history: readonly Drawn[], at: number): Set<number> {
  const all = new Set([at]);
  for (const each of all) for (const parent of history[each]!.parents) all.add(parent);
  return all;
}

describe('the merge bases of two commits', () => {
  it('are the common ancestors that no other common ancestor leads to, whatever the clocks say', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.nat(), fc.nat(), async (history, left, right) => {
        const [one, other] = [left % history.length, right % history.length];
        const common = [...ancestorsOf(history, one)].filter((at) => ancestorsOf(history, other).has(at));
        const best = common.filter(
          (at) => !common.some((later) => later !== at && ancestorsOf(history, later).has(at)),
        );
        const read = readerOf(history);
        expect(await findMergeBases(nameOf(one), nameOf(other), read)).toEqual(best.map(nameOf).sort());
        expect(await isInHistory(nameOf(other), nameOf(one), read)).toBe(
          ancestorsOf(history, one).has(other),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('are found without the history below them', async () => {
    const history: Drawn[] = Array.from({ length: 100 }, (_, at) => ({
      parents: at === 0 ? [] : [at - 1],
      time: String(at).padStart(3, '0'),
    }));
    history.push({ parents: [97], time: '200' });
    let reads = 0;
    const read = (hash: CommitHash) => {
      reads += 1;
      return readerOf(history)(hash);
    };
    expect(await findMergeBases(nameOf(100), nameOf(99), read)).toEqual([nameOf(97)]);
    expect(reads).toBeLessThanOrEqual(5);
  });

  it('are not searched for in more than 20,000 commits', async () => {
    const read = async (hash: CommitHash) => ({
      parents: [`${hash[0]}${Number(hash.slice(1)) + 1}` as CommitHash],
      time: String(1_000_000 - Number(hash.slice(1))),
    });
    await expect(findMergeBases('a0' as CommitHash, 'b0' as CommitHash, read)).rejects.toMatchObject({
      code: 'unsupported',
    });
  });
});
