/**
 * When many files become empty at once, a crash, a full disk or a broken program is the likely cause. So a
 * push refuses to record that without `--allow-emptied`.
 */
import { DrayError } from '../../api/error.ts';
import { formatPlural } from '../../api/text/numbers.ts';
import type { Session } from '../session/open-workspace.ts';

/** From this many files on a push is refused, whatever the size of the base. */
const MANY_FILES = 10;
/**
 * Fewer files, at least two, are refused from this share of the base on. One file may be a log that started
 * over.
 */
const MANY_PERCENT = 10;
const FEW_FILES = 2;
const NAMED_MAX = 20;

/** Call after the scan, when the index's base rows mirror the base. @throws `manyEmptied` */
export function refuseEmptied({ index }: Session): void {
  const { baseFiles, count, first } = index.files.emptied(NAMED_MAX);
  const isMany = count >= MANY_FILES || (count >= FEW_FILES && count * 100 >= baseFiles * MANY_PERCENT);
  if (!isMany) return;
  throw new DrayError(
    'manyEmptied',
    `${first[0]} and ${formatPlural(count - 1, 'more file')} have become empty since the last push or pull, and nothing was sent.`,
    {
      data: { count, baseFiles, paths: first },
      advice: 'Get them back with "dray restore", or push them as they are with --allow-emptied.',
      command: 'dray push --allow-emptied',
    },
  );
}
