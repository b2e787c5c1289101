/**
 * `.drayignore`: gitignore's rules (gitignore(5)), matched by the npm package `ignore`.
 *
 * Invariant: the caller walks down from the root and never asks about anything inside an ignored folder. So each
 * folder that is asked about, or entered, is known not to be ignored, whatever one file's rules say of it alone.
 */
import ignore, { type Ignore } from 'ignore';

export const IGNORE_FILE_NAME = '.drayignore';

/** A larger file is refused: every path is matched against every rule. */
export const IGNORE_FILE_BYTES_MAX = 1024 * 1024;

/** `ignore` remembers every path it was asked about, so a matcher is made afresh after this many. */
const MATCHER_PATHS_MAX = 4096;

/** The rules of one ignore file and of those above it. */
export interface IgnoreRules {
  /** The file's folder: '' for the root, or a path that ends in `/`. */
  readonly folder: string;
  readonly above: IgnoreRules | undefined;
  /** Holds the compiled rules and is never asked. */
  readonly source: Ignore;
  matcher: Ignore;
  matcherPaths: number;
}

/** The rules inside `folder` ('' or ending in `/`), whose ignore file holds `text`; they win over those above. */
export function addIgnoreFile(above: IgnoreRules | undefined, folder: string, text: string): IgnoreRules {
  // Case counts on every system, so that one dataset ignores the same files wherever it is pushed from.
  return rulesOf(folder, ignore({ ignoreCase: false }).add(text), above);
}

/** @param path Relative to the root; a folder's ends in `/`. It must lie in the folder of `rules`. */
export function isIgnored(rules: IgnoreRules | undefined, path: string): boolean {
  for (let file = rules; file; file = file.above) {
    const verdict = test(file, path);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}

/**
 * The rules to use below `folder`, which `isIgnored` said is not ignored. They differ where a deeper file took back
 * what a higher one ignores (`logs/` above, `!logs/` below): `ignore` would go on to hold the folder against
 * everything in it, git does not.
 */
export function enterFolder(rules: IgnoreRules | undefined, folder: string): IgnoreRules | undefined {
  if (!rules) return undefined;
  const above = enterFolder(rules.above, folder);
  if (test(rules, folder).ignored) {
    const pattern = `!/${escapePattern(folder.slice(rules.folder.length))}`;
    return rulesOf(rules.folder, freshMatcher(rules.source).add({ pattern }), above);
  }
  return above === rules.above ? rules : rulesOf(rules.folder, rules.source, above);
}

function rulesOf(folder: string, source: Ignore, above: IgnoreRules | undefined): IgnoreRules {
  return { folder, above, source, matcher: freshMatcher(source), matcherPaths: 0 };
}

function test(rules: IgnoreRules, path: string): { ignored: boolean; unignored: boolean } {
  if (rules.matcherPaths === MATCHER_PATHS_MAX) {
    rules.matcher = freshMatcher(rules.source);
    rules.matcherPaths = 0;
  }
  rules.matcherPaths += 1;
  return rules.matcher.test(path.slice(rules.folder.length));
}

/** Shares the compiled rules, so it costs one array. */
function freshMatcher(source: Ignore): Ignore {
  return ignore({ ignoreCase: false }).add(source);
}

function escapePattern(path: string): string {
  return path.replace(/[\\*?[\]!# ]/g, '\\$&');
}
