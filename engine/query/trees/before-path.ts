/** The start of a listing that includes a path and almost nothing before it. */
import { comparePaths } from '../../model/entry.ts';

const HIGHEST = '\u{10ffff}';
/**
 * S3 accepts keys of up to 1,024 bytes, including a prefix that is unknown here; from this length on nothing
 * is appended.
 */
const LONG_PATH_CHARACTERS = 200;

/**
 * A string before the path in byte order of UTF-8, with only strings between that nobody uses as keys: the
 * last character decremented, followed by the highest character (omitted for long paths: strings that share
 * all but the last character can then be between). For `startAfter`, which excludes its argument. '' means
 * the beginning.
 */
export function beforePath(path: string): string {
  const last = lastCharacter(path);
  if (last === undefined) return '';
  const head = path.slice(0, path.length - String.fromCodePoint(last).length);
  if (last === 0) return head;
  // Surrogates are not characters of their own.
  const lower = head + String.fromCodePoint(last === 0xe000 ? 0xd7ff : last - 1);
  return path.length < LONG_PATH_CHARACTERS ? lower + HIGHEST : lower;
}

/** The same, but never before `seenUntil`, so that a listing always advances. */
export function beforePathFrom(path: string, seenUntil: string): string {
  const before = beforePath(path);
  return comparePaths(before, seenUntil) < 0 ? seenUntil : before;
}

function lastCharacter(path: string): number | undefined {
  const pair = path.codePointAt(path.length - 2);
  return pair !== undefined && pair > 0xffff ? pair : path.codePointAt(path.length - 1);
}
