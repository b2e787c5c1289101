/**
 * The cost of checking each object compared with listing the remote, over the number of objects that the
 * remote may hold. Beyond the break-even point, listing costs more. Only for queries that have such a point.
 */
import 'uplot/dist/uPlot.min.css';
import './cost-plot.css';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import type { QueryExplanation } from '../../../engine/api/events.ts';
import { formatCount } from '../../../engine/api/text/numbers.ts';
import { formatSeconds } from '../../design/format.ts';

const HEIGHT_PX = 220;
const POINTS = 64;

/**
 * The cost of both ways if the remote held this many objects, as multiples of checking each: price, requests
 * and waiting as the plan weighs them. The cost of a listing grows with the remote and is even where the plan
 * says so; checking each costs the same for any remote.
 */
function costLines({ breakEvenObjects, remoteObjects }: QueryExplanation): {
  readonly objects: number[];
  readonly each: number[];
  readonly list: number[];
} {
  const end = 1.2 * Math.max(remoteObjects?.high ?? 0, breakEvenObjects, 1);
  const objects = Array.from({ length: POINTS }, (_, at) => (end * at) / (POINTS - 1));
  return {
    objects,
    each: objects.map(() => 1),
    list: objects.map((count) => count / breakEvenObjects),
  };
}

export function CostPlot({ query }: { readonly query: QueryExplanation }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const lines = costLines(query);
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(optionsOf(query, element), [lines.objects, lines.each, lines.list], element);
    };
    draw();
    const sized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    sized.observe(element);
    // The colours come from the page, and change with its theme.
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      sized.disconnect();
      themed.disconnect();
      plot?.destroy();
    };
  }, [query]);
  return (
    <figure className="cost-plot">
      <div ref={place} role="img" aria-label={describe(query)} />
      <figcaption className="cost-keys">
        <span className="cost-key cost-key-each">Check each</span>
        <span className="cost-key cost-key-list">List the remote</span>
        <span className="cost-key cost-key-even">
          Break-even, {formatCount(query.breakEvenObjects)} objects
        </span>
        {query.remoteObjects && <span className="cost-key cost-key-here">The remote, with its interval</span>}
      </figcaption>
    </figure>
  );
}

function describe({ breakEvenObjects, candidates, list, each, remoteObjects }: QueryExplanation): string {
  const size = remoteObjects ? ` of some ${formatCount(remoteObjects.estimate)} objects` : '';
  return `Checking each of ${formatCount(candidates)} objects takes ${formatSeconds(each.seconds)}; listing the remote${size} takes ${formatSeconds(list.seconds)}. With all costs weighed, they are even at ${formatCount(breakEvenObjects)} objects.`;
}

function optionsOf(query: QueryExplanation, element: HTMLElement): uPlot.Options {
  const colors = getComputedStyle(document.documentElement);
  const color = (name: string) => colors.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color('--text-faint'),
    font: `12px ${color('--font-text')}`,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: (_, low, high) => [low, high] },
      y: { range: (_, _low, high) => [0, high || 1] },
    },
    axes: [
      { ...axis, values: (_, splits) => splits.map(shortCount), space: 80, size: 28 },
      {
        ...axis,
        values: (_, splits) => splits.map((times) => `${Number(times.toPrecision(3))}x`),
        size: 48,
      },
    ],
    series: [
      {},
      { stroke: color('--accent'), width: 2, points: { show: false } },
      { stroke: color('--modified'), width: 2, dash: [6, 4], points: { show: false } },
    ],
    hooks: {
      // Below the lines.
      drawAxes: [
        (plot) => {
          if (query.remoteObjects) drawBand(plot, query.remoteObjects, color('--accent-soft'));
        },
      ],
      draw: [
        (plot) => {
          const { breakEvenObjects, remoteObjects } = query;
          drawUpright(plot, { x: breakEvenObjects, stroke: color('--text'), isDashed: true });
          if (remoteObjects)
            drawUpright(plot, { x: remoteObjects.estimate, stroke: color('--accent'), isDashed: false });
        },
      ],
    },
  };
}

function shortCount(count: number): string {
  if (count >= 1e6) return `${Number((count / 1e6).toPrecision(3))} M`;
  return count >= 1e4 ? `${Number((count / 1e3).toPrecision(3))} k` : formatCount(count);
}

/** The interval of the estimate. */
function drawBand(
  plot: uPlot,
  { low, high }: { readonly low: number; readonly high: number },
  fill: string,
): void {
  const { bbox, ctx } = plot;
  const left = plot.valToPos(low, 'x', true);
  ctx.save();
  ctx.fillStyle = fill;
  ctx.fillRect(left, bbox.top, Math.max(1, plot.valToPos(high, 'x', true) - left), bbox.height);
  ctx.restore();
}

function drawUpright(
  plot: uPlot,
  line: { readonly x: number; readonly stroke: string; readonly isDashed: boolean },
): void {
  const { bbox, ctx } = plot;
  const at = plot.valToPos(line.x, 'x', true);
  ctx.save();
  ctx.strokeStyle = line.stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(line.isDashed ? [2 * devicePixelRatio, 3 * devicePixelRatio] : []);
  ctx.beginPath();
  ctx.moveTo(at, bbox.top);
  ctx.lineTo(at, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}
