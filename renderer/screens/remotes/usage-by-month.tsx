/** The requests and bytes of transfers from here, per remote and month, and their cost by the price table. */
import { Fragment } from 'react';
import type { UsageRow } from '../../../engine/api/host/remotes.ts';
import { formatBytes, formatCount, formatDollars } from '../../../engine/api/text/numbers.ts';
import { Card } from '../../design/card.tsx';
import { useAsk } from '../../host/use-host.tsx';

const MONTHS_SHOWN = 12;
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

export function UsageByMonth() {
  const usage = useAsk('remotes.usage', {});
  const rows = usage.data?.months ?? [];
  if (rows.length === 0) return null;
  const months = [...new Set(rows.map(({ month }) => month))].slice(0, MONTHS_SHOWN);
  return (
    <Card title="Requests by month" className="usage" isFlush>
      <table className="usage-table">
        <thead>
          <tr>
            <th scope="col">Place</th>
            <th scope="col">Transfers</th>
            <th scope="col">Requests</th>
            <th scope="col">Sent</th>
            <th scope="col">Received</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {months.map((month) => (
            <Fragment key={month}>
              <MonthRows month={month} rows={rows.filter((row) => row.month === month)} />
            </Fragment>
          ))}
        </tbody>
      </table>
      <p className="usage-note small faint">
        Counts transfers that ran here. Prices cover requests only; the store bills storage and outgoing data
        separately.
      </p>
    </Card>
  );
}

function MonthRows({ month, rows }: { readonly month: string; readonly rows: readonly UsageRow[] }) {
  const total = rows.reduce((sum, { requests }) => sum + requests.dollars, 0);
  return (
    <>
      <tr className="usage-month">
        <th scope="colgroup" colSpan={5}>
          {MONTH.format(new Date(`${month}-01T00:00:00Z`))}
        </th>
        <td>{formatDollars(total)}</td>
      </tr>
      {rows.map(({ place, requests, transfers }) => (
        <tr key={place}>
          <th scope="row" className="code cut" title={place}>
            {place}
          </th>
          <td>{formatCount(transfers)}</td>
          <td>{formatCount(requests.total)}</td>
          <td>{formatBytes(requests.sentBytes)}</td>
          <td>{formatBytes(requests.receivedBytes)}</td>
          <td>{formatDollars(requests.dollars)}</td>
        </tr>
      ))}
    </>
  );
}
