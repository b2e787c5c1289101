/**
 * Only `app/cli/output/terminal.ts` writes to the standard streams, because it keeps control characters in
 * file names and stores' messages from the terminal. This rule reports every other write to them.
 */
export interface TerminalWrite {
  /** The line number, from 1. */
  readonly line: number;
  readonly what: string;
}

/** The folders of the rule. Tests and build scripts write for developers. */
const FOLDERS = ['app/cli/', 'app/desktop/', 'app/quickstart/', 'app/web/', 'engine/', 'renderer/'];
const WRITERS: ReadonlySet<string> = new Set([
  'app/cli/output/terminal.ts',
  // Runs on Node versions too old to load anything else, and prints only two version numbers.
  'app/cli/main.ts',
]);

const WAYS: readonly RegExp[] = [
  /\bprocess\s*\??\.\s*(?:stdout|stderr)\b/,
  /\bprocess\s*(?:\?\.)?\[/,
  /\b(?:stdout|stderr)\b[^=]*\}\s*=\s*(?:globalThis\.)?process\b/,
  /=\s*(?:globalThis\.)?process\s*[;,)]/,
  /\bconsole\b\s*(?:\??\.|\[)/,
  /=\s*(?:globalThis\.)?console\b/,
  /\bwriteSync\(\s*[12]\b/,
  /['"](?:node:)?(?:process|console)['"]/,
  /\/dev\/(?:tty|stdout|stderr|fd\/[12])\b/,
];

export function findTerminalWrites(file: string, source: string): TerminalWrite[] {
  const isHeld = FOLDERS.some((folder) => file.startsWith(folder));
  if (!isHeld || WRITERS.has(file) || /(?:\.test|\.bench|[.-]fixture)\.tsx?$/.test(file)) return [];
  return source.split('\n').flatMap((text, index) => {
    const isComment = /^\s*(?:\/\/|\/?\*)/.test(text);
    const isOffence = !isComment && WAYS.some((way) => way.test(text));
    const what =
      'writes to the terminal by itself: use app/cli/output/terminal.ts, which escapes control characters';
    return isOffence ? [{ line: index + 1, what }] : [];
  });
}
