/** A bar chart of the newest version's size at the end of each month, with a table of the same figures. */
import type { RepositoryGrowth } from '../../../engine/api/host/repositories.ts';
import { formatBytes, formatCount } from '../../../engine/api/text/numbers.ts';
import { fillMonths } from './growth-months.ts';

const WIDTH = 720;
const HEIGHT = 96;
/** The widest bar, so two months do not fill the whole plot. */
const BAR_MAX = 40;
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' });

export interface GrowthPlotProps {
  readonly name: string;
  readonly growth: RepositoryGrowth;
}

export function GrowthPlot({ name, growth }: GrowthPlotProps) {
  const months = fillMonths(growth.months, Date.now());
  const [first] = months;
  const last = months.at(-1);
  // One month has no growth yet.
  if (!first || !last || first === last) return null;
  const highest = Math.max(...months.map(({ bytes }) => bytes), 1);
  const step = Math.min(BAR_MAX, WIDTH / months.length);
  const words = `Growth of ${name}: ${formatBytes(first.bytes)} in ${wordsOf(first.month)}, ${formatBytes(last.bytes)} in ${wordsOf(last.month)}.`;
  return (
    <figure className="growth">
      <svg
        className="growth-plot"
        role="img"
        aria-label={words}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="xMinYMax meet"
      >
        <line className="growth-base" x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {months.map(({ bytes, commits, month }, at) => {
          const height = bytes === 0 ? 0 : Math.max(1, (bytes / highest) * (HEIGHT - 2));
          return (
            <rect
              key={month}
              className={commits === 0 ? 'growth-bar is-still' : 'growth-bar'}
              x={at * step + 1}
              y={HEIGHT - height}
              width={Math.max(1, step - 2)}
              height={height}
            >
              <title>{`${wordsOf(month)}: ${formatBytes(bytes)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption className="row small faint growth-ends">
        <span>{wordsOf(first.month)}</span>
        <span>to {wordsOf(last.month)}</span>
        <span className="grow" />
        <span>highest {formatBytes(highest)}</span>
      </figcaption>
      <details className="growth-table">
        <summary className="small">Growth of {name} as a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Month</th>
              <th scope="col">Size</th>
              <th scope="col">Files</th>
              <th scope="col">Commits</th>
            </tr>
          </thead>
          <tbody>
            {months.toReversed().map(({ bytes, commits, files, month }) => (
              <tr key={month}>
                <th scope="row">{wordsOf(month)}</th>
                <td>{formatBytes(bytes)}</td>
                <td>{formatCount(files)}</td>
                <td>{formatCount(commits)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

function wordsOf(month: string): string {
  return MONTH.format(new Date(`${month}-01T00:00:00Z`));
}
