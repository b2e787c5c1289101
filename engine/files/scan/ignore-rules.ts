/**
 * `.drayignore`: gitignore's rules (gitignore(5); git's `dir.c` and `wildmatch.c` where that is ambiguous).
 * Such files come with other people's datasets, so they are matched in linear time.
 *
 * Invariant: the caller walks down from the root and never asks about anything inside an ignored folder. So
 * the folders above a path need no second check.
 */
import {
  ANY,
  createLinearMatcher,
  type LinearMatcher,
  NOT_SLASH,
  type Part,
  SLASH,
  SOME,
} from '../../model/patterns/linear-matcher.ts';
import { namedSet } from '../../model/patterns/pattern-set.ts';

/** A larger file is refused: its rules are kept in memory. */
export const IGNORE_FILE_BYTES_MAX = 1024 * 1024;

/** The rules of one ignore file and of those above it. */
export interface IgnoreRules {
  /** The file's folder: '' for the root, or a path that ends in `/`. */
  readonly folder: string;
  readonly above: IgnoreRules | undefined;
  readonly rules: readonly IgnoreRule[];
  /** Matches the rules, in their order. */
  readonly matcher: LinearMatcher;
}

interface IgnoreRule {
  readonly parts: readonly Part[];
  readonly isFloating: boolean;
  readonly isNegated: boolean;
  readonly isFolderAlone: boolean;
}

/**
 * The rules inside `folder` ('' or ending in `/`), whose ignore file contains `text`; they override those
 * above.
 */
export function addIgnoreFile(above: IgnoreRules | undefined, folder: string, text: string): IgnoreRules {
  // Case-sensitive on every system, so that one dataset ignores the same files wherever it is pushed from.
  const rules = (text.startsWith('\ufeff') ? text.slice(1) : text)
    .split('\n')
    .flatMap((line) => readRule(line) ?? []);
  return { folder, above, rules, matcher: createLinearMatcher(rules) };
}

/** @param path Relative to the root; a folder's ends in `/`. It must be in the folder of `rules`. */
export function isIgnored(rules: IgnoreRules | undefined, path: string): boolean {
  const isFolder = path.endsWith('/');
  const end = isFolder ? path.length - 1 : path.length;
  for (let file = rules; file; file = file.above) {
    const matching = file.matcher.matchesOf(path.slice(file.folder.length, end));
    for (let at = matching.length - 1; at >= 0; at -= 1) {
      const { isFolderAlone, isNegated } = file.rules[matching[at]!]!;
      if (isFolder || !isFolderAlone) return !isNegated;
    }
  }
  return false;
}

/** @returns undefined for a line that matches nothing. */
function readRule(line: string): IgnoreRule | undefined {
  if (line.startsWith('#')) return undefined;
  const text = withoutEndSpaces(line.endsWith('\r') ? line.slice(0, -1) : line);
  const isNegated = text.startsWith('!');
  const isFolderAlone = text.endsWith('/');
  const body = text.slice(isNegated ? 1 : 0, isFolderAlone ? -1 : undefined);
  const isFloating = !body.includes('/');
  const parts = readGlob(body.startsWith('/') ? body.slice(1) : body, isFloating);
  return parts?.length ? { parts, isFloating, isNegated, isFolderAlone } : undefined;
}

/** Trailing spaces count only after a `\`. */
function withoutEndSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end -= 1;
  let backslashes = 0;
  while (line[end - backslashes - 1] === '\\') backslashes += 1;
  return line.slice(0, end < line.length && backslashes % 2 === 1 ? end + 1 : end);
}

/** @returns undefined for a pattern that matches nothing. */
function readGlob(glob: string, isName: boolean): readonly Part[] | undefined {
  const parts: Part[] = [];
  const plainLength = glob.search(/[*?[\\]/);
  for (let at = 0; at < glob.length; ) {
    const character = String.fromCodePoint(glob.codePointAt(at)!);
    switch (character) {
      case '*': {
        const start = at;
        while (glob[at] === '*') at += 1;
        // git treats two stars right after the literal prefix as the beginning of the pattern.
        const isBehindSlash = start === plainLength || glob[start - 1] === '/';
        const isBeforeSlash = at === glob.length || glob[at] === '/' || glob.startsWith('\\/', at);
        if (isName || at - start === 1 || !isBehindSlash || !isBeforeSlash) parts.push(SOME);
        else if (glob[at] === '/') {
          parts.push({ kind: 'either', of: [[], [ANY, SLASH]] });
          at += 1;
        } else parts.push(ANY);
        break;
      }
      case '?':
        parts.push(NOT_SLASH);
        at += 1;
        break;
      case '[': {
        const set = readBrackets(glob, at);
        if (!set) return undefined;
        parts.push({ kind: 'one', accepts: (code) => code !== SLASH_CODE && set.accepts(code) });
        at = set.end;
        break;
      }
      default: {
        if (character === '\\') at += 1;
        const wanted = glob.codePointAt(at);
        if (wanted === undefined) return undefined;
        parts.push({ kind: 'one', accepts: (code) => code === wanted });
        at += String.fromCodePoint(wanted).length;
      }
    }
  }
  return parts;
}

const SLASH_CODE = 0x2f;
const NAME_CHARS_MAX = 16;

interface Brackets {
  readonly accepts: (code: number) => boolean;
  readonly end: number;
}

/** @returns undefined for a set without an end or with an unknown class: such a pattern matches nothing. */
function readBrackets(glob: string, start: number): Brackets | undefined {
  const isNegated = glob[start + 1] === '!' || glob[start + 1] === '^';
  const first = isNegated ? start + 2 : start + 1;
  const ranges: (readonly [from: number, to: number])[] = [];
  const named: RegExp[] = [];
  let at = first;
  // A `]` in the first place is a member.
  for (; at === first || glob[at] !== ']'; ) {
    const name = /^\[:([a-z]*):\]/.exec(glob.slice(at, at + NAME_CHARS_MAX));
    if (name) {
      const set = namedSet(name[1]!);
      if (set === undefined) return undefined;
      named.push(new RegExp(set, 'v'));
      at += name[0].length;
      continue;
    }
    const from = readMember(glob, at);
    if (!from) return undefined;
    const isRange = glob[from.end] === '-' && glob[from.end + 1] !== ']';
    const to = isRange ? readMember(glob, from.end + 1) : from;
    if (!to) return undefined;
    // git uses only the first character of a reversed range.
    ranges.push([from.code, from.code], [from.code, to.code]);
    at = to.end;
  }
  const holds = (code: number) =>
    ranges.some(([from, to]) => from <= code && code <= to) ||
    named.some((set) => set.test(String.fromCodePoint(code)));
  return { accepts: (code) => holds(code) !== isNegated, end: at + 1 };
}

function readMember(
  glob: string,
  start: number,
): { readonly code: number; readonly end: number } | undefined {
  const at = glob[start] === '\\' ? start + 1 : start;
  const code = glob.codePointAt(at);
  return code === undefined ? undefined : { code, end: at + String.fromCodePoint(code).length };
}
