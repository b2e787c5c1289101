/** The line of `.drayignore` that the window shows before it ignores a path. Isomorphic. */

/**
 * The line of the top `.drayignore` that ignores exactly this path. A folder's path ends in a slash.
 * Undefined for a name with a line break, which no line can match.
 */
export function ignoreLineOf(path: string): string | undefined {
  // A line ends at a line feed, and a carriage return before it does not count.
  if (path === '' || /[\r\n]/.test(path)) return undefined;
  const escaped = path.replace(/[\\*?[]/g, (special) => `\\${special}`);
  return `/${escaped.replace(/ +$/, (spaces) => '\\ '.repeat(spaces.length))}`;
}

/** A line that was added, with the facts that its removal needs. */
export interface IgnoreAdded {
  readonly line: string;
  /** The line with its ends, as they were written. */
  readonly added: string;
  /** The file did not exist before. */
  readonly isNew: boolean;
}
