/**
 * Linear, unlike `replace(/\/+$/, '')`, which is quadratic: it tries a run of slashes from each of its
 * characters.
 */

/** Removes the given characters from the beginning. */
export function trimStart(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text[start]!)) start += 1;
  return text.slice(start);
}

/** Removes the given characters from the end. */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
