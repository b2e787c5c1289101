/**
 * Text from outside, made safe for a terminal: file names, branch names, messages of stores and peers, commit messages. `terminal.ts` passes
 * every line through here, so no caller can forget it.
 */

/**
 * What moves the cursor, ends a line or changes the order of what is read: C0, DEL and C1 controls, marks of direction (U+061C, U+200E, U+200F),
 * line and paragraph separators, embeddings, overrides and isolates (Unicode Technical Report 36, section 2.5).
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line, in which every unsafe character is shown as its escape. */
export function toTerminalLine(text: string): string {
  return text.replace(UNSAFE, showCharacter);
}

/** A path as it is, or in JSON's quotes when it holds an unsafe character, or begins with a quote or a backslash. */
export function quotePath(path: string): string {
  const isPlain = path.search(UNSAFE) < 0 && !path.startsWith('"') && !path.startsWith('\\');
  // JSON.stringify leaves some of them as they are.
  return isPlain ? path : JSON.stringify(path).replace(UNSAFE, showCharacter);
}

function showCharacter(character: string): string {
  return SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
