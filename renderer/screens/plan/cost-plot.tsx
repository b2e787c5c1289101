/** What asking for each object costs against listing the remote, over how much is asked for: where the lines meet, the plan turns. */
import 'uplot/dist/uPlot.min.css';
import './cost-plot.css';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import type { QueryExplanation } from '../../../engine/api/events.ts';
import { formatCount, formatPlural, formatSeconds } from '../../design/format.ts';

const HEIGHT_PX = 220;
const POINTS = 64;

/** Seconds at each number of candidates: a line through what the plan says for each, and a level one for a listing. */
export function costLines({ candidates, each, list, breakEvenObjects }: QueryExplanation): {
  readonly objects: number[];
  readonly each: number[];
  readonly list: number[];
  /** Where the lines meet; undefined when nothing has to be asked. */
  readonly meet: number | undefined;
} {
  const perObject = candidates > 0 ? each.seconds / candidates : 0;
  const meet = perObject > 0 ? list.seconds / perObject : undefined;
  const end = 1.25 * Math.max(candidates, meet ?? breakEvenObjects, 1);
  const objects = Array.from({ length: POINTS }, (_, at) => (end * at) / (POINTS - 1));
  return {
    objects,
    each: objects.map((count) => count * perObject),
    list: objects.map(() => list.seconds),
    meet,
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
      plot = new uPlot(
        optionsOf(query, lines.meet, element),
        [lines.objects, lines.each, lines.list],
        element,
      );
    };
    draw();
    const sized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    sized.observe(element);
    // The colours are read from the page, and change with its theme.
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
        <span className="cost-key cost-key-each">Ask for each</span>
        <span className="cost-key cost-key-list">List the remote</span>
        <span className="cost-key cost-key-here">This push: {formatPlural(query.candidates, 'object')}</span>
      </figcaption>
    </figure>
  );
}

function describe(query: QueryExplanation): string {
  const { meet } = costLines(query);
  const turn = meet === undefined ? '' : ` The lines meet at ${formatCount(meet)} objects to ask for.`;
  return `Asking for each of ${formatCount(query.candidates)} objects takes ${formatSeconds(query.each.seconds)}; listing takes ${formatSeconds(query.list.seconds)}.${turn}`;
}

function optionsOf(query: QueryExplanation, meet: number | undefined, element: HTMLElement): uPlot.Options {
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
      { ...axis, values: (_, splits) => splits.map(shortCount), space: 80 },
      {
        ...axis,
        values: (_, splits) => splits.map((seconds) => `${Number(seconds.toPrecision(3))} s`),
        size: 64,
      },
    ],
    series: [
      {},
      { stroke: color('--accent'), width: 2, points: { show: false } },
      { stroke: color('--modified'), width: 2, dash: [6, 4], points: { show: false } },
    ],
    hooks: {
      draw: [
        (plot) => {
          drawUpright(plot, query.candidates, color('--text'));
          if (meet !== undefined)
            drawDot(plot, {
              x: meet,
              y: query.list.seconds,
              fill: color('--surface'),
              stroke: color('--text'),
            });
          drawDot(plot, {
            x: query.candidates,
            y: query.each.seconds,
            fill: color('--accent'),
            stroke: color('--surface'),
          });
        },
      ],
    },
  };
}

function shortCount(count: number): string {
  if (count >= 1e6) return `${Number((count / 1e6).toPrecision(3))} M`;
  return count >= 1e4 ? `${Number((count / 1e3).toPrecision(3))} k` : formatCount(count);
}

function drawUpright(plot: uPlot, x: number, stroke: string): void {
  const { ctx, bbox } = plot;
  const at = plot.valToPos(x, 'x', true);
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(at, bbox.top);
  ctx.lineTo(at, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

function drawDot(
  plot: uPlot,
  dot: { readonly x: number; readonly y: number; readonly fill: string; readonly stroke: string },
): void {
  const { ctx } = plot;
  ctx.save();
  ctx.fillStyle = dot.fill;
  ctx.strokeStyle = dot.stroke;
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.beginPath();
  ctx.arc(
    plot.valToPos(dot.x, 'x', true),
    plot.valToPos(dot.y, 'y', true),
    5 * devicePixelRatio,
    0,
    2 * Math.PI,
  );
  ctx.fill();
  ctx.stroke();
  ctx.restore();
}
