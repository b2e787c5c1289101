/** Splits options as a shell does: at blanks, except within quotes. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  for (const [found] of text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g))
    words.push(found.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  return words;
}
