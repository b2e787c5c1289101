/**
 * Changes as lines: `A path`, `M`, `D`, `R old -> new`, `m` for the executable bit only, `T` for the time
 * only.
 */
import type { ChangeEvent, ChangeKind, ConflictEvent, JobEvent } from '../../../engine/api/events.ts';
import type { ChangeTotals } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatCount } from '../../../engine/api/text/numbers.ts';
import type { Color, Paint } from './colors.ts';
import type { Output } from './output.ts';
import { quotePath } from './terminal-text.ts';

const LETTERS: Readonly<Record<ChangeKind, readonly [letter: string, color: Color]>> = {
  added: ['A', 'green'],
  modified: ['M', 'yellow'],
  deleted: ['D', 'red'],
  renamed: ['R', 'cyan'],
  mode: ['m', 'yellow'],
  time: ['T', 'cyan'],
};

export function formatChange(change: ChangeEvent, paint: Paint): string {
  const [letter, color] = LETTERS[change.change];
  const from = change.fromPath === undefined ? '' : `${quotePath(change.fromPath)} -> `;
  return paint(color, `${letter} ${from}${quotePath(change.path)}`);
}

export function formatConflict(conflict: ConflictEvent, paint: Paint): string {
  return `${paint('red', `C ${quotePath(conflict.path)}`)}  (${conflict.ours} here, ${conflict.theirs} there)`;
}

/** For `onEvent`: prints changes and conflicts as results. */
export function printChanges(event: JobEvent, output: Output): void {
  if (event.type === 'change') output.result(formatChange(event, output.paint));
  else if (event.type === 'conflict') output.result(formatConflict(event, output.paint));
}

export function countChanges(changes: ChangeTotals): number {
  return changes.added + changes.modified + changes.deleted + changes.renamed + changes.mode;
}

/** `2 added, 1 deleted, 1.2 MiB`, or `no changes`. The bytes count added and modified files. */
export function formatChangeTotals(changes: ChangeTotals): string {
  const parts: string[] = [];
  const add = (count: number, word: string) => {
    if (count > 0) parts.push(`${formatCount(count)} ${word}`);
  };
  add(changes.added, 'added');
  add(changes.modified, 'modified');
  add(changes.deleted, 'deleted');
  add(changes.renamed, 'renamed');
  add(changes.mode, 'with another mode');
  if (parts.length === 0) return 'no changes';
  if (changes.added + changes.modified > 0) parts.push(formatBytes(changes.bytes));
  return parts.join(', ');
}
