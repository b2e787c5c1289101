/**
 * Places each commit of a history in the drawn graph, and computes the lines through its row. Commits come
 * newest first. A lane is a column; it waits for one commit, the next one below on its line. Invariant: after
 * each row, a lane stays recorded while a lane to its right is in use, so that no line crosses a row that
 * does not know it.
 */

export interface GraphCommit {
  readonly commit: string;
  readonly parents: readonly string[];
}

/** A line through one half of a row, from the lane at its upper end to the one at its lower end. */
export interface GraphLine {
  readonly from: number;
  readonly to: number;
  readonly color: number;
}

export interface GraphRow {
  readonly lane: number;
  readonly color: number;
  /** From the row's upper edge to its middle. */
  readonly above: readonly GraphLine[];
  /** From its middle to the lower edge. */
  readonly below: readonly GraphLine[];
  /** The number of lanes that this row needs. */
  readonly width: number;
}

interface Lane {
  readonly waitsFor: string;
  readonly color: number;
}

/** One row per commit, in the same order. A parent that is not in the list keeps its lane to the end. */
export function layOutGraph(commits: readonly GraphCommit[]): GraphRow[] {
  const lanes: (Lane | undefined)[] = [];
  let colorsUsed = 0;
  return commits.map((commit) => {
    const arriving = lanes.map((lane, index) => ({ lane, index })).filter(({ lane }) => lane !== undefined);
    const own = lanes.findIndex((lane) => lane?.waitsFor === commit.commit);
    const lane = own === -1 ? freeLane(lanes) : own;
    const color = lanes[lane]?.color ?? colorsUsed++;
    const above = arriving.map(({ lane: line, index }) => ({
      from: index,
      to: line!.waitsFor === commit.commit ? lane : index,
      color: line!.color,
    }));

    for (const [index, line] of lanes.entries()) {
      if (line?.waitsFor === commit.commit) lanes[index] = undefined;
    }
    const below: GraphLine[] = [];
    const [first, ...others] = commit.parents;
    // The first parent continues in this lane, even if another lane waits for it too: they meet at the
    // parent's row.
    if (first !== undefined) lanes[lane] = { waitsFor: first, color };
    const started = new Set<number>();
    for (const parent of others) {
      let target = lanes.findIndex((line) => line?.waitsFor === parent);
      if (target === -1) {
        target = freeLane(lanes);
        lanes[target] = { waitsFor: parent, color: colorsUsed++ };
        started.add(target);
      }
      below.push({ from: lane, to: target, color: lanes[target]!.color });
    }
    for (const [index, line] of lanes.entries()) {
      if (line !== undefined && !started.has(index))
        below.push({ from: index, to: index, color: line.color });
    }
    const ends = [lane, ...above.flatMap(bothEnds), ...below.flatMap(bothEnds)];
    return { lane, color, above, below, width: Math.max(...ends) + 1 };
  });
}

function freeLane(lanes: readonly (Lane | undefined)[]): number {
  const free = lanes.indexOf(undefined);
  return free === -1 ? lanes.length : free;
}

function bothEnds(line: GraphLine): number[] {
  return [line.from, line.to];
}
