/**
 * The part of a dataset that a workspace holds: what one of its patterns names.
 *
 * - A pattern names files and folders, a folder with everything in it. One that ends in `/` names folders
 *   alone.
 * - Without `*`, `?`, `[ ]`, `{ }` and `\` it is a path from the workspace's root. With them it is a pattern
 *   of `path-pattern.ts`: from the root if a `/` stands before its end, otherwise at any depth.
 * - `.drayignore` files in the folders on the way to what is named belong to the part, because their rules
 *   apply there.
 *
 * Invariant: a part that holds an empty folder's entry holds everything that could be inside that folder.
 */
import { DrayError } from '../api/error.ts';
import { comparePaths } from './entry.ts';
import { IGNORE_FILE_NAME } from './ignore-file-name.ts';
import { compilePathPatterns } from './patterns/path-pattern.ts';

export interface Scope {
  readonly patterns: readonly string[];
  /** Whether it holds this file, link, or empty folder (whose path ends in `/`). */
  holds(path: string): boolean;
  /** Whether a pattern names it. It holds more: the ignore files above. */
  names(path: string): boolean;
  /** Whether it may hold something in the folder, whose path ends in `/`. */
  reachesInto(folder: string): boolean;
  /** Whether it may hold something from `first` to `last`, both included. Decides without a look at globs. */
  reachesBetween(first: string, last: string): boolean;
}

/** A thousand folders take about 10 µs for each path. */
const PATTERNS_MAX = 1_000;
const SPECIAL = /[*?[\]{}\\]/;

/** @throws `usage` for a pattern that is invalid, or that leaves the workspace */
export function compileScope(patterns: readonly string[]): Scope {
  const read = patterns.map(readScopePattern);
  const plain = read.filter(({ isPlain }) => isPlain);
  const globs = compilePathPatterns(read.flatMap(({ forms, isPlain }) => (isPlain ? [] : forms)));
  const stretches = stretchesOf(read);
  const isBelow = (path: string) => plain.some(({ folder }) => path.startsWith(folder));
  const reachesInto = (folder: string) =>
    folder === '' ||
    plain.some((pattern) => folder.startsWith(pattern.folder) || pattern.folder.startsWith(folder)) ||
    globs.reachingInto(folder).length > 0;
  const names = (path: string) => {
    if (isBelow(path)) return true;
    if (path.endsWith('/')) return globs.coveringFolder(path).length > 0;
    return plain.some(({ file }) => file === path) || globs.matchesOf(path).length > 0;
  };
  return {
    patterns,
    names,
    reachesInto,
    holds: (path) => {
      if (names(path)) return true;
      const name = path.lastIndexOf('/') + 1;
      if (path.endsWith(IGNORE_FILE_NAME) && path.length === name + IGNORE_FILE_NAME.length)
        return reachesInto(path.slice(0, name));
      return false;
    },
    reachesBetween: (first, last) =>
      stretches.some(
        ({ from, isPrefix }) =>
          comparePaths(last, from) >= 0 &&
          (comparePaths(first, from) <= 0 || (isPrefix && first.startsWith(from))),
      ),
  };
}

/** @throws `usage` */
export function checkScopePatterns(patterns: readonly string[]): void {
  if (patterns.length > PATTERNS_MAX)
    throw new DrayError('usage', `A workspace can have ${PATTERNS_MAX} patterns, not ${patterns.length}.`, {
      data: { count: patterns.length },
      advice: 'Name folders above them.',
    });
  compileScope(patterns);
}

interface ScopePattern {
  readonly isPlain: boolean;
  /** Of a plain one: its path, unless it names folders alone. */
  readonly file: string | undefined;
  /** Of a plain one: its path with a `/`. */
  readonly folder: string;
  /** For `compilePathPatterns`. */
  readonly forms: readonly string[];
  /** What all paths begin with that it can match. */
  readonly prefix: string;
}

function readScopePattern(pattern: string): ScopePattern {
  const isFolder = pattern.endsWith('/');
  const body = trimSlashes(pattern.startsWith('./') ? pattern.slice(2) : pattern);
  const parts = body.split('/');
  if (body === '' || parts.some((part) => part === '..' || part === '.' || part === ''))
    throw new DrayError('usage', `"${pattern}" names no part of a dataset.`, {
      data: { pattern },
      advice: 'Write a folder, a file or a pattern, from the root of the workspace.',
    });
  const special = body.search(SPECIAL);
  const isPlain = special === -1;
  const isRooted = isPlain || pattern.startsWith('/') || body.includes('/');
  const rooted = `${isRooted ? '/' : ''}${body}`;
  return {
    isPlain,
    file: isFolder ? undefined : body,
    folder: `${body}/`,
    forms: isFolder ? [`${rooted}/`] : [rooted, `${rooted}/`],
    prefix: isRooted ? (isPlain ? `${body}/` : body.slice(0, special)) : '',
  };
}

function trimSlashes(text: string): string {
  const start = text.startsWith('/') ? 1 : 0;
  return text.slice(start, text.endsWith('/') && text.length > 1 ? -1 : undefined);
}

/** Paths that may be inside lie at `from`, or begin with it. */
interface Stretch {
  readonly from: string;
  readonly isPrefix: boolean;
}

function stretchesOf(patterns: readonly ScopePattern[]): readonly Stretch[] {
  const found = new Map<string, boolean>();
  for (const { file, isPlain, prefix } of patterns) {
    found.set(prefix, true);
    if (isPlain && file !== undefined && !found.has(file)) found.set(file, false);
    for (let at = 0; at !== -1; at = prefix.indexOf('/', at + 1)) {
      const ignoreFile = `${prefix.slice(0, at === 0 ? 0 : at + 1)}${IGNORE_FILE_NAME}`;
      if (!found.has(ignoreFile)) found.set(ignoreFile, false);
    }
  }
  return [...found].map(([from, isPrefix]) => ({ from, isPrefix }));
}
