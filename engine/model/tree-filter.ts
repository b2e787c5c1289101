/**
 * Which items of a tree a copy includes: rules by name, in the given order, then bounds of size and age.
 *
 * The first matching rule decides; an unmatched item is included. `path-pattern.ts` defines patterns.
 *
 * The age of an object is that of its content (its `mtime` metadata), which a listing does not have.
 * `includes` throws without it, so no caller can use the upload time by mistake; `needsTime` says which items
 * need it.
 */
import { DrayError } from '../api/error.ts';
import type { FilterRule, TreeFilterRequest } from '../api/jobs/trees.ts';
import { trimEnd, trimStart } from '../api/text/trim-ends.ts';
import { comparePaths } from './entry.ts';
import { compilePathPatterns } from './patterns/path-pattern.ts';
import type { TreeItem } from './tree-item.ts';

export interface TreeFilter {
  /** @throws Error for an item that `needsTime`. */
  includes(item: FilteredItem): boolean;
  /** Whether only the age is left to decide, and it has not been read. */
  needsTime(item: FilteredItem): boolean;
  /** Whether anything in the folder (its path ends in `/`) can be included. */
  mayContain(folder: string): boolean;
  /** The only paths, in order, each once. */
  readonly paths?: readonly string[];
  /** The patterns to include that have matched none of the items until now. */
  unmatched(): readonly string[];
  /** Has bounds of size or age besides rules. */
  readonly isBounded: boolean;
  /** Includes everything. */
  readonly isOpen: boolean;
}

type FilteredItem = Pick<TreeItem, 'modifiedMs' | 'path' | 'sizeBytes'> &
  Partial<Pick<TreeItem, 'isFile' | 'kind' | 'mtimeNs' | 'wasAsked'>>;

/** @throws `usage` for an invalid pattern or path, naming it. */
export function createTreeFilter(request: TreeFilterRequest): TreeFilter {
  const rules = compileRules(request.rules ?? []);
  const paths = request.filesFrom && checkPaths(request.filesFrom);
  const named = paths && new Set(paths);
  const { maxSizeBytes, minSizeBytes, newerThanMs, olderThanMs } = request;
  const isAged = newerThanMs !== undefined || olderThanMs !== undefined;
  const isBounded = isAged || maxSizeBytes !== undefined || minSizeBytes !== undefined;
  const lacksTime = (item: FilteredItem) => isAged && !request.serverTime && !isTimeKnown(item);
  const allowsButForAge = ({ path, sizeBytes }: FilteredItem) =>
    (!named || named.has(path)) &&
    (!rules || rules.allow(path)) &&
    sizeBytes >= (minSizeBytes ?? 0) &&
    sizeBytes <= (maxSizeBytes ?? Number.POSITIVE_INFINITY);
  return {
    includes(item) {
      if (!allowsButForAge(item)) return false;
      if (!isAged) return true;
      if (lacksTime(item)) throw new Error(`The time of ${item.path} has to be read before it is filtered.`);
      const timeMs = request.serverTime ? item.modifiedMs : timeMsOf(item);
      return (
        timeMs >= (newerThanMs ?? Number.NEGATIVE_INFINITY) &&
        timeMs <= (olderThanMs ?? Number.POSITIVE_INFINITY)
      );
    },
    needsTime: (item) => lacksTime(item) && allowsButForAge(item),
    mayContain: (folder) => !rules || rules.mayAllowIn(folder),
    ...(paths ? { paths } : {}),
    unmatched: () => rules?.unmatched() ?? [],
    isBounded,
    isOpen: !rules && !isBounded && !paths,
  };
}

/** Scans and file listings have times; an object's time needs a HEAD. */
export function isTimeKnown({ isFile, kind = 'file', mtimeNs, wasAsked }: FilteredItem): boolean {
  return kind === 'file' || isFile === true || mtimeNs !== undefined || wasAsked === true;
}

const NS_PER_MS = 1e6;

/** An object written without a time of its own is as old as its upload. */
function timeMsOf({ mtimeNs, modifiedMs }: FilteredItem): number {
  return mtimeNs === undefined ? modifiedMs : Number(mtimeNs) / NS_PER_MS;
}

/** The rules of a filter without its bounds. */
export function withoutBounds({ filesFrom, rules }: TreeFilterRequest): TreeFilterRequest {
  return { ...(filesFrom ? { filesFrom } : {}), ...(rules ? { rules } : {}) };
}

/** Lines of a file of rules or patterns, trimmed, without empty lines and comments (`#`, `;`). */
export function readRuleLines(content: string, file: string): readonly RuleLine[] {
  return content
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line, at) => ({
      origin: `${file}, line ${at + 1}`,
      text: trimStart(trimEnd(line, WHITE_SPACE), WHITE_SPACE),
    }))
    .filter(({ text }) => text !== '' && !/^[#;]/.test(text));
}

export interface RuleLine {
  /** The file and line number, for errors. */
  readonly origin: string;
  readonly text: string;
}

/** White space as in Go's `strings.TrimSpace`: unlike JavaScript's `trim`, with U+0085 and without U+FEFF. */
const WHITE_SPACE =
  '\t\n\v\f\r ' +
  '\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/**
 * Parses `+ PATTERN`, `- PATTERN`, or `!`, which drops all rules before it. @param origin The rule's
 * location, for the error.
 */
export function parseFilterRule(text: string, origin: string): FilterRule | 'clear' {
  if (text.trimEnd() === '!') return 'clear';
  const found = /^([+-]) (.+)$/s.exec(text);
  if (!found) {
    const message = `"${text}" (${origin}) is no rule: write "+ PATTERN" to take or "- PATTERN" to leave out.`;
    throw new DrayError('usage', message, { data: { rule: text } });
  }
  return { action: found[1] === '+' ? 'include' : 'exclude', pattern: found[2]! };
}

interface CompiledRules {
  allow(path: string): boolean;
  mayAllowIn(folder: string): boolean;
  unmatched(): readonly string[];
}

/** @returns undefined for an empty list. */
function compileRules(rules: readonly FilterRule[]): CompiledRules | undefined {
  if (rules.length === 0) return undefined;
  for (const rule of rules) refuseFolderAlone(rule);
  const isInclude = rules.map(({ action }) => action === 'include');
  const patterns = compilePathPatterns(rules.map(({ pattern }) => pattern));
  const unmatched = new Set(isInclude.flatMap((isOne, at) => (isOne ? [at] : [])));
  return {
    allow(path) {
      const matches = patterns.matchesOf(path);
      if (unmatched.size > 0) for (const at of matches) unmatched.delete(at);
      const [first] = matches;
      return first === undefined || isInclude[first]!;
    },
    unmatched: () => [...unmatched].map((at) => rules[at]!.pattern),
    // Nothing is included if a rule excludes the whole folder and no earlier rule may include something in
    // it.
    mayAllowIn(folder) {
      const shutting = patterns.coveringFolder(folder).find((at) => !isInclude[at]);
      if (shutting === undefined) return true;
      const opening = patterns.reachingInto(folder).find((at) => isInclude[at]);
      return opening !== undefined && opening < shutting;
    },
  };
}

/** rclone's `+ folder/` matches only folders, so it includes no file. Few users mean that. */
function refuseFolderAlone({ action, pattern }: FilterRule): void {
  if (action !== 'include' || !pattern.endsWith('/')) return;
  const message = `The pattern "${pattern}" includes a folder and no file in it, as in rclone: write "${pattern}**".`;
  throw new DrayError('usage', message, { data: { pattern } });
}

function checkPaths(given: readonly string[]): readonly string[] {
  const paths = new Set<string>();
  for (const line of given) {
    const path = line.startsWith('./') ? line.slice(2) : line;
    const isBad =
      path === '' || path.startsWith('/') || path.split('/').some((part) => part === '..' || part === '.');
    if (isBad) {
      const message = `"${line}" is no path of the source: name files relative to it, without "." and "..".`;
      throw new DrayError('usage', message, { data: { path: line } });
    }
    paths.add(path);
  }
  return [...paths].sort(comparePaths);
}
