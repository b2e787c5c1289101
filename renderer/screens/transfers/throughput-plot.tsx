/** The throughput of all transfers in the last minute, drawn by uPlot in the theme's colours. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatRate } from '../../design/format.ts';
import { useThemeVersion } from './record-throughput.tsx';
import { roundSteps, SECONDS_AXIS } from './throughput.ts';

const HEIGHT_PX = 120;
/** The scale never goes below this, so that a trickle does not look like a flood. */
const SCALE_MIN_BYTES = 1024 ** 2;

export function ThroughputPlot({ rates }: { readonly rates: readonly number[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const newest = useRef(rates);
  newest.current = rates;
  const theme = useThemeVersion();

  // biome-ignore lint/correctness/useExhaustiveDependencies: redrawn when the theme changes, in its colours.
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const drawn = new uPlot(optionsFor(element), [[...SECONDS_AXIS], [...newest.current]], element);
    plot.current = drawn;
    const observer = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
      plot.current = undefined;
    };
  }, [theme]);

  useEffect(() => {
    plot.current?.setData([[...SECONDS_AXIS], [...rates]]);
  }, [rates]);

  const now = rates.at(-1) ?? 0;
  const highest = Math.max(...rates);
  return (
    <div
      ref={frame}
      className="throughput-plot"
      role="img"
      aria-label={`Throughput of the last minute: now ${formatRate(now)}, at most ${formatRate(highest)}.`}
    />
  );
}

function optionsFor(element: HTMLElement): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const font = `11px ${style.fontFamily}`;
  const axis = { stroke: color('--text-faint'), font, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-60, 0] },
      y: { range: (_plot, _low, high) => [0, Math.max(SCALE_MIN_BYTES, (high ?? 0) * 1.15)] },
    },
    axes: [
      {
        ...axis,
        size: 22,
        grid: { show: false },
        splits: () => [-60, -45, -30, -15, 0],
        values: (_plot, seconds) => seconds.map((second) => (second === 0 ? 'now' : `${-second} s`)),
      },
      {
        ...axis,
        size: 72,
        grid: { stroke: color('--line'), width: 1 },
        splits: (_plot, _axis, _low, high) => roundSteps(high),
        values: (_plot, values) => values.map((value) => (value === 0 ? '0' : formatRate(value))),
      },
    ],
    series: [
      {},
      { stroke: color('--accent'), width: 1.75, fill: color('--accent-soft'), points: { show: false } },
    ],
  };
}
