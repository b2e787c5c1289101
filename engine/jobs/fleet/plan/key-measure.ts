/**
 * Measures how far apart two keys are, as a share of the keys that may lie between others.
 *
 * A key is a number whose digits are its characters, and whose base at each position is the number of
 * characters that occur there, as the keys seen so far show it. So `0a/0a31` and `logs/year=2024/` measure
 * alike, although they use few of the 256 values of a byte.
 */

/** Later positions are ignored. */
const POSITIONS_MAX = 256;
/** With more different characters at a position, their code points are the measure. */
const CHARACTERS_MAX = 96;
const WITNESSES_MIN = 12;

interface Position {
  readonly seen: Set<number>;
  /** Sorted; rebuilt after new ones. */
  base: readonly number[] | undefined;
  /** A page showed this position behind one that varied, so it has hardly any unseen characters. */
  isFair: boolean;
  /** Pages whose keys differ from those of the page before at an earlier position. */
  witnesses: number;
}

export interface KeyMeasure {
  /** Learns from a page of a listing, which is in order. */
  learn(keys: readonly string[]): void;
  /** How much of the stretch from `first` to `end` lies up to `at`, 0 to 1. An absent `end` is open. */
  shareUpTo(first: string, at: string, end: string | undefined): number;
}

export function createKeyMeasure(): KeyMeasure {
  const positions: Position[] = [];
  let before: readonly string[] = [];
  const learnKey = (key: string, varies: number) => {
    let at = 0;
    for (const character of key) {
      if (at >= POSITIONS_MAX) break;
      positions[at] ??= { seen: new Set(), base: undefined, isFair: false, witnesses: 0 };
      const position = positions[at]!;
      const code = character.codePointAt(0)!;
      if (!position.seen.has(code) || (at > varies && !position.isFair)) {
        position.seen.add(code);
        position.isFair ||= at > varies;
        position.base = undefined;
      }
      at += 1;
    }
  };
  return {
    learn(keys) {
      if (keys.length === 0) return;
      const first = [...keys[0]!];
      const varies = sharedLength(first, [...keys.at(-1)!]);
      for (const key of keys) learnKey(key, varies);
      for (let at = sharedLength(before, first) + 1; at < Math.min(first.length, POSITIONS_MAX); at += 1) {
        positions[at]!.witnesses += 1;
        positions[at]!.base = undefined;
      }
      before = first;
    },
    shareUpTo(first, at, end) {
      const low = [...first];
      const high = end === undefined ? undefined : [...end];
      const start = high ? sharedLength(low, high) : 0;
      const from = valueAlong(positions, low, start);
      const whole = (high ? valueAlong(positions, high, start) : 1) - from;
      if (!(whole > 0)) return 1;
      return Math.min(1, Math.max(0, (valueAlong(positions, [...at], start) - from) / whole));
    },
  };
}

function sharedLength(left: readonly string[], right: readonly string[]): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}

/** From 0 to 1, by the characters from `start` on. */
function valueAlong(positions: readonly Position[], key: readonly string[], start: number): number {
  let value = 0;
  let unit = 1;
  for (let at = start; at < key.length && unit > Number.EPSILON; at += 1) {
    const position = positions[at];
    if (!position) break;
    const { isKnown, share, size } = placeIn(position, key[at]!.codePointAt(0)!);
    value += unit * share;
    unit /= size;
    // No key seen so far has this character here, so the rest cannot be measured.
    if (!isKnown) break;
  }
  return value;
}

function placeIn(position: Position, code: number) {
  position.base ??= baseOf(position);
  const { base } = position;
  const size = base.length;
  if (size > CHARACTERS_MAX) {
    const [low, high] = [base[0]!, base.at(-1)! + 1];
    const share = Math.min(1, Math.max(0, (code - low) / (high - low)));
    return { share, size, isKnown: position.seen.has(code) };
  }
  let below = 0;
  while (below < size && base[below]! < code) below += 1;
  return { share: below / size, size, isKnown: base[below] === code };
}

const DIGITS = ['0', '9'] as const;
const LETTERS: readonly (readonly [first: string, last: string])[] = [
  ['a', 'f'],
  ['a', 'z'],
  ['A', 'F'],
  ['A', 'Z'],
];

/**
 * A page begins at a cut, mostly at the lowest name there. So a digit that pages have shown has others beside
 * it. A letter that many pages have shown alone is part of a word that all keys share.
 */
function baseOf({ isFair, seen, witnesses }: Position): readonly number[] {
  const codes = new Set(seen);
  const isWord = seen.size === 1 && witnesses >= WITNESSES_MIN;
  const kinds: typeof LETTERS = isFair ? [] : isWord ? [DIGITS] : [DIGITS, ...LETTERS];
  for (const code of seen) {
    const kind = kinds.find(([first, last]) => code >= first.charCodeAt(0) && code <= last.charCodeAt(0));
    if (!kind) continue;
    for (let each = kind[0].charCodeAt(0); each <= kind[1].charCodeAt(0); each += 1) codes.add(each);
  }
  return [...codes].sort((left, right) => left - right);
}
