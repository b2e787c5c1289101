/**
 * Makes outside text safe for a terminal. `terminal.ts` passes every line through here, so no caller can
 * forget it.
 */
import { escapeUnsafe, UNSAFE } from '../../../engine/api/text/outside-text.ts';

/** One line. Every unsafe character becomes its escape. */
export function toTerminalLine(text: string): string {
  return escapeUnsafe(text);
}

/**
 * A path unchanged, or in JSON's quotes if it holds an unsafe character or begins with a quote or a
 * backslash.
 */
export function quotePath(path: string): string {
  const isPlain = path.search(UNSAFE) < 0 && !path.startsWith('"') && !path.startsWith('\\');
  // JSON.stringify does not escape all of them.
  return isPlain ? path : escapeUnsafe(JSON.stringify(path));
}
