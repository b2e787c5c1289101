import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GraphCommit, layOutGraph } from './graph-lanes.ts';

describe('The graph of a history', () => {
  it('keeps a straight history in one lane', () => {
    const rows = layOutGraph([commit('c', 'b'), commit('b', 'a'), commit('a')]);
    expect(rows.map((row) => row.lane)).toEqual([0, 0, 0]);
    expect(rows.map((row) => row.width)).toEqual([1, 1, 1]);
    expect(rows[2]?.below).toEqual([]);
  });

  it('gives the second parent of a merge a lane that ends where the branch began', () => {
    const rows = layOutGraph([commit('m', 'b', 'x'), commit('x', 'a'), commit('b', 'a'), commit('a')]);
    expect(rows.map((row) => row.lane)).toEqual([0, 1, 0, 0]);
    expect(rows[0]?.below).toContainEqual({ from: 0, to: 1, color: 1 });
    expect(rows[3]?.above).toEqual([
      { from: 0, to: 0, color: 0 },
      { from: 1, to: 0, color: 1 },
    ]);
  });

  it('puts two heads of one parent into lanes beside each other', () => {
    const rows = layOutGraph([commit('x', 'a'), commit('y', 'a'), commit('a')]);
    expect(rows.map((row) => row.lane)).toEqual([0, 1, 0]);
  });

  it('uses a lane again once its line has ended', () => {
    const rows = layOutGraph([
      commit('m2', 'm1', 'y'),
      commit('y', 'm1'),
      commit('m1', 'a', 'x'),
      commit('x', 'a'),
      commit('a'),
    ]);
    expect(Math.max(...rows.map((row) => row.width))).toBe(2);
  });

  it('continues every line from one row to the next, whatever the history', () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const rows = layOutGraph(history);
        for (const [index, row] of rows.entries()) {
          const next = rows[index + 1];
          if (next) expect(lanesOf(next.above, 'from')).toEqual(lanesOf(row.below, 'to'));
          const known = new Set(history.map((each) => each.commit));
          const ends = row.below.filter((line) => line.from === row.lane);
          const parents = history[index]!.parents.filter((parent) => known.has(parent));
          expect(ends.length).toBeGreaterThanOrEqual(new Set(parents).size);
        }
        const last = rows.at(-1);
        expect(last?.below ?? []).toEqual([]);
      }),
    );
  });
});

function lanesOf(lines: readonly { from: number; to: number }[], end: 'from' | 'to'): number[] {
  return [...new Set(lines.map((line) => line[end]))].sort((a, b) => a - b);
}

function commit(name: string, ...parents: string[]): GraphCommit {
  return { commit: name, parents };
}

/** Newest first. Each commit's parents are among the older ones, and the oldest has none. */
function histories(): fc.Arbitrary<GraphCommit[]> {
  return fc
    .array(fc.array(fc.nat({ max: 6 }), { maxLength: 3 }), { minLength: 1, maxLength: 40 })
    .map((distances) =>
      distances.map((back, index) => {
        const parents = back
          .map((distance) => index + 1 + distance)
          .filter((parent) => parent < distances.length);
        return { commit: String(index), parents: [...new Set(parents)].map(String) };
      }),
    );
}
