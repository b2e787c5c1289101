/**
 * Formats a progress snapshot as the lines that are redrawn on a terminal: the total with a bar, the counts,
 * and the files in transit. No line is wider than the terminal, because a redraw would miss the wrapped part.
 */
import type { FileUnderWay } from '../../../../engine/api/events.ts';
import { formatBytes, formatPlural } from '../../../../engine/api/text/numbers.ts';
import type { Paint } from '../colors.ts';
import { shortenMiddle } from '../display-width.ts';
import { formatClock } from '../format.ts';
import { quotePath } from '../terminal-text.ts';
import { DOING, formatFilesDone, joinWithin, percentDone } from './progress-line.ts';
import type { ProgressSnapshot } from './progress-meter.ts';

export interface Room {
  readonly columns: number;
  readonly rows: number;
}

const BAR_COLUMNS_MAX = 30;
const BAR_COLUMNS_MIN = 8;
/** A stall of at least this length is reported. */
const STALL_MS = 10_000;

/** At least one line. */
export function formatProgressBlock(progress: ProgressSnapshot, room: Room, paint: Paint): string[] {
  const lines = [
    formatWhole(progress, room.columns, paint),
    ...formatCounts(progress, room.columns).map((line) => paint('dim', line)),
    ...(progress.underWay ?? []).map((file) => paint('dim', formatFile(file, room.columns))),
  ];
  return lines.slice(0, Math.max(1, room.rows));
}

/** `uploading [=====>        ]  12%  120 MiB/977 MiB  34.2 MiB/s  0:25 left` */
function formatWhole(progress: ProgressSnapshot, columns: number, paint: Paint): string {
  const percent = percentDone(progress);
  const head = percent === undefined ? '' : `${String(percent).padStart(3)}%`;
  const texts = [
    { text: DOING[progress.phase], rank: 0 },
    { text: head, rank: 1 },
    { text: formatMoved(progress), rank: 3 },
    { text: formatRate(progress), rank: 2 },
    { text: formatTimeLeft(progress), rank: 4 },
  ];
  const line = joinWithin(
    texts.filter(({ text }) => text !== ''),
    columns,
    '  ',
  );
  const width = Math.min(BAR_COLUMNS_MAX, columns - line.length - 3);
  if (percent === undefined || width < BAR_COLUMNS_MIN) return line;
  const doing = DOING[progress.phase];
  return `${doing} ${paint('cyan', formatBar(percent, width))}${line.slice(doing.length + 1)}`;
}

/** @param columns Without its brackets. */
function formatBar(percent: number, columns: number): string {
  const filled = Math.floor((percent / 100) * columns);
  const bar = filled >= columns ? '='.repeat(columns) : `${'='.repeat(filled)}>`;
  return `[${bar.padEnd(columns)}]`;
}

/** Omits the files, which have a line of their own. */
function formatMoved({ bytesDone, bytesTotal, isCounting, phase }: ProgressSnapshot): string {
  if (phase === 'query' || (bytesDone === 0 && !bytesTotal)) return '';
  if (!bytesTotal) return formatBytes(bytesDone);
  return isCounting
    ? `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)} found so far`
    : `${formatBytes(bytesDone)}/${formatBytes(bytesTotal)}`;
}

function formatRate({ bytesPerSecond, filesPerSecond, stalledMs = 0 }: ProgressSnapshot): string {
  if (stalledMs >= STALL_MS) return `nothing has moved for ${formatClock(stalledMs)}`;
  if (bytesPerSecond >= 1) return `${formatBytes(bytesPerSecond)}/s`;
  return filesPerSecond >= 1 ? `${formatPlural(Math.round(filesPerSecond), 'file')}/s` : '';
}

function formatTimeLeft(progress: ProgressSnapshot): string {
  const { bytesTotal, etaMs, filesTotal, isCounting, phase } = progress;
  if (etaMs !== undefined) return `${formatClock(etaMs)} left`;
  if (phase === 'commit') return '';
  if (isCounting || !(bytesTotal || filesTotal)) return 'total not known yet';
  return percentDone(progress) === 100 ? '' : 'time left not known yet';
}

/** `  1,234/50,000 files, 1,300 requests, 0:12 so far` */
function formatCounts(progress: ProgressSnapshot, columns: number): string[] {
  const { elapsedMs, requests } = progress;
  const files = formatFilesDone(progress);
  const parts = [
    ...(files === undefined ? [] : [{ text: files, rank: 0 }]),
    ...(requests > 0 ? [{ text: formatPlural(requests, 'request'), rank: 1 }] : []),
    { text: `${formatClock(elapsedMs)} so far`, rank: 2 },
  ];
  const line = joinWithin(parts, columns - 2, ', ');
  return line === '' ? [] : [`  ${line}`];
}

/** `   45% of  240 MiB  photos/2026/birds.tar`. Omits the share of a file in a single request. */
function formatFile({ bytesDone, path, sizeBytes }: FileUnderWay, columns: number): string {
  const isKnown = bytesDone > 0 && sizeBytes > 0;
  const share = isKnown ? `${Math.floor((bytesDone / sizeBytes) * 100)}%` : '';
  const size = columns < 50 ? '' : `${isKnown ? ' of' : '   '} ${formatBytes(sizeBytes).padStart(9)}`;
  const start = `  ${share.padStart(4)}${size}  `;
  // Escaped before measuring, because escapes take columns.
  const name = shortenMiddle(quotePath(path), Math.max(0, columns - start.length));
  return (start + name).slice(0, Math.max(0, columns));
}
