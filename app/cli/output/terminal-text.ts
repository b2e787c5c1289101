/**
 * Makes outside text safe for a terminal: file names, branch names, messages of stores and peers, commit
 * messages. `terminal.ts` passes every line through here, so no caller can forget it.
 */

/**
 * Unsafe: characters that move the cursor, end a line or change the reading order. C0, DEL and C1 controls,
 * direction marks (U+061C, U+200E, U+200F), line and paragraph separators, embeddings, overrides and isolates
 * (Unicode Technical Report 36, section 2.5).
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for these.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line. Every unsafe character becomes its escape. */
export function toTerminalLine(text: string): string {
  return text.replace(UNSAFE, showCharacter);
}

/**
 * A path unchanged, or in JSON's quotes if it holds an unsafe character or begins with a quote or a
 * backslash.
 */
export function quotePath(path: string): string {
  const isPlain = path.search(UNSAFE) < 0 && !path.startsWith('"') && !path.startsWith('\\');
  // JSON.stringify does not escape all of them.
  return isPlain ? path : JSON.stringify(path).replace(UNSAFE, showCharacter);
}

function showCharacter(character: string): string {
  return SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
