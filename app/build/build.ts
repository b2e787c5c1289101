/**
 * Bundles the command into `dist/`: one folder of ES modules that need nothing but Node and the native packages.
 * Bundling is what makes `npm install dray` small (three packages) and the command quick to start.
 */
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { formatThirdPartyLicenses } from './third-party-licenses.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Native code cannot be bundled: these stay `dependencies` of the package. */
const EXTERNAL = ['better-sqlite3', 'koffi'];

/**
 * Workers are started by `new URL('./hash-worker.js', import.meta.url)` from whichever chunk holds the pool, so chunks and
 * workers lie in one folder.
 */
const ENTRIES = {
  dray: 'app/cli/main.ts',
  'hash-worker': 'engine/workspace/hash-worker.ts',
  'write-worker': 'engine/workspace/write-worker.ts',
};

/** CommonJS packages call `require` for Node's own modules, which an ES module does not have. */
const REQUIRE_BANNER = `import { createRequire as createRequireForBundle } from 'node:module';
const require = createRequireForBundle(import.meta.url);`;

export async function buildCommand(folder: string): Promise<void> {
  const manifest = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8'));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.entries(ENTRIES).map(([out, input]) => ({ out, in: input })),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // The ES modules of a package where it has both: named exports survive, and what is not used is left out.
    mainFields: ['module', 'main'],
    target: 'node22',
    external: EXTERNAL,
    // Names and lines stay, so that a stack trace from the field can be read.
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    chunkNames: '[name]-[hash]',
    banner: { js: REQUIRE_BANNER },
    define: { DRAY_VERSION: JSON.stringify(manifest.version) },
    logLevel: 'warning',
  });
  await chmod(`${folder}/dray.js`, 0o755);
  const licenses = await formatThirdPartyLicenses(ROOT, Object.keys(metafile.inputs));
  await writeFile(`${folder}/THIRD-PARTY-LICENSES.txt`, licenses);
}

if (import.meta.main) await buildCommand(`${ROOT}dist`);
