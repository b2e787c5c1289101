/** What all transfers together do now: how fast, how much is left, how long that takes, how hard the remotes are asked; and the last minute of it. */
import type { Transfer } from '../../../engine/api/host.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/numbers.ts';
import { Card, Figure, Figures } from '../../design/card.tsx';
import { formatRate } from '../../design/format.ts';
import { useThroughput } from './record-throughput.tsx';
import { ThroughputPlot } from './throughput-plot.tsx';
import { roughDuration } from './transfer-words.ts';

export function ThroughputCard({ transfers }: { readonly transfers: readonly Transfer[] }) {
  const rates = useThroughput();
  const running = transfers.filter(({ state }) => state === 'running');
  const rate = sumOf(running, ({ bytesPerSecond }) => bytesPerSecond);
  const inFlight = sumOf(running, (transfer) => transfer.inFlight ?? 0);
  const inFlightMax = sumOf(running, (transfer) => transfer.inFlightMax ?? 0);
  return (
    <Card className="throughput">
      <Figures>
        <Figure
          label="Throughput"
          value={formatRate(rate)}
          note={`${formatPlural(running.length, 'transfer')} running`}
        />
        <Figure label="Still to go" {...stillToGo(running)} />
        <Figure label="Time left" {...timeLeft(running)} />
        <Figure
          label="Requests in flight"
          value={formatCount(inFlight)}
          note={
            inFlightMax > 0 ? `of up to ${formatCount(inFlightMax)}, as the link bears` : 'no remote is asked'
          }
        />
      </Figures>
      <ThroughputPlot rates={rates} />
    </Card>
  );
}

interface Said {
  readonly value: string;
  readonly note: string;
}

function stillToGo(running: readonly Transfer[]): Said {
  if (running.length === 0) return { value: 'nothing', note: 'nothing runs' };
  if (running.some(({ bytesTotal }) => bytesTotal === undefined))
    return { value: 'not known', note: 'not all sizes are known yet' };
  const left = sumOf(running, ({ bytesDone, bytesTotal = 0, bytesUnderWay = 0 }) =>
    Math.max(0, bytesTotal - bytesDone - bytesUnderWay),
  );
  const isCounting = running.some((transfer) => transfer.isCounting);
  return {
    value: `${formatBytes(left)}${isCounting ? '+' : ''}`,
    note: isCounting ? 'at least: more may be found' : 'of those that run',
  };
}

/** Of the one that takes longest. */
function timeLeft(running: readonly Transfer[]): Said {
  if (running.length === 0) return { value: 'none', note: 'nothing runs' };
  const longest = Math.max(...running.map(({ secondsLeft = Number.NaN }) => secondsLeft));
  if (!Number.isFinite(longest)) return { value: 'not known', note: 'not all sizes or paces are known yet' };
  const isCounting = running.some((transfer) => transfer.isCounting);
  return {
    value: roughDuration(longest),
    note: isCounting ? 'at least: more may be found' : 'at the pace of now',
  };
}

function sumOf(transfers: readonly Transfer[], of: (transfer: Transfer) => number): number {
  return transfers.reduce((sum, transfer) => sum + of(transfer), 0);
}
