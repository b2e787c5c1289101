/**
 * Makes outside text safe to show: file names, branch names, messages of stores and peers, commit messages.
 *
 * Unsafe: characters that move the cursor, end a line or change the reading order. C0, DEL and C1 controls,
 * direction marks (U+061C, U+200E, U+200F), line and paragraph separators, embeddings, overrides and isolates
 * (Unicode Technical Report 36, section 2.5).
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for these.
export const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** @param kept Unsafe characters that stay as they are. */
export function escapeUnsafe(text: string, kept = ''): string {
  return text.replace(UNSAFE, (character) => (kept.includes(character) ? character : escapeOf(character)));
}

function escapeOf(character: string): string {
  return SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
