/** What the window shows before it ignores a path. Isomorphic. */

/**
 * The line of the top `.drayignore` that ignores exactly this path. A folder's path ends in a slash.
 * Undefined for a name that no line can hold.
 */
export function ignoreLineOf(path: string): string | undefined {
  // A line ends at a line feed, and a carriage return before it does not count.
  if (path === '' || /[\r\n]/.test(path)) return undefined;
  const escaped = path.replace(/[\\*?[]/g, (special) => `\\${special}`);
  return `/${escaped.replace(/ +$/, (spaces) => '\\ '.repeat(spaces.length))}`;
}

/** A line that was added, as its undoing needs it. */
export interface IgnoreAdded {
  readonly line: string;
  /** The line with its ends, as they were written. */
  readonly added: string;
  /** The file did not exist before. */
  readonly isNew: boolean;
}
