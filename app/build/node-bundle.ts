/**
 * The options that every bundle for Node shares: the command's, its window's engine, and the desktop's main
 * process.
 */
import { readFileSync } from 'node:fs';
import type { BuildOptions } from 'esbuild';
import { loadGroups } from './load-groups.ts';
import { originalFs } from './original-fs.ts';

/** Native code cannot be bundled: these stay `dependencies` of the package. */
export const NATIVE_PACKAGES = ['better-sqlite3', 'koffi'];

/** Users install these themselves, if they use them. */
const OPTIONAL_PACKAGES = ['@temporalio/*', '@opentelemetry/*'];

/** CommonJS packages call `require` for Node's own modules; ES modules have none. */
const REQUIRE_BANNER = `import { createRequire as createRequireForBundle } from 'node:module';
const require = createRequireForBundle(import.meta.url);`;

/** @param root The project's folder, ending in `/`. */
export function sharedOptions(root: string) {
  const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  return {
    absWorkingDir: root,
    write: false,
    bundle: true,
    metafile: true,
    platform: 'node',
    external: [...NATIVE_PACKAGES, ...OPTIONAL_PACKAGES],
    // Keeps names and lines, so that stack traces from users can be read.
    minifySyntax: true,
    legalComments: 'none',
    define: { DRAY_VERSION: JSON.stringify(manifest.version) },
    logLevel: 'warning',
  } as const satisfies BuildOptions;
}

/**
 * ES modules in one folder: a chunk with the pool starts workers by `new URL('./hash-worker.js',
 * import.meta.url)`, so chunks and workers lie side by side.
 */
export function moduleOptions(root: string) {
  return {
    ...sharedOptions(root),
    splitting: true,
    format: 'esm',
    // Prefers a package's ES modules: named exports survive, and unused code is left out.
    mainFields: ['module', 'main'],
    chunkNames: '[name]-[hash]',
    plugins: [loadGroups(root), originalFs(root)],
    banner: { js: REQUIRE_BANNER },
    logOverride: { 'ambiguous-reexport': 'error' },
  } satisfies BuildOptions;
}
