/** Formats a progress snapshot as one line of a log. */
import type { Phase } from '../../../../engine/api/events.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPlural,
} from '../../../../engine/api/text/numbers.ts';
import { formatClock } from '../format.ts';
import type { ProgressSnapshot } from './progress-meter.ts';

export const DOING: Readonly<Record<Phase, string>> = {
  scan: 'scanning',
  hash: 'hashing',
  query: 'comparing',
  upload: 'uploading',
  download: 'downloading',
  write: 'writing',
  remove: 'removing',
  commit: 'committing',
  verify: 'verifying',
  mark: 'marking',
};

const DONE: Readonly<Record<Phase, string>> = {
  scan: 'scanned',
  hash: 'hashed',
  query: 'compared',
  upload: 'uploaded',
  download: 'downloaded',
  write: 'wrote',
  remove: 'removed',
  commit: 'committed',
  verify: 'verified',
  mark: 'marked',
};

/**
 * `uploading 1,234/50,000 files, 120 MiB/977 MiB, 12%, 34.2 MiB/s, ETA 0:25`, at most `columns` wide. If room
 * is short, the least important parts are left out. `1,234/5,000+` means that the total may still grow, so
 * there is no ETA.
 */
export function formatProgressLine(progress: ProgressSnapshot, columns: number): string {
  // The order on the screen, each part with its rank. The highest rank is dropped first when room is short.
  const parts: RankedText[] = [];
  const { bytesDone, bytesTotal, isCounting, requests } = progress;
  const more = isCounting ? '+' : '';
  const files = formatFilesDone(progress);
  if (files !== undefined) parts.push({ text: files, rank: 5 });
  if (bytesDone > 0 || bytesTotal) {
    parts.push({
      text: bytesTotal
        ? `${formatBytes(bytesDone)}/${formatBytes(bytesTotal)}${more}`
        : formatBytes(bytesDone),
      rank: 3,
    });
  }
  const percent = percentDone(progress);
  if (percent !== undefined) parts.push({ text: `${percent}%`, rank: 1 });
  if (progress.bytesPerSecond >= 1)
    parts.push({ text: `${formatBytes(progress.bytesPerSecond)}/s`, rank: 2 });
  else if (progress.filesPerSecond >= 1)
    parts.push({ text: `${formatPlural(Math.round(progress.filesPerSecond), 'file')}/s`, rank: 6 });
  if (requests > 0) parts.push({ text: formatPlural(requests, 'request'), rank: 7 });
  if (progress.etaMs !== undefined) parts.push({ text: `ETA ${formatClock(progress.etaMs)}`, rank: 4 });
  const doing = DOING[progress.phase];
  const rest = joinWithin(parts, columns - doing.length - 1, ', ');
  return [doing, rest]
    .filter((text) => text !== '')
    .join(' ')
    .slice(0, Math.max(0, columns));
}

/** `uploaded: 50,000 files, 977 MiB in 12.3 s`, for logs. */
export function formatPhaseEnd(progress: ProgressSnapshot): string {
  const what: string[] = [];
  if (progress.filesDone > 0) what.push(formatPlural(progress.filesDone, 'file'));
  if (progress.bytesDone > 0) what.push(formatBytes(progress.bytesDone));
  if (progress.requests > 0) what.push(formatPlural(progress.requests, 'request'));
  const took = `in ${formatDuration(progress.elapsedMs)}`;
  return `${DONE[progress.phase]}: ${what.length > 0 ? `${what.join(', ')} ${took}` : `done ${took}`}`;
}

/** `1,234/50,000 files`; undefined if the phase counts none. */
export function formatFilesDone({
  filesDone,
  filesTotal,
  isCounting,
}: Pick<ProgressSnapshot, 'filesDone' | 'filesTotal' | 'isCounting'>): string | undefined {
  if (filesDone === 0 && !filesTotal) return undefined;
  const done = filesTotal ? `${formatCount(filesDone)}/` : '';
  return done + formatFiles(filesTotal || filesDone, isCounting ? '+' : '');
}

/** `5,000+ files`: the total may still grow. */
function formatFiles(count: number, more: string): string {
  const [number, word] = formatPlural(count, 'file').split(' ');
  return `${number}${more} ${more === '' ? word : 'files'}`;
}

export function percentDone(progress: ProgressSnapshot): number | undefined {
  if (progress.isCounting) return undefined;
  const [done, total] = progress.bytesTotal
    ? [progress.bytesDone, progress.bytesTotal]
    : [progress.filesDone, progress.filesTotal];
  // Rounded down, so that "100%" means all of it.
  return total ? Math.min(100, Math.floor((done / total) * 100)) : undefined;
}

export interface RankedText {
  readonly text: string;
  /** Parts of the highest rank are dropped first if the line is too long. */
  readonly rank: number;
}

/** Empty if not even the most important part fits. */
export function joinWithin(parts: readonly RankedText[], columns: number, separator: string): string {
  let kept = [...parts];
  for (;;) {
    const line = kept.map(({ text }) => text).join(separator);
    if (line.length <= columns || kept.length === 0) return line;
    const leastNeeded = Math.max(...kept.map(({ rank }) => rank));
    kept = kept.filter(({ rank }) => rank !== leastNeeded);
  }
}
