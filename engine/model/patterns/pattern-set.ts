/**
 * The parts of a path pattern that match one of several characters: sets in brackets, and classes such as
 * `\d`.
 */

/** Thrown for an invalid part of a path pattern. The message says why and follows "is invalid:". */
export class BadPattern extends Error {}

interface Piece {
  /** A regular expression for one character, for the flag `v`, which allows nested sets. */
  readonly expression: string;
  /** The index in the pattern where it ends. */
  readonly end: number;
}

/** RE2's classes, which are ASCII only; JavaScript's `\s` is not. */
const CLASSES: Readonly<Record<string, string>> = {
  d: '[0-9]',
  D: '[^0-9]',
  s: '[\\t\\n\\f\\r ]',
  S: '[^\\t\\n\\f\\r ]',
  w: '[0-9A-Z_a-z]',
  W: '[^0-9A-Z_a-z]',
};

/** POSIX names, as in RE2. */
const NAMED_SETS: Readonly<Record<string, string>> = {
  alnum: '[0-9A-Za-z]',
  alpha: '[A-Za-z]',
  ascii: '[\\x00-\\x7f]',
  blank: '[\\t ]',
  cntrl: '[\\x00-\\x1f\\x7f]',
  digit: '[0-9]',
  graph: '[!-~]',
  lower: '[a-z]',
  print: '[ -~]',
  punct: '[!-\\/:-@\\[-`\\{-~]',
  space: '[\\t\\n\\v\\f\\r ]',
  upper: '[A-Z]',
  word: '[0-9A-Z_a-z]',
  xdigit: '[0-9A-Fa-f]',
};

const NAMED_SET_CHARS_MAX = 16;

/** The part after a `\`: a class, or a literal character. */
export function readEscape(glob: string, at: number): Piece {
  if (at >= glob.length) throw new BadPattern('nothing follows the \\ at its end');
  const character = String.fromCodePoint(glob.codePointAt(at)!);
  const end = at + character.length;
  if (!/[0-9A-Za-z]/.test(character)) return { expression: quote(character), end };
  const expression = CLASSES[character];
  if (expression === undefined) throw new BadPattern(`\\${character} is not known`);
  return { expression, end };
}

/** A regular expression for the characters of `[:name:]`; undefined when POSIX and RE2 do not define it. */
export function namedSet(name: string): string | undefined {
  return Object.hasOwn(NAMED_SETS, name) ? NAMED_SETS[name] : undefined;
}

/** Reads from after the `[` to after its `]`. */
export function readSet(glob: string, start: number): Piece {
  const isNegated = glob[start] === '^';
  const members: string[] = [];
  let at = isNegated ? start + 1 : start;
  while (glob[at] !== ']') {
    const member = readMember(glob, at);
    at = member.end;
    const isRange = glob[at] === '-' && glob[at + 1] !== ']';
    if (!isRange) {
      members.push(member.expression);
      continue;
    }
    const last = readMember(glob, at + 1);
    at = last.end;
    if (member.isSet || last.isSet) throw new BadPattern('a range in [ ] goes from one character to another');
    members.push(`${member.expression}-${last.expression}`);
  }
  if (members.length === 0) throw new BadPattern('nothing is in its [ ]');
  return { expression: `[${isNegated ? '^' : ''}${members.join('')}]`, end: at + 1 };
}

interface Member extends Piece {
  readonly isSet: boolean;
}

function readMember(glob: string, at: number): Member {
  if (at >= glob.length) throw new BadPattern('a [ has no ]');
  const named = /^\[:(\^?)([a-z]+):\]/.exec(glob.slice(at, at + NAMED_SET_CHARS_MAX));
  if (named) {
    const [text, not, name = ''] = named;
    const set = namedSet(name);
    if (set === undefined) throw new BadPattern(`${text} is not known`);
    return { expression: not === '' ? set : `[^${set}]`, end: at + text.length, isSet: true };
  }
  if (glob[at] === '\\') {
    const { end, expression } = readEscape(glob, at + 1);
    const isSet = expression.startsWith('[');
    return { expression: isSet ? expression : quoteInSet(glob.slice(at + 1, end)), end, isSet };
  }
  const character = String.fromCodePoint(glob.codePointAt(at)!);
  return { expression: quoteInSet(character), end: at + character.length, isSet: false };
}

/** The literal character in a regular expression. */
function quote(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}

/**
 * More characters are special in a set (ECMAScript, ClassSetSyntaxCharacter and ClassSetReservedPunctuator).
 */
function quoteInSet(character: string): string {
  return /[\\^$.*+?()[\]{}|/\-&!#%,:;<=>@`~]/.test(character) ? `\\${character}` : character;
}
