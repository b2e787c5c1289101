/**
 * The loops of CRC-64/NVME as a WebAssembly module, assembled here byte by byte. Measured on x64 with Node
 * 24, in CPU time: 7.5 GiB/s for buffers of 4 MiB, 6 times hash-wasm's CRC64 (1.2 GiB/s). Node has none.
 *
 * `table` is the classic way, sixteen bytes at a time (slicing by 16; Kounavis and Berry, "A Systematic
 * Approach to Building High Performance, Software-based, CRC Generators", 2005). `fold` makes long buffers
 * fast: the polynomial divides
 *
 *     1 + sum of x^(-8 d) for each d of `FOLD_DISTANCES`      (times a power of x)
 *
 * so a byte may be taken out of a message if it is added to those that lie d bytes further on, for each d;
 * the remainder stays the same. That takes no table and no multiplication, only XORs of 16 bytes at a time,
 * and leaves a message of `FOLD_BYTES` (the idea is Chorba's: Russell, "Chorba: A novel CRC32
 * implementation", arXiv 2412.16398). The distances are whole bytes, so the bits' order does not matter; the
 * least is far enough for a store to have left the processor's store buffer when it is read again. They were
 * found by a search for eight powers of x^8 that cancel out (Wagner's generalized birthday algorithm); that
 * they do is tested.
 */
import {
  AND,
  advance,
  constant,
  constant64,
  END,
  get,
  load8Into64,
  load64,
  loadVector,
  SHIFT_LEFT64,
  SHIFT_RIGHT64,
  SUBTRACT,
  set,
  storeVector,
  VECTOR_BYTES,
  WRAP,
  whileLess,
  XOR_VECTOR,
  XOR64,
} from './wasm-instructions.ts';
import { compileWasm, instantiateWasm, VALUE } from './wasm-module.ts';

export const FOLD_DISTANCES = [1212, 1256, 1386, 1736, 2743, 2976, 3276] as const;
/** At least the greatest distance; divisible by `FOLD_STEP_BYTES`. */
export const FOLD_BYTES = 3328;
/** The number of bytes for `fold` is divisible by this. */
export const FOLD_STEP_BYTES = 64;

const SLICES = 16;
/** SLICES tables of 256 64-bit values lie at address 0. */
export const TABLE_BYTES = SLICES * 256 * 8;

export interface Crc64Loops {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** The state after the bytes from address `at` to `end`. States are neither inverted before nor after. */
  readonly table: (state: bigint, at: number, end: number) => bigint;
  /**
   * Adds to each byte from `at` to `end` those that lie the distances before it, which were folded before.
   */
  readonly fold: (at: number, end: number) => void;
  /**
   * Adds the bytes from `at` to `end` to those from `to` on, `VECTOR_BYTES` at a time: up to 15 more than
   * asked for.
   */
  readonly add: (to: number, at: number, end: number) => void;
}

/** @param pages Of 64 KiB. Throws where WebAssembly has no vectors. */
export function openCrc64Loops(pages: number): Crc64Loops {
  const { i32, i64 } = VALUE;
  const table = { parameters: [i64, i32, i32], results: [i64], locals: [i64, i32], body: tableBody() };
  const fold = { parameters: [i32, i32], locals: [i32], body: foldBody() };
  const add = { parameters: [i32, i32, i32], body: addBody() };
  const functions = [
    { name: 'table', ...table },
    { name: 'fold', ...fold },
    { name: 'add', ...add },
  ];
  return instantiateWasm(compileWasm(functions, pages));
}

/** (state, at, end): whole steps of 16 bytes, then byte by byte. */
function tableBody(): number[] {
  const [state, at, end, next, stop] = [0, 1, 2, 3, 4];
  const wide = balanced(
    Array.from({ length: SLICES }, (_, index) =>
      lookUp(index < 8 ? state : next, index % 8, SLICES - 1 - index),
    ),
  );
  return [
    ...[...get(end), ...constant(SLICES - 1), SUBTRACT, ...set(stop)],
    ...whileLess(at, stop, [
      ...[...get(state), ...get(at), ...load64(0), XOR64, ...set(state)],
      ...[...get(at), ...load64(8), ...set(next)],
      ...[...wide, ...set(state)],
      ...advance(at, SLICES),
    ]),
    ...whileLess(at, end, [
      ...[...get(state), ...get(at), ...load8Into64(0), XOR64, ...set(next)],
      ...[...lookUp(next, 0, 0), ...get(state), ...constant64(8), SHIFT_RIGHT64, XOR64, ...set(state)],
      ...advance(at, 1),
    ]),
    ...[...get(state), END],
  ];
}

/** (at, end). All addresses count from `base`, FOLD_BYTES before `at`: offsets cannot be negative. */
function foldBody(): number[] {
  const [at, end, base] = [0, 1, 2];
  const steps: number[] = [];
  for (let offset = 0; offset < FOLD_STEP_BYTES; offset += VECTOR_BYTES) {
    const own = FOLD_BYTES + offset;
    steps.push(...get(base), ...get(base), ...loadVector(own));
    for (const distance of FOLD_DISTANCES) {
      steps.push(...get(base), ...loadVector(own - distance), ...XOR_VECTOR);
    }
    steps.push(...storeVector(own));
  }
  return [
    ...[...get(at), ...constant(FOLD_BYTES), SUBTRACT, ...set(base)],
    ...whileLess(at, end, [...steps, ...advance(base, FOLD_STEP_BYTES), ...advance(at, FOLD_STEP_BYTES)]),
    END,
  ];
}

/** (to, at, end) */
function addBody(): number[] {
  const [to, at, end] = [0, 1, 2];
  const both = [...get(to), ...loadVector(0), ...get(at), ...loadVector(0), ...XOR_VECTOR];
  return [
    ...whileLess(at, end, [
      ...[...get(to), ...both, ...storeVector(0)],
      ...[...advance(to, VECTOR_BYTES), ...advance(at, VECTOR_BYTES)],
    ]),
    END,
  ];
}

/**
 * The value of a table for byte `index` of a variable: the shift leaves the byte where it counts entries of 8
 * bytes.
 */
function lookUp(variable: number, index: number, table: number): number[] {
  const shift =
    index === 0 ? [...constant64(3), SHIFT_LEFT64] : [...constant64(8 * index - 3), SHIFT_RIGHT64];
  return [...get(variable), ...shift, WRAP, ...constant(0xff << 3), AND, ...load64(table * 256 * 8)];
}

/** As a tree: a chain would make each step wait for sixteen XORs. */
function balanced(terms: readonly (readonly number[])[]): readonly number[] {
  if (terms.length === 1) return terms[0]!;
  const half = terms.length / 2;
  return [...balanced(terms.slice(0, half)), ...balanced(terms.slice(half)), XOR64];
}
