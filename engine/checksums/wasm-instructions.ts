/**
 * Instructions of WebAssembly as bytes (Core Specification 2.0, section 5.4), for the loops that are put
 * together by `wasm-module.ts`.
 */
import { signed, signed64, unsigned } from './wasm-module.ts';

export const VECTOR_BYTES = 16;
const WORDS = 4;

export const BLOCK = 0x02;
export const LOOP = 0x03;
export const END = 0x0b;
export const BRANCH_IF = 0x0d;
export const RETURN = 0x0f;
export const SELECT = 0x1b;
/** The type of a block that takes and leaves nothing. */
export const EMPTY_BLOCK = 0x40;
export const IS_ZERO = 0x45;
export const LESS = 0x48;
export const LESS_UNSIGNED = 0x49;
export const ADD = 0x6a;
export const SUBTRACT = 0x6b;
export const AND = 0x71;
export const OR = 0x72;
export const XOR = 0x73;
export const SHIFT_LEFT = 0x74;
export const ROTATE_LEFT = 0x77;
export const ADD64 = 0x7c;
export const MULTIPLY64 = 0x7e;
export const AND64 = 0x83;
export const OR64 = 0x84;
export const XOR64 = 0x85;
export const SHIFT_LEFT64 = 0x86;
export const SHIFT_RIGHT64 = 0x88;
/** 64 bits to 32, and back. */
export const WRAP = 0xa7;
export const EXTEND64 = 0xad;

const vectorCode = (code: number) => [0xfd, ...unsigned(code)];
export const NOT_VECTOR = vectorCode(0x4d);
export const AND_VECTOR = vectorCode(0x4e);
/** The first and not the second. */
export const AND_NOT_VECTOR = vectorCode(0x4f);
export const OR_VECTOR = vectorCode(0x50);
export const XOR_VECTOR = vectorCode(0x51);
/** Lanes of 32 bits. */
export const SHIFT_LEFT_WORDS = vectorCode(0xab);
export const SHIFT_RIGHT_WORDS = vectorCode(0xad);
export const ADD_WORDS = vectorCode(0xae);
/** Lanes of 64 bits; the last two multiply lanes of 32. */
export const SPLAT = vectorCode(0x12);
export const SHIFT_RIGHT_VECTOR = vectorCode(0xcd);
export const ADD_VECTOR = vectorCode(0xce);
export const MULTIPLY_VECTOR = vectorCode(0xd5);
export const MULTIPLY_LOW = vectorCode(0xde);
export const MULTIPLY_HIGH = vectorCode(0xdf);

export const get = (local: number) => [0x20, ...unsigned(local)];
export const set = (local: number) => [0x21, ...unsigned(local)];
export const tee = (local: number) => [0x22, ...unsigned(local)];
export const call = (index: number) => [0x10, ...unsigned(index)];
export const constant = (value: number) => [0x41, ...signed(value)];
export const constant64 = (value: number | bigint) => [
  0x42,
  ...(typeof value === 'bigint' ? signed64(BigInt.asIntN(64, value)) : signed(value)),
];
export const constantVector = (low: bigint, high: bigint) => [
  ...vectorCode(0x0c),
  ...bytesOf(low),
  ...bytesOf(high),
];

/** An address is on the stack; `offset` is added to it. Nothing is promised of its alignment. */
export const load = (offset: number) => [0x28, 0, ...unsigned(offset)];
export const load8 = (offset: number) => [0x2d, 0, ...unsigned(offset)];
export const load64 = (offset: number) => [0x29, 0, ...unsigned(offset)];
export const load8Into64 = (offset: number) => [0x31, 0, ...unsigned(offset)];
export const loadVector = (offset: number) => [...vectorCode(0x00), 0, ...unsigned(offset)];
export const store = (offset: number) => [0x36, 0, ...unsigned(offset)];
export const storeVector = (offset: number) => [...vectorCode(0x0b), 0, ...unsigned(offset)];

/** One 64-bit lane. */
export const extract = (lane: number) => [...vectorCode(0x1d), lane];
export const replace = (lane: number) => [...vectorCode(0x1e), lane];
/** @param lanes For each byte of the result the byte of the two vectors, the second's from 16 on. */
export const shuffle = (lanes: readonly number[]) => [...vectorCode(0x0d), ...lanes];

/** Whole words of 32 bits as lanes of `shuffle`: those of the second vector from 4 on. */
export function wordLanes(words: readonly number[]): number[] {
  return words.flatMap((word) => [0, 1, 2, 3].map((byte) => WORDS * word + byte));
}

/** Adds to an address in a variable. */
export const advance = (local: number, bytes: number) => [
  ...[...get(local), ...constant(bytes), ADD, ...set(local)],
];

/** Addresses are below 2 GiB, so that signed comparisons do, also for a stop before address 0. */
export function whileLess(variable: number, stop: number, body: readonly number[]): number[] {
  const check = [...get(variable), ...get(stop), LESS];
  return [
    ...[BLOCK, EMPTY_BLOCK, ...check, IS_ZERO, BRANCH_IF, 0],
    ...[LOOP, EMPTY_BLOCK, ...body, ...check, BRANCH_IF, 0, END],
    END,
  ];
}

function bytesOf(value: bigint): number[] {
  return Array.from({ length: 8 }, (_, at) => Number((value >> BigInt(8 * at)) & 0xffn));
}
