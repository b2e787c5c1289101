/**
 * The package's native modules use Node-API alone, whose binaries fit Node and Electron alike: nothing has to
 * be rebuilt. A module that calls V8, or Node's classes, fits one version.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import koffi from 'koffi';
import { describe, expect, it } from 'vitest';
import { NATIVE_PACKAGES } from '../../app/build/node-bundle.ts';

const VERSION = 'node_api_module_get_api_version_v1';
const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));
interface Expectation {
  readonly files: string;
  /** Node-API's version that it declares. */
  readonly version: number;
  /** Functions newer than version 8: Node's names of those begin with `node_api_`. */
  readonly newer: readonly string[];
  /** Electron refuses these: V8 there reads no memory but its own. */
  readonly external: readonly string[];
}

const EXPECTED: Readonly<Record<string, Expectation>> = {
  'better-sqlite3': {
    files: 'better-sqlite3/prebuilds/*.node',
    // That of the oldest supported Electron, with Node 22.20.
    version: 10,
    newer: [],
    // Copies instead, for `serialize` alone, which Dray does not call.
    external: ['napi_create_external_buffer'],
  },
  koffi: {
    files: '@koromix/koffi-*/*/*.node',
    // "Experimental", which every Node takes.
    version: 2 ** 31 - 1,
    // It looks whether Node has them, and does without.
    newer: [
      'node_api_create_object_with_properties',
      'node_api_create_property_key_utf8',
      'node_api_post_finalizer',
    ],
    // Throws instead, for `koffi.view` alone, which Dray does not call.
    external: ['napi_create_external_arraybuffer'],
  },
};

/** C++ names of V8 and Node, as GCC and Clang or as MSVC write them. */
const FOREIGN = /_ZN[KVrR]*(?:2v8|4node)\w*|\?[\w?$@]*@(?:v8|node)@@[\w@]*/g;

function namesIn(file: Uint8Array, pattern: RegExp): readonly string[] {
  return [...new Set(Buffer.from(file).toString('latin1').match(pattern))].sort();
}

describe.each(NATIVE_PACKAGES)('%s', (name) => {
  const expected = EXPECTED[name]!;
  const files = globSync(expected.files, { cwd: MODULES });
  const own = files.filter((file) => file.includes(`${process.platform}-${process.arch}`));

  it.each(files)('has %s, which calls Node by Node-API alone', (path) => {
    const file = readFileSync(MODULES + path);
    expect(namesIn(file, FOREIGN)).toEqual([]);
    expect(namesIn(file, /napi_create_function/g)).toHaveLength(1);
    const newer = namesIn(file, /node_api_\w+/g).filter((name) => name !== VERSION);
    expect(newer).toEqual(expected.newer);
    expect(namesIn(file, /napi_create_external_\w+/g)).toEqual(expected.external);
  });

  it('needs no newer Node-API than Electron has', () => {
    expect(own).not.toEqual([]);
    for (const path of own.filter((file) => !file.includes('musl')))
      expect(koffi.load(MODULES + path).func(`int32_t ${VERSION}()`)()).toBe(expected.version);
  });
});

describe('A module of another kind', () => {
  it.each([
    '_ZN2v87Isolate10GetCurrentEv',
    '_ZNK2v85Value6IsTrueEv',
    '_ZN4node21AddEnvironmentCleanupHookEPN2v87IsolateEPFvPvES3_',
    '?GetCurrent@Isolate@v8@@SAPEAV12@XZ',
  ])('is found by %s', (symbol) => {
    expect(namesIn(Buffer.from(`\0strlen\0${symbol}\0`), FOREIGN)).toEqual([symbol]);
  });
});
