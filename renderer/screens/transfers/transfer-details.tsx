/** The details of one transfer: times, requests and their price, warnings, and failed files. */
import { useEffect } from 'react';
import type { Transfer, TransferFailure } from '../../../engine/api/host/transfers.ts';
import { formatBytes, formatCount, formatDollars } from '../../../engine/api/text/numbers.ts';
import { formatMoment, formatSeconds } from '../../design/format.ts';
import { useAsk, useRefresh } from '../../host/use-host.tsx';
import { CallLog } from './transfer-stall.tsx';

export function TransferDetails({ transfer }: { readonly transfer: Transfer }) {
  const { requests, startedMs, endedMs, failed, warnings, inFlight, inFlightMax } = transfer;
  const failures = useFailures(transfer);
  const facts: [string, string][] = [];
  if (startedMs !== undefined) facts.push(['Started', formatMoment(startedMs)]);
  if (startedMs !== undefined && endedMs !== undefined)
    facts.push(['Took', formatSeconds((endedMs - startedMs) / 1000)]);
  if (inFlight !== undefined && inFlightMax !== undefined)
    facts.push(['Requests in flight', `${formatCount(inFlight)} of up to ${formatCount(inFlightMax)}`]);
  if (requests) {
    facts.push(['Requests', `${formatCount(requests.total)} for ${formatDollars(requests.dollars)}`]);
    facts.push(['Sent', formatBytes(requests.sentBytes)], ['Received', formatBytes(requests.receivedBytes)]);
  }
  if (transfer.error) facts.push(['Error', transfer.error.code]);
  return (
    <div className="transfer-details">
      {facts.length === 0 && failed + warnings.length === 0 && (
        <p className="faint">Details appear when it starts.</p>
      )}
      {facts.length > 0 && (
        <dl className="transfer-facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <CallLog transfer={transfer} />
      <Remarks
        title={`Files that failed (${formatCount(failed)})`}
        rows={failures}
        isCut={failures.length < failed}
      />
      <Remarks
        title={`Warnings (${formatCount(warnings.length)})`}
        rows={warnings.map((message) => ({ path: '', message }))}
      />
    </div>
  );
}

/** Fetched again when their number has doubled, and when the transfer has ended, not for each failure. */
function useFailures({ id, failed, state }: Transfer): readonly TransferFailure[] {
  const { data } = useAsk('transfers.failures', { id }, { when: failed > 0 });
  const refresh = useRefresh();
  const magnitude = Math.ceil(Math.log2(failed + 1));
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when there are more of them, or they are complete
  useEffect(() => void refresh('transfers.failures'), [magnitude, state, refresh]);
  return data?.failures ?? [];
}

interface RemarksProps {
  readonly title: string;
  readonly rows: readonly TransferFailure[];
  /** There are more than the list holds. */
  readonly isCut?: boolean;
}

/** Rows out of view are not laid out, so a thousand scroll like a dozen. */
function Remarks({ title, rows, isCut = false }: RemarksProps) {
  if (rows.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <ul className="transfer-remarks" tabIndex={0} aria-label={title}>
        {rows.map(({ path, message }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: remarks are only added at the end, and two may be equal.
          <li key={index}>
            {path !== '' && <span className="code">{path}</span>}
            <span className="soft">{message}</span>
          </li>
        ))}
      </ul>
      {isCut && <p className="small faint">These are the first {formatCount(rows.length)} of them.</p>}
    </section>
  );
}
