/** Lines of `verify` and `remote test`. */
import type { CheckEvent, JobEvent } from '../../../engine/api/events.ts';
import { formatCount } from '../../../engine/api/text/numbers.ts';
import type { Color, Paint } from './colors.ts';
import type { Output } from './output.ts';
import { quotePath } from './terminal-text.ts';

/** Prints at most this many paths, unless `--verbose` asks for all. */
const PATHS_SHOWN_MAX = 20;

const LABELS: Readonly<Record<CheckEvent['result'], readonly [label: string, color: Color]>> = {
  ok: ['ok', 'green'],
  failed: ['FAILED', 'red'],
  warning: ['warning', 'yellow'],
  notSupported: ['no', 'dim'],
};

export function printCheck(event: JobEvent, output: Output): void {
  if (event.type !== 'check') return;
  for (const line of formatCheck(event, output.paint, output.verbose)) output.result(line);
}

export function formatCheck(check: CheckEvent, paint: Paint, isVerbose: boolean): string[] {
  const [label, color] = LABELS[check.result];
  const detail = check.detail === '' ? '' : `: ${check.detail}`;
  const paths = check.paths ?? [];
  const shown = isVerbose ? paths : paths.slice(0, PATHS_SHOWN_MAX);
  const more = paths.length - shown.length;
  return [
    `${paint(color, label.padEnd(7))}  ${check.check}${detail}`,
    ...shown.map((path) => `           ${quotePath(path)}`),
    ...(more > 0 ? [`           and ${formatCount(more)} more (--verbose shows all)`] : []),
  ];
}
