/** Draws lines that show growth. */
import { drawRule, drawSvg, drawText, LINE_COLOURS, linearScale, logScale, round } from './svg.ts';

export interface PlotLine {
  readonly name: string;
  /** In order of x. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface LinePlot {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** Makes both axes logarithmic; otherwise both start at 0. */
  readonly isLogarithmic: boolean;
  readonly formatX: (value: number) => string;
  readonly formatY: (value: number) => string;
  readonly lines: readonly PlotLine[];
}

const WIDTH = 860;
const HEIGHT = 400;
const LEFT = 78;
const RIGHT = 660;
const TOP = 58;
const BOTTOM = 348;
const LABEL_STEP = 16;

/** @returns Undefined when there is nothing to draw. */
export function plotLines(plot: LinePlot): string | undefined {
  const points = plot.lines.flatMap((line) => line.points);
  if (points.length === 0) return undefined;
  const scaleOf = plot.isLogarithmic ? logScale : linearScale;
  const x = scaleOf(
    points.map((point) => point.x),
    { from: LEFT, to: RIGHT },
  );
  const y = scaleOf(
    points.map((point) => point.y),
    { from: BOTTOM, to: TOP },
  );
  const shapes = [
    drawText(plot.title, { x: 16, y: 24 }, { kind: 'ink large' }),
    drawText(plot.yTitle, { x: 16, y: 44 }, { kind: 'faint small' }),
    drawText(
      plot.xTitle,
      { x: (LEFT + RIGHT) / 2, y: HEIGHT - 12 },
      { kind: 'faint small', anchor: 'middle' },
    ),
    ...y.ticks.flatMap((tick) => [
      drawRule('grid', [LEFT, y.at(tick)], [RIGHT, y.at(tick)]),
      drawText(
        plot.formatY(tick),
        { x: LEFT - 8, y: y.at(tick) + 4 },
        { kind: 'faint small', anchor: 'end' },
      ),
    ]),
    ...x.ticks.map((tick) =>
      drawText(
        plot.formatX(tick),
        { x: x.at(tick), y: BOTTOM + 20 },
        { kind: 'faint small', anchor: 'middle' },
      ),
    ),
    drawRule('base', [LEFT, BOTTOM], [RIGHT, BOTTOM]),
    ...plot.lines.flatMap((line, index) => drawLine(line, index % LINE_COLOURS, x.at, y.at)),
    ...drawNames(plot.lines, y.at),
  ];
  return drawSvg({ width: WIDTH, height: HEIGHT, title: plot.title }, shapes);
}

function drawLine(
  { points }: PlotLine,
  colour: number,
  atX: (value: number) => number,
  atY: (value: number) => number,
): readonly string[] {
  const places = points.map(({ x, y }) => [round(atX(x)), round(atY(y))] as const);
  const path = places.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
  return [
    `<path class="line line${colour}" d="${path}"/>`,
    ...places.map(([x, y]) => `<circle class="mark${colour}" cx="${x}" cy="${y}" r="3"/>`),
  ];
}

/** Writes each name beside the end of its line, moved apart where they would overlap. */
function drawNames(lines: readonly PlotLine[], atY: (value: number) => number): readonly string[] {
  const names = lines
    .map(({ name, points }, index) => ({ name, colour: index % LINE_COLOURS, y: atY(points.at(-1)?.y ?? 1) }))
    .sort((left, right) => left.y - right.y);
  let free = Number.NEGATIVE_INFINITY;
  const placed = names.map((name) => {
    const y = Math.max(name.y, free);
    free = y + LABEL_STEP;
    return { ...name, y };
  });
  // Names below the bottom move up again.
  let limit = BOTTOM;
  for (const name of placed.toReversed()) {
    name.y = Math.min(name.y, limit);
    limit = name.y - LABEL_STEP;
  }
  return placed.flatMap(({ colour, name, y }) => [
    `<circle class="mark${colour}" cx="${RIGHT + 16}" cy="${round(y)}" r="4"/>`,
    drawText(name, { x: RIGHT + 26, y: y + 4 }, { kind: 'ink small' }),
  ]);
}
