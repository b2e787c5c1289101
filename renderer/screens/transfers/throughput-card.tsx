/**
 * The state of all transfers together: the rate, the remaining bytes and time, the requests in flight, and
 * the last minute.
 */
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
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
        <Figure label="Remaining" {...stillToGo(running)} />
        <Figure label="Time left" {...timeLeft(running)} />
        <Figure
          label="Requests in flight"
          value={formatCount(inFlight)}
          note={
            inFlightMax > 0
              ? `of up to ${formatCount(inFlightMax)} that the link can take`
              : 'no requests to a remote'
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
    note: isCounting ? 'at least; more may be found' : 'of running transfers',
  };
}

/** The remaining time of the transfer that takes longest. */
function timeLeft(running: readonly Transfer[]): Said {
  if (running.length === 0) return { value: 'none', note: 'nothing runs' };
  const longest = Math.max(...running.map(({ secondsLeft = Number.NaN }) => secondsLeft));
  if (!Number.isFinite(longest)) return { value: 'not known', note: 'not all sizes or rates are known yet' };
  const isCounting = running.some((transfer) => transfer.isCounting);
  return {
    value: roughDuration(longest),
    note: isCounting ? 'at least; more may be found' : 'at the current rate',
  };
}

function sumOf(transfers: readonly Transfer[], of: (transfer: Transfer) => number): number {
  return transfers.reduce((sum, transfer) => sum + of(transfer), 0);
}
