/** Formats saved jobs as lines of text. */
import type { SavedJobEvent } from '../../../engine/api/events.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { shellWord } from '../../../engine/base/shell-word.ts';
import { formatTable } from './table.ts';
import { toTerminalLine } from './terminal-text.ts';

export function formatJobLines(jobs: readonly SavedJobEvent[]): string[] {
  const rows = jobs.map((job) => [
    job.name,
    stateOf(job),
    job.lastRun === undefined ? 'never ran' : `${resultOf(job)} ${localTime(job.lastRun)}`,
    job.nextRun === undefined ? job.triggers.join(', ') || 'by hand' : `next ${localTime(job.nextRun)}`,
    // Escaped before measuring, because escapes take columns.
    toTerminalLine(commandLine(job)),
  ]);
  return formatTable(rows, ['left', 'left', 'left', 'left', 'left']);
}

export function formatJob(job: SavedJobEvent): string[] {
  const rows: (readonly [string, string])[] = [
    ['job', job.name],
    ['command', commandLine(job)],
    ['folder', job.directory],
    ['starts', job.triggers.join(', ') || 'by hand'],
    ['state', stateOf(job)],
    ...(job.waits === '' ? [] : [['waits', job.waits] as const]),
    ...(job.nextRun === undefined ? [] : [['next run', localTime(job.nextRun)] as const]),
    ...(job.lastRun === undefined ? [] : [['last run', localTime(job.lastRun)] as const]),
    ...(job.lastResult === undefined
      ? []
      : [['last result', [job.lastResult, job.lastMessage].filter(Boolean).join('. ')] as const]),
    ...(job.lastSuccess === undefined ? [] : [['last success', localTime(job.lastSuccess)] as const]),
    ...(job.progress ? [['file', job.progress.path ?? ''] as const] : []),
  ];
  return formatTable(rows, ['left', 'left']);
}

function stateOf({ progress, state }: SavedJobEvent): string {
  if (state !== 'running' || !progress) return state;
  const { bytesDone, bytesPerSecond = 0, bytesTotal, filesDone, isCounting } = progress;
  const isKnown = bytesTotal !== undefined && bytesTotal > 0 && !isCounting;
  const share = isKnown
    ? `${Math.floor((bytesDone / bytesTotal) * 100)}%`
    : `${formatPlural(filesDone, 'file')}, ${formatBytes(bytesDone)}`;
  return `running ${share}${bytesPerSecond >= 1 ? `, ${formatBytes(bytesPerSecond)}/s` : ''}`;
}

function resultOf({ lastResult }: SavedJobEvent): string {
  return lastResult ?? 'began';
}

function commandLine(job: SavedJobEvent): string {
  return ['dray', ...job.arguments].map((word) => shellWord(word)).join(' ');
}

/** `2026-01-31 02:30`, in this machine's time zone. */
export function localTime(rfc3339: string): string {
  const time = new Date(rfc3339);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
