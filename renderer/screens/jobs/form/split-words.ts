/** Splits options as a shell does: at blanks, except within quotes. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  for (const [found] of text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g))
    words.push(found.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  return words;
}

/** A text that `splitWords` splits into these words. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  if (/^[^\s"']+$/.test(word)) return word;
  return word.includes("'") ? word.replace(/[^']+|'+/g, quotePart) : `'${word}'`;
}

function quotePart(part: string): string {
  return part.startsWith("'") ? `"${part}"` : `'${part}'`;
}
