/**
 * Patterns of paths as rclone has them (its documentation, "Filtering", 2025), so that a list of rules means the same to both:
 *
 * - `*` any characters but `/`, `**` any, `?` one but `/`; `{a,b}` either of, also in each other; `\` takes the next character as it is;
 * - `[a-z]`, `[^a-z]` one of a set, as in a regular expression; in a set `[:alpha:]` and its kin; anywhere `\d`, `\s`, `\w` and their
 *   opposites `\D`, `\S`, `\W`, all of ASCII;
 * - one that begins with `/` is matched from the root of the tree, any other from the beginning of any part of the path; both to its end;
 * - one that ends in `/` means a folder and all in it. Case counts.
 *
 * rclone's `{{regular expressions}}` are refused: they are Go's, and some would mean something else here.
 *
 * The translation is our own, since picomatch and its kin match names as shells do: they have other rules for dots, for `**` beside
 * other characters, and for where a pattern without a slash applies.
 */
import { DrayError } from '../api/error.ts';
import { BadPattern } from './bad-pattern.ts';
import { quote, readEscape, readSet } from './pattern-set.ts';

export interface PathPattern {
  matches(path: string): boolean;
  /** Whether it matches all that is in the folder, whose path ends in `/`. A yes is certain. */
  coversFolder(folder: string): boolean;
  /** Whether it may match something in the folder. A no is certain. */
  reachesInto(folder: string): boolean;
}

/** @throws `usage` for one that makes no sense, saying why. */
export function compilePathPattern(pattern: string): PathPattern {
  if (pattern === '') throw badPattern(pattern, 'it names nothing');
  const isRooted = pattern.startsWith('/');
  const body = (isRooted ? pattern.slice(1) : pattern) + (pattern.endsWith('/') ? '**' : '');
  try {
    // Every path ends in a name, so a star alone matches as much as two.
    const tokens = readTokens(body === '*' && !isRooted ? '**' : body);
    const matcher = toRegExp(isRooted ? '^' : '(?:^|/)', tokens);
    const endsOpen = tokens.at(-1) === ANY;
    const route = isRooted ? routeOf(tokens) : undefined;
    return {
      matches: (path) => matcher.test(path),
      // What takes the folder's own path by an open end takes whatever follows it.
      coversFolder: (folder) => endsOpen && matcher.test(folder),
      reachesInto: (folder) => route === undefined || leadsInto(route, folder),
    };
  } catch (error) {
    if (error instanceof BadPattern) throw badPattern(pattern, error.message);
    throw badPattern(pattern, 'it cannot be read', error);
  }
}

function badPattern(pattern: string, why: string, cause?: unknown): DrayError {
  return new DrayError('usage', `The pattern "${pattern}" makes no sense: ${why}.`, {
    data: { pattern },
    cause,
  });
}

interface Token {
  /** A regular expression's, with the flags `sv`. */
  readonly expression: string;
  /** It may take a `/`. */
  readonly crosses?: true;
}

const ANY: Token = { expression: '.*', crosses: true };
const SOME: Token = { expression: '[^\\/]*' };
const ONE: Token = { expression: '[^\\/]' };
const SLASH: Token = { expression: '/' };
const OPEN: Token = { expression: '(?:' };
const OR: Token = { expression: '|' };
const CLOSE: Token = { expression: ')' };

function readTokens(glob: string): readonly Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  for (let at = 0; at < glob.length; ) {
    const character = String.fromCodePoint(glob.codePointAt(at)!);
    at += character.length;
    switch (character) {
      case '*': {
        const isDouble = glob[at] === '*';
        if (isDouble) at += 1;
        if (glob[at] === '*') throw new BadPattern('three stars in a row mean nothing');
        tokens.push(isDouble ? ANY : SOME);
        break;
      }
      case '?':
        tokens.push(ONE);
        break;
      case '{':
        if (glob[at] === '{')
          throw new BadPattern(
            'regular expressions in {{ }} are not supported; write a pattern with *, ?, [a-z] and {a,b} instead',
          );
        depth += 1;
        tokens.push(OPEN);
        break;
      case '}':
        if (depth === 0) throw new BadPattern('a } has no {');
        depth -= 1;
        tokens.push(CLOSE);
        break;
      case ']':
        throw new BadPattern('a ] has no [');
      case '[':
      case '\\': {
        const piece = character === '[' ? readSet(glob, at) : readEscape(glob, at);
        tokens.push(toToken(piece.expression));
        at = piece.end;
        break;
      }
      case ',':
        tokens.push(depth > 0 ? OR : { expression: ',' });
        break;
      case '/':
        tokens.push(SLASH);
        break;
      default:
        tokens.push({ expression: quote(character) });
    }
  }
  if (depth > 0) throw new BadPattern('a { has no }');
  return tokens;
}

function toToken(expression: string): Token {
  return new RegExp(expression, 'v').test('/') ? { expression, crosses: true } : { expression };
}

function toRegExp(start: string, tokens: readonly Token[]): RegExp {
  return new RegExp(`${start}${tokens.map(({ expression }) => expression).join('')}$`, 'sv');
}

/** The folders, from the root, through which a path has to go to be matched. */
interface Route {
  readonly folders: readonly RegExp[];
  /** After these anything may follow; otherwise the name of what is matched follows at once. */
  readonly isOpen: boolean;
}

function routeOf(tokens: readonly Token[]): Route {
  const folders: RegExp[] = [];
  let level: Token[] = [];
  let depth = 0;
  for (const token of tokens) {
    if (token.crosses || (token === SLASH && depth > 0)) return { folders, isOpen: true };
    if (token === OPEN) depth += 1;
    if (token === CLOSE) depth -= 1;
    if (token === SLASH) {
      folders.push(toRegExp('^', level));
      level = [];
    } else level.push(token);
  }
  return { folders, isOpen: false };
}

function leadsInto({ folders, isOpen }: Route, folder: string): boolean {
  const parts = folder.split('/').slice(0, -1);
  if (!isOpen && parts.length > folders.length) return false;
  return parts.every((part, at) => folders[at]?.test(part) ?? true);
}
