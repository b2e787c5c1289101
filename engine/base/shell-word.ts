/**
 * Quotes a text as one word of a shell command. A path may come from another user, so a command that people
 * copy must not execute parts of it.
 */
export function shellWord(text: string): string {
  // A tilde is expanded only where a word begins.
  return /^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
