/**
 * Quotes a text as one word of a shell command. A path may come from another user, so a command that people
 * copy must not execute parts of it.
 */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
