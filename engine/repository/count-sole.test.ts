import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CommitHash } from '../model/entry.ts';
import { type CommitLinks, countSole } from './count-sole.ts';

type Graph = Readonly<Record<string, readonly string[]>>;

/** Counts in a graph of commits, the oldest first, each with its parents. */
async function count(graph: Graph, start: string, others: readonly string[], more: Options = {}) {
  const { readsMax = Number.POSITIVE_INFINITY, timeOf } = more;
  const order = Object.keys(graph);
  const reads: string[] = [];
  const found = await countSole({
    start: start as CommitHash,
    others: new Set(others as CommitHash[]),
    mayRead: (done) => done < readsMax,
    read: async (hash) => {
      reads.push(hash);
      const time = timeOf?.(hash) ?? order.indexOf(hash);
      return { parents: graph[hash], time: String(time).padStart(9, '0') } as unknown as CommitLinks;
    },
  });
  return { ...found, reads };
}

interface Options {
  readonly readsMax?: number;
  readonly timeOf?: (hash: string) => number | undefined;
}

const CHAIN: Graph = { a: [], b: ['a'], c: ['b'], d: ['c'], e: ['d'] };
/** A push of `own` over `a` that met `t` on the branch, and was merged. */
const MERGED: Graph = { root: [], a: ['root'], t: ['a'], own: ['a'], m: ['t', 'own'] };

describe('the commits that one commit leads to and another does not', () => {
  it('are those above the other in a chain, with one read for each and one for the other', async () => {
    expect(await count(CHAIN, 'e', ['b'])).toEqual({
      ...{ commits: 3, isMore: false, meetsOthers: true },
      reads: ['e', 'b', 'd', 'c'],
    });
  });

  it('are both sides of a merge down to where they part', async () => {
    expect(await count(MERGED, 'm', ['a'])).toMatchObject({ commits: 3, meetsOthers: true });
    expect(await count(MERGED, 'm', ['own'])).toMatchObject({ commits: 2, meetsOthers: true });
    expect(await count(MERGED, 'own', ['m'])).toMatchObject({ commits: 0, meetsOthers: false });
  });

  it('are none if the other one leads back to it, which meets nothing', async () => {
    const back = await count(CHAIN, 'b', ['e']);
    expect(back).toMatchObject({ commits: 0, isMore: false, meetsOthers: false });
    expect(await count(CHAIN, 'b', ['b'])).toMatchObject({ commits: 0, reads: [] });
  });

  it('are those of a rewritten line, which does not meet the other', async () => {
    const graph = { ...CHAIN, x: ['b'], y: ['x'] };
    expect(await count(graph, 'y', ['e'])).toMatchObject({ commits: 2, isMore: false, meetsOthers: false });
  });

  it('are all commits if there is no other', async () => {
    expect(await count(CHAIN, 'e', [])).toMatchObject({ commits: 5, isMore: false, meetsOthers: false });
  });

  it('are counted up to a bound', async () => {
    const long: Graph = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`${index}`, index === 0 ? [] : [`${index - 1}`]]),
    );
    const found = await count(long, '49', ['3'], { readsMax: 12 });
    expect(found).toMatchObject({ commits: 10, isMore: true, meetsOthers: false });
    expect(found.reads).toHaveLength(12);
  });

  it('are the same when the clock of a writer was wrong', async () => {
    for (const wrong of [-1, 0, 1_000])
      for (const other of ['own', 'a', 'root']) {
        const right = await count(MERGED, 'm', [other]);
        for (const at of Object.keys(MERGED)) {
          const timeOf = (hash: string) => (hash === at ? Math.max(0, wrong) : undefined);
          expect(await count(MERGED, 'm', [other], { timeOf })).toMatchObject({ commits: right.commits });
        }
      }
  });

  it('are never counted too low in any graph, and exactly if each commit is newer than its parents', async () => {
    const graphs = fc
      .array(fc.array(fc.nat({ max: 30 }), { maxLength: 2 }), { minLength: 1, maxLength: 30 })
      .map((lines) =>
        Object.fromEntries(
          lines.map((parents, index) => [
            `${index}`,
            [...new Set(index === 0 ? [] : parents.map((each) => `${each % index}`))],
          ]),
        ),
      );
    const places = fc.tuple(
      fc.nat(),
      fc.nat(),
      fc.array(fc.nat({ max: 99 }), { minLength: 30, maxLength: 30 }),
    );
    await fc.assert(
      fc.asyncProperty(
        graphs,
        places,
        fc.integer({ min: 3, max: 30 }),
        async (graph, [a, b, times], readsMax) => {
          const size = Object.keys(graph).length;
          const [start, other] = [`${a % size}`, `${b % size}`];
          const held = below(graph, other);
          const right = [...below(graph, start)].filter((hash) => !held.has(hash)).length;
          const exact = await count(graph, start, [other]);
          expect(exact).toMatchObject({ commits: right, isMore: false });
          expect(exact.meetsOthers).toBe(start !== other && below(graph, start).has(other));
          expect(new Set(exact.reads).size).toBe(exact.reads.length);
          expect((await count(graph, start, [other], { readsMax })).commits).toBeLessThanOrEqual(right);
          const timeOf = (hash: string) => times[Number(hash)];
          expect((await count(graph, start, [other], { timeOf })).commits).toBeGreaterThanOrEqual(right);
        },
      ),
    );
  });
});

function below(graph: Graph, hash: string): Set<string> {
  return new Set([hash, ...graph[hash]!.flatMap((parent) => [...below(graph, parent)])]);
}
