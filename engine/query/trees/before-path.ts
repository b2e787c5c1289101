/** Where a listing has to start so that a path is in it, and next to nothing before. */
import { comparePaths } from '../../model/entry.ts';

const HIGHEST = '\u{10ffff}';
/** S3 takes keys of up to 1,024 bytes, a prefix included that is not known here; from this length on nothing is added. */
const LONG_PATH_CHARACTERS = 200;

/**
 * A string below the path, in byte order of UTF-8, with nothing between but strings that nobody uses as keys: the last character one
 * lower, then the highest character there is (left out in long paths: what shares all but the last character may then lie between).
 * For `startAfter`, which excludes what it names. '' stands for the very beginning.
 */
export function beforePath(path: string): string {
  const last = lastCharacter(path);
  if (last === undefined) return '';
  const head = path.slice(0, path.length - String.fromCodePoint(last).length);
  if (last === 0) return head;
  // Surrogates are no characters of their own.
  const lower = head + String.fromCodePoint(last === 0xe000 ? 0xd7ff : last - 1);
  return path.length < LONG_PATH_CHARACTERS ? lower + HIGHEST : lower;
}

/** The same, but never back behind what is seen already: however much lies right before the path, the listing moves on. */
export function beforePathFrom(path: string, seenUntil: string): string {
  const before = beforePath(path);
  return comparePaths(before, seenUntil) < 0 ? seenUntil : before;
}

function lastCharacter(path: string): number | undefined {
  const pair = path.codePointAt(path.length - 2);
  return pair !== undefined && pair > 0xffff ? pair : path.codePointAt(path.length - 1);
}
