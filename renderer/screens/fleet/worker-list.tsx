/** The workers of a job, each with its throughput. */
import type { FleetProgress, FleetWorkerCard } from '../../../engine/api/host/fleet.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { formatRate } from '../../design/format.ts';

const WIDTH = 120;
const HEIGHT = 24;
/** Points of a line: as many as the engine keeps. */
const POINTS = 60;

export function WorkerList({ progress }: { readonly progress: FleetProgress }) {
  const { workers, workersMore } = progress;
  if (workers.length === 0) return <p className="faint">No worker runs a step of this job now.</p>;
  const highest = Math.max(...workers.flatMap(({ rates }) => rates), 1);
  return (
    <div className="fleet-scroll">
      <table className="fleet-table fleet-workers">
        <thead>
          <tr>
            <th scope="col">Worker</th>
            <th scope="col">Works on</th>
            <th scope="col">Throughput</th>
            <th scope="col" className="fleet-wide">
              Last two minutes
            </th>
            <th scope="col">So far</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.name}>
              <th scope="row" className="code">
                {worker.name}
              </th>
              <td>{workWords(worker)}</td>
              <td>{rateWords(worker)}</td>
              <td className="fleet-wide">
                <Rates rates={worker.rates} highest={highest} />
              </td>
              <td>{totalWords(worker)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {workersMore > 0 && (
        <p className="small faint">and {formatPlural(workersMore, 'other worker')}, in Temporal's screens</p>
      )}
    </div>
  );
}

const RANGES_MAX = 6;

function workWords({ ranges, steps }: FleetWorkerCard): string {
  if (steps === 0) return 'Nothing now';
  if (ranges.length === 0) return formatPlural(steps, 'step');
  const named = ranges.slice(0, RANGES_MAX).map((range) => formatCount(range + 1));
  const more = ranges.length > RANGES_MAX ? ` and ${ranges.length - RANGES_MAX} more` : '';
  return `${formatPlural(steps, 'step')} in ${ranges.length === 1 ? 'range' : 'ranges'} ${named.join(', ')}${more}`;
}

function rateWords({ bytesPerSecond, filesPerSecond }: FleetWorkerCard): string {
  if (bytesPerSecond === undefined || filesPerSecond === undefined) return 'Not known yet';
  const files = filesPerSecond >= 10 ? Math.round(filesPerSecond) : Math.round(filesPerSecond * 10) / 10;
  return `${formatRate(bytesPerSecond)}, ${formatCount(files)} files/s`;
}

function totalWords({ bytes, files }: FleetWorkerCard): string {
  return bytes === undefined || files === undefined
    ? ''
    : `${formatBytes(bytes)}, ${formatPlural(files, 'file')}`;
}

/** All lines have the same scale. The figure beside a line is its newest value. */
function Rates({ highest, rates }: { readonly highest: number; readonly rates: readonly number[] }) {
  if (rates.length < 2) return null;
  const step = WIDTH / (POINTS - 1);
  const first = POINTS - rates.length;
  const points = rates.map((rate, at) => {
    const y = HEIGHT - 1 - (rate / highest) * (HEIGHT - 2);
    return `${((first + at) * step).toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg className="fleet-rates" aria-hidden="true" viewBox={`0 0 ${WIDTH} ${HEIGHT}`}>
      <polyline points={points.join(' ')} />
    </svg>
  );
}
