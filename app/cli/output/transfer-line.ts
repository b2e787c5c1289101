/** Sums up a transfer in a few words. */
import type { RequestTotals } from '../../../engine/api/jobs/jobs.ts';
import {
  formatBytes,
  formatDollars,
  formatDuration,
  formatPlural,
} from '../../../engine/api/text/numbers.ts';

export interface TransferTotals {
  readonly bytes: number;
  readonly elapsedMs: number;
  readonly requests: RequestTotals;
}

/** `120 MiB in 3.2 s (37.5 MiB/s), 45 requests, about $0.0002`. */
export function formatTransfer({ bytes, elapsedMs, requests }: TransferTotals): string {
  const rate = bytes > 0 && elapsedMs > 0 ? ` (${formatBytes((bytes / elapsedMs) * 1000)}/s)` : '';
  const price = requests.dollars > 0 ? `, about ${formatDollars(requests.dollars)}` : '';
  return `${formatBytes(bytes)} in ${formatDuration(elapsedMs)}${rate}${formatRequests(requests)}${price}`;
}

/** `, 45 requests`; empty if there were none. */
export function formatRequests({ total }: Pick<RequestTotals, 'total'>): string {
  return total > 0 ? `, ${formatPlural(total, 'request')}` : '';
}
