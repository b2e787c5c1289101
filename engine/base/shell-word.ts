/** A text as one word of a shell's command line. A path may come from another user, so a command that people copy must not run parts of it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
