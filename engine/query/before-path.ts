/** Where a listing has to start so that a path is in it, and next to nothing before. */

const HIGHEST = '\u{10ffff}';
/** S3's limit for keys, in bytes. */
const KEY_BYTES_MAX = 1024;

/**
 * A string below the path, in byte order of UTF-8, with nothing between but strings that nobody uses as keys: the last character one
 * lower, then the highest character there is. For `startAfter`, which excludes what it names. '' stands for the very beginning.
 */
export function beforePath(path: string): string {
  const last = path.codePointAt(path.length - 1 - (isPair(path) ? 1 : 0));
  if (last === undefined) return '';
  const head = path.slice(0, path.length - String.fromCodePoint(last).length);
  if (last === 0) return head;
  // Surrogates are no characters of their own.
  const lower = last === 0xe000 ? 0xd7ff : last - 1;
  const below = head + String.fromCodePoint(lower) + HIGHEST;
  return below.length * 3 > KEY_BYTES_MAX && Buffer.byteLength(below) > KEY_BYTES_MAX ? head : below;
}

function isPair(path: string): boolean {
  const low = path.charCodeAt(path.length - 1);
  const high = path.charCodeAt(path.length - 2);
  return low >= 0xdc00 && low <= 0xdfff && high >= 0xd800 && high <= 0xdbff;
}
