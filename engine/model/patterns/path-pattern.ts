/**
 * Patterns of paths as rclone defines them (its documentation, "Filtering", 2025), so that a list of rules
 * means the same to both:
 *
 * - `*` matches any characters but `/`, `**` any characters, `?` one character but `/`; `{a,b}` either
 *   alternative, also nested; `\` takes the next character literally;
 * - `[a-z]`, `[^a-z]` match one character of a set, as in a regular expression; a set may contain `[:alpha:]`
 *   and similar classes; `\d`, `\s`, `\w` and their opposites `\D`, `\S`, `\W`, all of ASCII, work anywhere;
 * - a pattern that begins with `/` is matched from the root of the tree, any other from the start of any part
 *   of the path; both to its end;
 * - a pattern that ends in `/` means a folder and everything in it. Patterns are case-sensitive.
 *
 * rclone's `{{regular expressions}}` are refused: they are Go's, and some would mean something else here.
 *
 * Dray has its own parser because picomatch and similar libraries follow shell rules: they treat dots, `**`
 * beside other characters, and patterns without a slash differently. Patterns may come from other people, so
 * they are matched in linear time.
 */
import { DrayError } from '../../api/error.ts';
import {
  ANY,
  createLinearMatcher,
  type LinearPattern,
  NOT_SLASH,
  type Part,
  SLASH,
  SOME,
} from './linear-matcher.ts';
import { BadPattern, readEscape, readSet } from './pattern-set.ts';

/** Results are the indexes of patterns in the list, ascending. */
export interface PathPatterns {
  matchesOf(path: string): readonly number[];
  /** The patterns that match everything in the folder, whose path ends in `/`. */
  coveringFolder(folder: string): readonly number[];
  /** The patterns that may match something in the folder. All others cannot. */
  reachingInto(folder: string): readonly number[];
}

/** @throws `usage` for an invalid pattern, with the reason. */
export function compilePathPatterns(patterns: readonly string[]): PathPatterns {
  const all = patterns.map(readPathPattern);
  const matcher = createLinearMatcher(all);
  const reach = createLinearMatcher(all.map(({ route }) => ({ parts: route, isFloating: false })));
  return {
    matchesOf: matcher.matchesOf,
    // A pattern with an open end that matches the folder's own path matches everything below it.
    coveringFolder: (folder) => matcher.matchesOf(folder).filter((at) => all[at]!.endsOpen),
    reachingInto: reach.matchesOf,
  };
}

interface ReadPattern extends LinearPattern {
  /** Matches the folders (their paths end in `/`) on the way to a matching path. */
  readonly route: readonly Part[];
  readonly endsOpen: boolean;
}

function readPathPattern(pattern: string): ReadPattern {
  if (pattern === '') throw badPattern(pattern, 'it names nothing');
  const isRooted = pattern.startsWith('/');
  const body = (isRooted ? pattern.slice(1) : pattern) + (pattern.endsWith('/') ? '**' : '');
  try {
    // Every path ends in a name, so a star alone matches as much as two.
    const tokens = readTokens(body === '*' && !isRooted ? '**' : body);
    return {
      parts: tokens.map(({ part }) => part),
      isFloating: !isRooted,
      route: isRooted ? routeOf(tokens) : [ANY],
      endsOpen: tokens.at(-1)?.part === ANY,
    };
  } catch (error) {
    if (error instanceof BadPattern) throw badPattern(pattern, error.message);
    throw badPattern(pattern, 'it cannot be read', error);
  }
}

function badPattern(pattern: string, why: string, cause?: unknown): DrayError {
  return new DrayError('usage', `The pattern "${pattern}" is invalid: ${why}.`, {
    data: { pattern },
    cause,
  });
}

interface Token {
  readonly part: Part;
  /** It can match a `/`. */
  readonly crosses?: true;
}

const DEPTH_MAX = 50;

function readTokens(glob: string): readonly Token[] {
  /** The alternatives of each open `{`, the innermost last; first the pattern itself. */
  const open: Token[][][] = [[[]]];
  const push = (token: Token) => open.at(-1)!.at(-1)!.push(token);
  for (let at = 0; at < glob.length; ) {
    const character = String.fromCodePoint(glob.codePointAt(at)!);
    at += character.length;
    switch (character) {
      case '*': {
        const isDouble = glob[at] === '*';
        if (isDouble) at += 1;
        if (glob[at] === '*') throw new BadPattern('three stars in a row mean nothing');
        push(isDouble ? { part: ANY, crosses: true } : { part: SOME });
        break;
      }
      case '?':
        push({ part: NOT_SLASH });
        break;
      case '{':
        if (glob[at] === '{')
          throw new BadPattern(
            'regular expressions in {{ }} are not supported; ' +
              'write a pattern with *, ?, [a-z] and {a,b} instead',
          );
        if (open.length > DEPTH_MAX) throw new BadPattern(`more than ${DEPTH_MAX} { lie in each other`);
        open.push([[]]);
        break;
      case '}':
        if (open.length === 1) throw new BadPattern('a } has no {');
        push(toEither(open.pop()!));
        break;
      case ']':
        throw new BadPattern('a ] has no [');
      case '[':
      case '\\': {
        const piece = character === '[' ? readSet(glob, at) : readEscape(glob, at);
        push(toToken(piece.expression));
        at = piece.end;
        break;
      }
      case ',':
        if (open.length > 1) open.at(-1)!.push([]);
        else push(toLiteral(character));
        break;
      case '/':
        push({ part: SLASH, crosses: true });
        break;
      default:
        push(toLiteral(character));
    }
  }
  if (open.length > 1) throw new BadPattern('a { has no }');
  return open[0]![0]!;
}

function toLiteral(character: string): Token {
  const wanted = character.codePointAt(0);
  return { part: { kind: 'one', accepts: (code) => code === wanted } };
}

/** @param expression A regular expression for one character. */
function toToken(expression: string): Token {
  const one = new RegExp(expression, 'v');
  const accepts = (code: number) => one.test(String.fromCodePoint(code));
  return { part: { kind: 'one', accepts }, ...(one.test('/') ? { crosses: true } : {}) };
}

function toEither(alternatives: readonly (readonly Token[])[]): Token {
  const part: Part = { kind: 'either', of: alternatives.map((tokens) => tokens.map((token) => token.part)) };
  return { part, ...(alternatives.flat().some(({ crosses }) => crosses) ? { crosses: true } : {}) };
}

/** Each folder that the pattern names, and everything below the last of them if the rest can match a `/`. */
function routeOf(tokens: readonly Token[]): readonly Part[] {
  const route: Part[] = [];
  let level: Part[] = [];
  for (const token of tokens) {
    if (token.part === SLASH) {
      route.push(...level, SLASH, { kind: 'end' });
      level = [];
    } else if (token.crosses) return [...route, ANY];
    else level.push(token.part);
  }
  // The name comes first: no folder is needed.
  return route.at(-1)?.kind === 'end' ? route.slice(0, -1) : [NOTHING];
}

const NOTHING: Part = { kind: 'either', of: [] };
