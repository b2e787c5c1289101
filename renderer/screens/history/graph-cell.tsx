/** One row of the drawn graph. Decorative: the row's text says what it shows. */
import type { GraphLine, GraphRow } from './graph-lanes.ts';

const LANE_PX = 16;
/** Graphs with more lanes than this are cut off on the right. */
const LANES_MAX = 10;
const COLORS = 6;

export function graphWidth(lanes: number): number {
  return Math.min(lanes, LANES_MAX) * LANE_PX + 8;
}

export interface GraphCellProps {
  readonly row: GraphRow;
  readonly lanes: number;
  readonly isMerge: boolean;
  readonly heightPx: number;
}

export function GraphCell({ row, lanes, isMerge, heightPx }: GraphCellProps) {
  const width = graphWidth(lanes);
  const middle = heightPx / 2;
  return (
    <svg className="graph-cell" width={width} height={heightPx} aria-hidden="true">
      {row.above.map((line) => (
        <path key={`a${line.from}-${line.to}`} className={colorClass(line)} d={curve(line, 0, middle)} />
      ))}
      {row.below.map((line) => (
        <path
          key={`b${line.from}-${line.to}`}
          className={colorClass(line)}
          d={curve(line, middle, heightPx)}
        />
      ))}
      <circle
        className={`${colorClass(row)} ${isMerge ? 'is-merge' : ''}`}
        cx={xOf(row.lane)}
        cy={middle}
        r={isMerge ? 4 : 5}
      />
    </svg>
  );
}

function curve({ from, to }: GraphLine, top: number, bottom: number): string {
  const [x1, x2] = [xOf(from), xOf(to)];
  if (x1 === x2) return `M${x1} ${top}V${bottom}`;
  const middle = (top + bottom) / 2;
  return `M${x1} ${top}C${x1} ${middle} ${x2} ${middle} ${x2} ${bottom}`;
}

function xOf(lane: number): number {
  return lane * LANE_PX + LANE_PX / 2 + 2;
}

function colorClass({ color }: { readonly color: number }): string {
  return `line-${color % COLORS}`;
}
