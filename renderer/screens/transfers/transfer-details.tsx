/** All that is known of one transfer: when, how many requests at what price, what it warned of and which files failed. */
import type { Transfer } from '../../../engine/api/host.ts';
import { formatBytes, formatCount, formatDollars, formatMoment, formatSeconds } from '../../design/format.ts';

const ROWS_MAX = 100;

export function TransferDetails({ transfer }: { readonly transfer: Transfer }) {
  const { requests, startedMs, endedMs, failures, warnings, concurrency } = transfer;
  const facts: [string, string][] = [];
  if (startedMs !== undefined) facts.push(['Started', formatMoment(startedMs)]);
  if (startedMs !== undefined && endedMs !== undefined)
    facts.push(['Took', formatSeconds((endedMs - startedMs) / 1000)]);
  if (concurrency !== undefined) facts.push(['Requests in flight', formatCount(concurrency)]);
  if (requests) {
    facts.push(['Requests', `${formatCount(requests.total)} for ${formatDollars(requests.dollars)}`]);
    facts.push(['Sent', formatBytes(requests.sentBytes)], ['Received', formatBytes(requests.receivedBytes)]);
  }
  if (transfer.error) facts.push(['Error', transfer.error.code]);
  return (
    <div className="transfer-details">
      {facts.length === 0 && failures.length + warnings.length === 0 && (
        <p className="faint">Nothing is known of it until it has begun.</p>
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
      <Remarks title={`Files that failed (${formatCount(failures.length)})`} rows={failures} />
      <Remarks
        title={`Warnings (${formatCount(warnings.length)})`}
        rows={warnings.map((message) => ({ path: '', message }))}
      />
    </div>
  );
}

function Remarks({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly { readonly path: string; readonly message: string }[];
}) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul className="transfer-remarks">
        {rows.slice(0, ROWS_MAX).map(({ path, message }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: remarks are only ever added at the end, and two may be equal.
          <li key={index}>
            {path !== '' && <span className="code">{path}</span>}
            <span className="soft">{message}</span>
          </li>
        ))}
      </ul>
      {rows.length > ROWS_MAX && (
        <p className="small faint">and {formatCount(rows.length - ROWS_MAX)} more</p>
      )}
    </section>
  );
}
