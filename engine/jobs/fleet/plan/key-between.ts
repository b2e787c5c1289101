/** Finds a key between two others. All orders are those of UTF-8, which is the order of code points. */
import { comparePaths } from '../../../model/entry.ts';

/** The last printable character of ASCII: most keys have nothing above it. */
const HIGHEST_USUAL = 0x7e;
const LOWEST_USUAL = 0x20;
const HIGHEST = 0x10ffff;
const SURROGATES = { first: 0xd800, last: 0xdfff };
/** S3's longest key. */
const LENGTH_MAX = 1024;

/**
 * A string between the two, about in the middle of the keys that use printable characters. It need not be
 * the key of an object. An absent `high` is above all keys. Undefined: nothing usual lies between them.
 */
export function keyBetween(low: string, high: string | undefined): string | undefined {
  const left = [...low];
  const right = high === undefined ? undefined : [...high];
  let at = 0;
  while (right && at < left.length && left[at] === right[at]) at += 1;
  let top = right ? (right[at]?.codePointAt(0) ?? 0) : HIGHEST;
  for (; at <= Math.min(left.length, LENGTH_MAX); at += 1) {
    const bottom = left[at]?.codePointAt(0) ?? LOWEST_USUAL - 1;
    const middle = middleOf(bottom, top > HIGHEST_USUAL && bottom < HIGHEST_USUAL ? HIGHEST_USUAL + 1 : top);
    if (middle !== undefined) {
      const key = left.slice(0, at).join('') + String.fromCodePoint(middle);
      const isBetween = comparePaths(key, low) > 0 && (high === undefined || comparePaths(key, high) < 0);
      return isBetween ? key : undefined;
    }
    // No character fits here, so the rest of the lower key decides, and any key may follow it.
    top = HIGHEST;
  }
  return undefined;
}

function middleOf(bottom: number, top: number): number | undefined {
  const middle = Math.floor((bottom + top) / 2);
  if (middle <= bottom || middle >= top) return undefined;
  const { first, last } = SURROGATES;
  if (middle < first || middle > last) return middle;
  return bottom < first - 1 ? first - 1 : last + 1 < top ? last + 1 : undefined;
}

/** Above every key that begins with `prefix`, and below any other that is above it. */
export function afterPrefix(prefix: string): string {
  return prefix + String.fromCodePoint(HIGHEST);
}
