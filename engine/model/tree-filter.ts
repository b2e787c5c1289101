/**
 * Which items of a tree a copy takes: rules by name, in the order given, then bounds of size and age.
 *
 * The first rule that matches decides; an item that none matches is taken. What a pattern means is in `path-pattern.ts`.
 */
import { DrayError } from '../api/error.ts';
import type { FilterRule, TreeFilterRequest } from '../api/trees.ts';
import { comparePaths } from './entry.ts';
import { compilePathPattern, type PathPattern } from './path-pattern.ts';
import type { TreeItem } from './tree-item.ts';

export interface TreeFilter {
  includes(item: Pick<TreeItem, 'modifiedMs' | 'path' | 'sizeBytes'>): boolean;
  /** Whether anything in the folder (its path ends in `/`) may be included. */
  mayContain(folder: string): boolean;
  /** The only paths there are, in order, each once. */
  readonly paths?: readonly string[];
  /** There are bounds of size or age besides the names. */
  readonly isBounded: boolean;
  /** Lets everything through. */
  readonly isOpen: boolean;
}

/** @throws `usage` for a pattern or a path that makes no sense, naming it. */
export function createTreeFilter(request: TreeFilterRequest): TreeFilter {
  const rules = (request.rules ?? []).map(compile);
  const paths = request.filesFrom && checkPaths(request.filesFrom);
  const named = paths && new Set(paths);
  const { maxSizeBytes, minSizeBytes, newerThanMs, olderThanMs } = request;
  const isBounded = [maxSizeBytes, minSizeBytes, newerThanMs, olderThanMs].some(
    (bound) => bound !== undefined,
  );
  return {
    includes({ modifiedMs, path, sizeBytes }) {
      if (named && !named.has(path)) return false;
      if (rules.length > 0 && !allows(rules, path)) return false;
      if (!isBounded) return true;
      return (
        sizeBytes >= (minSizeBytes ?? 0) &&
        sizeBytes <= (maxSizeBytes ?? Number.POSITIVE_INFINITY) &&
        modifiedMs >= (newerThanMs ?? Number.NEGATIVE_INFINITY) &&
        modifiedMs <= (olderThanMs ?? Number.POSITIVE_INFINITY)
      );
    },
    mayContain: (folder) => !isShut(rules, folder),
    ...(paths ? { paths } : {}),
    isBounded,
    isOpen: rules.length === 0 && !isBounded && !paths,
  };
}

/** What a filter says of names alone. */
export function withoutBounds({ filesFrom, rules }: TreeFilterRequest): TreeFilterRequest {
  return { ...(filesFrom ? { filesFrom } : {}), ...(rules ? { rules } : {}) };
}

/** The lines of a `--filter-from` file: `+ pattern`, `- pattern`, `!` forgets what came before, `#` and `;` begin comments. */
export function parseFilterFile(text: string): readonly FilterRule[] {
  let rules: FilterRule[] = [];
  for (const [at, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    if (line === '!') {
      rules = [];
      continue;
    }
    const found = /^([+-]) +(.+)$/.exec(line);
    if (!found) {
      const message = `Line ${at + 1} of the filter, "${line}", is no rule: write "+ PATTERN" or "- PATTERN".`;
      throw new DrayError('usage', message);
    }
    rules.push({ action: found[1] === '+' ? 'include' : 'exclude', pattern: found[2]! });
  }
  return rules;
}

interface CompiledRule {
  readonly isInclude: boolean;
  readonly pattern: PathPattern;
}

function compile({ action, pattern }: FilterRule): CompiledRule {
  return { isInclude: action === 'include', pattern: compilePathPattern(pattern) };
}

function allows(rules: readonly CompiledRule[], path: string): boolean {
  for (const { isInclude, pattern } of rules) if (pattern.matches(path)) return isInclude;
  return true;
}

/** A rule takes all of the folder away, and none before it may let something of it through. */
function isShut(rules: readonly CompiledRule[], folder: string): boolean {
  for (const { isInclude, pattern } of rules) {
    if (isInclude ? pattern.reachesInto(folder) : pattern.coversFolder(folder)) return !isInclude;
  }
  return false;
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
