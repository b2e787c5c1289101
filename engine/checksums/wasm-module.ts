/**
 * Puts WebAssembly modules together byte by byte (WebAssembly Core Specification 2.0, section 5): for loops
 * too small to need a compiler.
 */

export const VALUE = { i32: 0x7f, i64: 0x7e, v128: 0x7b } as const;

export interface WasmFunction {
  /** Absent: only the module's own functions call it, by its place among them. */
  readonly name?: string;
  /** Types. */
  readonly parameters: readonly number[];
  readonly results?: readonly number[];
  /** The types of the variables beyond the parameters. */
  readonly locals?: readonly number[];
  readonly body: readonly number[];
}

/** Numbers of sections. */
const SECTION = { type: 1, import: 2, function: 3, memory: 5, export: 7, code: 10 } as const;
const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const PAGES_MAX = 65_536;
/** The names under which an instance gets a shared memory. */
const SHARED_MEMORY = { module: 'dray', name: 'memory' } as const;

/**
 * Takes some milliseconds. Throws where WebAssembly has no vectors and a function uses them.
 * @param ownPages Of 64 KiB: the size of the module's own memory, exported as `memory`. Absent: instances
 * share a memory that they are given.
 */
export function compileWasm(functions: readonly WasmFunction[], ownPages?: number): WebAssembly.Module {
  const isOwn = ownPages !== undefined;
  const { module, name } = SHARED_MEMORY;
  const shared = [...text(module), ...text(name), 0x02, 0x03, ...unsigned(1), ...unsigned(PAGES_MAX)];
  const exported = functions.flatMap(({ name }, number) =>
    name === undefined ? [] : [[...text(name), 0x00, number]],
  );
  const sections = [
    section(
      SECTION.type,
      functions.map(({ parameters, results = [] }) => functionType(parameters, results)),
    ),
    isOwn ? [] : section(SECTION.import, [shared]),
    section(
      SECTION.function,
      functions.map((_, number) => [number]),
    ),
    isOwn ? section(SECTION.memory, [[0x01, ...unsigned(ownPages), ...unsigned(ownPages)]]) : [],
    section(SECTION.export, isOwn ? [[...text('memory'), 0x02, 0], ...exported] : exported),
    section(
      SECTION.code,
      functions.map(({ body, locals = [] }) => functionCode(locals, body)),
    ),
  ];
  return new WebAssembly.Module(Uint8Array.from([...MAGIC_AND_VERSION, ...sections.flat()]));
}

/** @returns The exported functions, and `memory` if it is the module's own. */
export function instantiateWasm<Exports>(module: WebAssembly.Module, shared?: WebAssembly.Memory): Exports {
  const imports = shared && { [SHARED_MEMORY.module]: { [SHARED_MEMORY.name]: shared } };
  return new WebAssembly.Instance(module, imports).exports as Exports;
}

function section(id: number, items: readonly (readonly number[])[]): number[] {
  const content = list(items);
  return [id, ...unsigned(content.length), ...content];
}

function functionType(parameters: readonly number[], results: readonly number[]): number[] {
  return [0x60, ...list(parameters.map((type) => [type])), ...list(results.map((type) => [type]))];
}

function functionCode(locals: readonly number[], instructions: readonly number[]): number[] {
  const body = [...list(locals.map((type) => [1, type])), ...instructions];
  return [...unsigned(body.length), ...body];
}

function list(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function text(ascii: string): number[] {
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
