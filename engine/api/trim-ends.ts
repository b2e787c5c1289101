/** Linear, where `replace(/\/+$/, '')` takes a time that grows with the square of the text: a run of slashes is tried from each of them. */

/** Without those of the characters that stand at its beginning. */
export function trimStart(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text[start]!)) start += 1;
  return text.slice(start);
}

/** Without those of the characters that stand at its end. */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
