/**
 * Which items of a tree a copy takes: rules by name, in the order given, then bounds of size and age.
 *
 * Patterns are rclone's: `*` any characters but `/`, `**` any, `?` one but `/`, `[a-z]` and `[^a-z]` one of a set, `{a,b}` either of, `\`
 * takes the next character as it is. A pattern that begins with `/` is matched from the root of the tree, any other from the
 * beginning of any part of the path; both to its end. One that ends in `/` means a folder and all in it. Case counts. The first rule
 * that matches decides; an item that none matches is taken.
 *
 * The translation is our own, since picomatch and its kin match names as shells do: they have other rules for dots, for `**` beside
 * other characters, and for where a pattern without a slash applies.
 */
import { DrayError } from '../api/error.ts';
import type { FilterRule, TreeFilterRequest } from '../api/trees.ts';
import { comparePaths } from './entry.ts';
import type { TreeItem } from './tree-item.ts';

export interface TreeFilter {
  includes(item: Pick<TreeItem, 'modifiedMs' | 'path' | 'sizeBytes'>): boolean;
  /** Whether anything in the folder (its path ends in `/`) may be included. */
  mayContain(folder: string): boolean;
  /** The only paths there are, in order, each once. */
  readonly paths?: readonly string[];
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
    isOpen: rules.length === 0 && !isBounded && !paths,
  };
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
  readonly matches: RegExp;
  /** It matches whatever lies in a folder that it matches: it ends in `**` or `/`. */
  readonly isDeep: boolean;
}

function allows(rules: readonly CompiledRule[], path: string): boolean {
  for (const { isInclude, matches } of rules) if (matches.test(path)) return isInclude;
  return true;
}

/** Shut by a rule that takes all of the folder away, before any that may let something of it through. */
function isShut(rules: readonly CompiledRule[], folder: string): boolean {
  for (const { isDeep, isInclude, matches } of rules) {
    if (isInclude) return false;
    if (isDeep && matches.test(`${folder}\u{10ffff}`)) return true;
  }
  return false;
}

function compile({ action, pattern }: FilterRule): CompiledRule {
  if (pattern === '' || pattern === '/') throw badPattern(pattern, 'it names nothing');
  if (pattern.includes('{{')) throw badPattern(pattern, 'regular expressions in {{ }} are not known here');
  const isRooted = pattern.startsWith('/');
  const isFolder = pattern.endsWith('/');
  const body = (isRooted ? pattern.slice(1) : pattern) + (isFolder ? '**' : '');
  const start = isRooted ? '^' : '(?:^|/)';
  try {
    return {
      isInclude: action === 'include',
      matches: new RegExp(`${start}${translate(body, pattern)}$`, 'su'),
      isDeep: body.endsWith('**'),
    };
  } catch (cause) {
    if (cause instanceof DrayError) throw cause;
    throw badPattern(pattern, 'it cannot be read', cause);
  }
}

const SPECIAL = /[\\^$.*+?()[\]{}|/]/;

function translate(glob: string, pattern: string): string {
  let expression = '';
  let depth = 0;
  for (let at = 0; at < glob.length; ) {
    const character = String.fromCodePoint(glob.codePointAt(at)!);
    at += character.length;
    switch (character) {
      case '*': {
        const isDouble = glob[at] === '*';
        if (isDouble) at += 1;
        if (glob[at] === '*') throw badPattern(pattern, 'three stars in a row mean nothing');
        expression += isDouble ? '.*' : '[^/]*';
        break;
      }
      case '?':
        expression += '[^/]';
        break;
      case '[': {
        const set = readSet(glob, at, pattern);
        expression += set.expression;
        at = set.end;
        break;
      }
      case '{':
        if (depth > 0) throw badPattern(pattern, 'alternatives in alternatives are not known here');
        depth += 1;
        expression += '(?:';
        break;
      case '}':
        if (depth === 0) throw badPattern(pattern, 'a } has no {');
        depth -= 1;
        expression += ')';
        break;
      case ',':
        expression += depth > 0 ? '|' : ',';
        break;
      case '\\': {
        if (at >= glob.length) throw badPattern(pattern, 'nothing follows the \\ at its end');
        const next = String.fromCodePoint(glob.codePointAt(at)!);
        expression += quote(next);
        at += next.length;
        break;
      }
      default:
        expression += quote(character);
    }
  }
  if (depth > 0) throw badPattern(pattern, 'a { has no }');
  return expression;
}

/** `[abc]`, `[a-z]`, `[^a-z]`: as in a regular expression, as rclone has it. */
function readSet(
  glob: string,
  start: number,
  pattern: string,
): { readonly expression: string; readonly end: number } {
  const isNegated = glob[start] === '^';
  const first = isNegated ? start + 1 : start;
  let end = first;
  // A ] that comes first stands for itself.
  if (glob[end] === ']') end += 1;
  while (end < glob.length && glob[end] !== ']') end += glob[end] === '\\' ? 2 : 1;
  if (end >= glob.length) throw badPattern(pattern, 'a [ has no ]');
  const inside = glob
    .slice(first, end)
    .replace(/[[\]&~|^]/g, '\\$&')
    .replaceAll('/', '\\/');
  return { expression: `[${isNegated ? '^' : ''}${inside}]`, end: end + 1 };
}

function quote(character: string): string {
  return SPECIAL.test(character) ? `\\${character}` : character;
}

function badPattern(pattern: string, why: string, cause?: unknown): DrayError {
  return new DrayError('usage', `The pattern "${pattern}" makes no sense: ${why}.`, {
    data: { pattern },
    cause,
  });
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
