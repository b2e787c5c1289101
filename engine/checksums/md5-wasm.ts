/**
 * The compression function of MD5 (RFC 1321, section 3.4) as a WebAssembly module, assembled here step by
 * step: for one message, and for four side by side, each in a lane of the vectors. Each step of MD5 waits for
 * the one before, so one message leaves most of the processor idle. Downloads need it to verify etags.
 * Measured on x64 with Node 24, in CPU time: four messages together at 1.9 GiB/s, 2.6 times node:crypto (0.75
 * GiB/s) and 3.7 times hash-wasm (0.5 GiB/s). One alone has 0.94 of node:crypto's speed.
 */
import {
  ADD,
  ADD_WORDS,
  AND,
  AND_NOT_VECTOR,
  AND_VECTOR,
  advance,
  constant,
  END,
  get,
  load,
  loadVector,
  NOT_VECTOR,
  OR,
  OR_VECTOR,
  ROTATE_LEFT,
  SHIFT_LEFT_WORDS,
  SHIFT_RIGHT_WORDS,
  set,
  shuffle,
  store,
  storeVector,
  tee,
  VECTOR_BYTES,
  whileLess,
  wordLanes,
  XOR,
  XOR_VECTOR,
} from './wasm-instructions.ts';
import { compileWasm, instantiateWasm, VALUE } from './wasm-module.ts';

export const MD5_LANES = 4;
export const MD5_BLOCK_BYTES = 64;
/** The words of one lane's state. */
export const MD5_STATE_WORDS = 4;

const STEPS = 64;
const WORDS = 16;
/** At address 0: the constants that the steps add, `VECTOR_BYTES` each; then the states. */
const SINES_BYTES = STEPS * VECTOR_BYTES;
/** Word w of lane l lies at `MD5_STATES + 4 * (MD5_LANES * w + l)`. */
export const MD5_STATES = SINES_BYTES;
/** The caller may use the memory from here on. */
export const MD5_FREE = MD5_STATES + MD5_STATE_WORDS * VECTOR_BYTES;

const SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

export interface Md5Loops {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Takes the whole blocks from address `at` to `end` into the state of lane 0. */
  readonly one: (at: number, end: number) => void;
  /**
   * Takes the same number of bytes from each of four addresses into the states of their lanes. The first ends
   * at `end`.
   */
  readonly four: (at0: number, at1: number, at2: number, at3: number, end: number) => void;
}

/** @param pages Of 64 KiB. Throws where WebAssembly has no vectors. */
export function openMd5Loops(pages: number): Md5Loops {
  const { i32, v128 } = VALUE;
  const many = (type: number, count: number) => Array.from({ length: count }, () => type);
  const one = { parameters: many(i32, 2), locals: many(i32, 2 * MD5_STATE_WORDS), body: oneBody() };
  const fourLocals = many(v128, 2 * MD5_STATE_WORDS + 1 + WORDS);
  const four = { parameters: many(i32, 5), locals: fourLocals, body: fourBody() };
  const functions = [
    { name: 'one', ...one },
    { name: 'four', ...four },
  ];
  return instantiateWasm(compileWasm(functions, pages));
}

/** To be written to address 0 once. */
export function md5Sines(): Uint32Array {
  return Uint32Array.from({ length: SINES_BYTES / 4 }, (_, index) => sineOf(Math.floor(index / MD5_LANES)));
}

function sineOf(step: number): number {
  return Math.floor(Math.abs(Math.sin(step + 1)) * 2 ** 32);
}

/** The word of the block that a step takes. */
function wordOf(step: number): number {
  const within = step % WORDS;
  return [within, 5 * within + 1, 3 * within + 5, 7 * within][Math.floor(step / WORDS)]! % WORDS;
}

function shiftOf(step: number): number {
  return SHIFTS[Math.floor(step / WORDS)]![step % 4]!;
}

/** (at, end) */
function oneBody(): number[] {
  const [at, end, state, before] = [0, 1, 2, 2 + MD5_STATE_WORDS];
  const words = Array.from({ length: MD5_STATE_WORDS }, (_, word) => word);
  const stateAt = (word: number) => MD5_STATES + VECTOR_BYTES * word;
  return [
    ...words.flatMap((word) => [...constant(0), ...load(stateAt(word)), ...set(state + word)]),
    ...whileLess(at, end, [
      ...words.flatMap((word) => [...get(state + word), ...set(before + word)]),
      ...eachStep(state, (step, [a, b, c, d]) => [
        ...[...get(a), ...constant(sineOf(step) | 0), ADD],
        ...[...get(at), ...load(4 * wordOf(step)), ADD],
        ...mixOne(step, [b, c, d]),
        ...[...constant(shiftOf(step)), ROTATE_LEFT, ...get(b), ADD, ...set(a)],
      ]),
      ...words.flatMap((word) => [...get(state + word), ...get(before + word), ADD, ...set(state + word)]),
      ...advance(at, MD5_BLOCK_BYTES),
    ]),
    ...words.flatMap((word) => [...constant(0), ...get(state + word), ...store(stateAt(word))]),
    END,
  ];
}

/** (at0, at1, at2, at3, end) */
function fourBody(): number[] {
  const [end, state, before, sum, block] = [4, 5, 9, 13, 14];
  const words = Array.from({ length: MD5_STATE_WORDS }, (_, word) => word);
  const stateAt = (word: number) => MD5_STATES + VECTOR_BYTES * word;
  return [
    ...words.flatMap((word) => [...constant(0), ...loadVector(stateAt(word)), ...set(state + word)]),
    ...whileLess(0, end, [
      ...transposed(block),
      ...words.flatMap((word) => [...get(state + word), ...set(before + word)]),
      ...eachStep(state, (step, [a, b, c, d]) => [
        ...[...get(a), ...constant(0), ...loadVector(VECTOR_BYTES * step), ...ADD_WORDS],
        ...[...get(block + wordOf(step)), ...ADD_WORDS],
        ...mixFour(step, [b, c, d]),
        ...[...tee(sum), ...constant(shiftOf(step)), ...SHIFT_LEFT_WORDS],
        ...[...get(sum), ...constant(32 - shiftOf(step)), ...SHIFT_RIGHT_WORDS],
        ...[...OR_VECTOR, ...get(b), ...ADD_WORDS, ...set(a)],
      ]),
      ...words.flatMap((word) => [
        ...[...get(state + word), ...get(before + word), ...ADD_WORDS, ...set(state + word)],
      ]),
      ...Array.from({ length: MD5_LANES }, (_, lane) => advance(lane, MD5_BLOCK_BYTES)).flat(),
    ]),
    ...words.flatMap((word) => [...constant(0), ...get(state + word), ...storeVector(stateAt(word))]),
    END,
  ];
}

type StateWords = readonly [a: number, b: number, c: number, d: number];

/** The roles of the four words rotate from step to step, so no word is moved. */
function eachStep(state: number, step: (index: number, words: StateWords) => readonly number[]): number[] {
  return Array.from({ length: STEPS }, (_, index) => {
    const word = (offset: number) => state + ((offset + STEPS - index) % MD5_STATE_WORDS);
    return step(index, [word(0), word(1), word(2), word(3)]);
  }).flat();
}

/**
 * Adds the function of the step's round to the value on the stack. `b` is the result of the step before, so
 * as few instructions as possible depend on it.
 */
function mixOne(step: number, [b, c, d]: readonly [number, number, number]): number[] {
  switch (Math.floor(step / WORDS)) {
    case 0:
      return [...get(d), ...get(c), ...get(d), XOR, ...get(b), AND, XOR, ADD];
    case 1:
      return [...[...get(d), ...constant(-1), XOR, ...get(c), AND, ADD], ...[...get(d), ...get(b), AND, ADD]];
    case 2:
      return [...get(c), ...get(d), XOR, ...get(b), XOR, ADD];
    default:
      return [...get(c), ...get(d), ...constant(-1), XOR, ...get(b), OR, XOR, ADD];
  }
}

function mixFour(step: number, [b, c, d]: readonly [number, number, number]): number[] {
  switch (Math.floor(step / WORDS)) {
    case 0:
      return [
        ...[...get(d), ...get(c), ...get(d), ...XOR_VECTOR, ...get(b), ...AND_VECTOR, ...XOR_VECTOR],
        ...ADD_WORDS,
      ];
    case 1:
      return [
        ...[...get(c), ...get(d), ...AND_NOT_VECTOR, ...ADD_WORDS],
        ...[...get(d), ...get(b), ...AND_VECTOR, ...ADD_WORDS],
      ];
    case 2:
      return [...get(c), ...get(d), ...XOR_VECTOR, ...get(b), ...XOR_VECTOR, ...ADD_WORDS];
    default:
      return [...[...get(c), ...get(d), ...NOT_VECTOR, ...get(b), ...OR_VECTOR, ...XOR_VECTOR], ...ADD_WORDS];
  }
}

const LOW_PAIRS = wordLanes([0, 4, 1, 5]);
const HIGH_PAIRS = wordLanes([2, 6, 3, 7]);
const LOW_HALVES = wordLanes([0, 1, 4, 5]);
const HIGH_HALVES = wordLanes([2, 3, 6, 7]);

/**
 * The blocks at the four addresses, word by word: 16 vectors of four lanes, in the variables from `to` on.
 */
function transposed(to: number): number[] {
  return [0, 4, 8, 12].flatMap((first) => {
    const row = (lane: number) => [...get(lane), ...loadVector(4 * first)];
    const at = (word: number) => to + first + word;
    // The last two of the four variables hold the pairs of lanes 2 and 3 until they are joined with those of
    // lanes 0 and 1.
    return [
      ...[0, 1, 2, 3].flatMap((lane) => [...row(lane), ...set(at(lane))]),
      ...[...pick(at(0), at(1), LOW_PAIRS), ...pick(at(2), at(3), LOW_PAIRS)],
      ...[...pick(at(0), at(1), HIGH_PAIRS), ...pick(at(2), at(3), HIGH_PAIRS)],
      ...[...set(at(3)), ...set(at(2)), ...set(at(1)), ...set(at(0))],
      // Low pairs of both in 0 and 1, high ones in 2 and 3.
      ...[...pick(at(0), at(1), LOW_HALVES), ...pick(at(0), at(1), HIGH_HALVES)],
      ...[...pick(at(2), at(3), LOW_HALVES), ...pick(at(2), at(3), HIGH_HALVES)],
      ...[...set(at(3)), ...set(at(2)), ...set(at(1)), ...set(at(0))],
    ];
  });
}

function pick(left: number, right: number, lanes: readonly number[]): number[] {
  return [...get(left), ...get(right), ...shuffle(lanes)];
}
