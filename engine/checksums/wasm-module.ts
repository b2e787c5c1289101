/**
 * Puts WebAssembly modules together byte by byte (WebAssembly Core Specification 2.0, section 5): for loops
 * too small to need a compiler.
 */

/** Numbers of sections. */
export const SECTION = { type: 1, import: 2, function: 3, memory: 5, export: 7, code: 10 } as const;

export const VALUE = { i32: 0x7f, i64: 0x7e, v128: 0x7b } as const;

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** @param sections In ascending order of their numbers. */
export function wasmModule(...sections: readonly (readonly number[])[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...MAGIC_AND_VERSION, ...sections.flat()]);
}

export function section(id: number, items: readonly (readonly number[])[]): number[] {
  const content = list(items);
  return [id, ...unsigned(content.length), ...content];
}

export function functionType(parameters: readonly number[], results: readonly number[]): number[] {
  return [0x60, ...list(parameters.map((type) => [type])), ...list(results.map((type) => [type]))];
}

/** @param locals Types of the variables beyond the parameters. */
export function functionCode(locals: readonly number[], instructions: readonly number[]): number[] {
  const body = [...list(locals.map((type) => [1, type])), ...instructions];
  return [...unsigned(body.length), ...body];
}

function list(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

export function text(ascii: string): number[] {
  return [...unsigned(ascii.length), ...Buffer.from(ascii, 'latin1')];
}

/** LEB128. */
export function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}

/** Signed LEB128, as constants have it. */
export function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const byte = rest & 0x7f;
    const next = rest >> 7;
    if ((next === 0 && byte < 0x40) || (next === -1 && byte >= 0x40)) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

/** Signed LEB128 of 64 bits. */
export function signed64(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const byte = Number(rest & 0x7fn);
    const next = rest >> 7n;
    if ((next === 0n && byte < 0x40) || (next === -1n && byte >= 0x40)) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}
