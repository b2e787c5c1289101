/**
 * Bundles the command into `dist/`: one folder of ES modules that need nothing but Node and the native packages.
 * Bundling is what makes `npm install dray` small (three packages) and the command quick to start.
 */
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildWindow } from './build-window.ts';
import { loadGroups } from './load-groups.ts';
import { formatThirdPartyLicenses } from './third-party-licenses.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Native code cannot be bundled: these stay `dependencies` of the package. */
const EXTERNAL = ['better-sqlite3', 'koffi'];

/**
 * Workers are started by `new URL('./hash-worker.js', import.meta.url)` from whichever chunk holds the pool, so chunks and
 * workers lie in one folder.
 */
const COMMAND = {
  dray: 'app/cli/main.ts',
  'hash-worker': 'engine/workspace/hash-worker.ts',
  'write-worker': 'engine/workspace/write-worker.ts',
  'block-worker': 'engine/workspace/block-worker.ts',
  'digest-worker': 'engine/transfer/digest-worker.ts',
};

/**
 * The window's engine shares modules with the command, and code splitting would cut the command's files by what both use: twice as many
 * to load for a push. So it is a bundle of its own.
 */
const HOST = { 'host-worker': 'engine/host/host-worker.ts' };

/** Of the folder, what `buildWindow` makes. */
const WINDOW = 'window';

/** CommonJS packages call `require` for Node's own modules, which an ES module does not have. */
const REQUIRE_BANNER = `import { createRequire as createRequireForBundle } from 'node:module';
const require = createRequireForBundle(import.meta.url);`;

export async function buildCommand(folder: string): Promise<void> {
  const built = [await bundle(COMMAND, folder), await bundle(HOST, folder)];
  const inputs = built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const licenses = await formatThirdPartyLicenses(ROOT, inputs);
  const outputs = built.flatMap(({ outputFiles }) => outputFiles);
  const files = new Map(outputs.map((file) => [basename(file.path), file.contents]));
  files.set('THIRD-PARTY-LICENSES.txt', Buffer.from(licenses));
  await replaceFiles(folder, files);
  await chmod(join(folder, 'dray.js'), 0o755);
}

async function bundle(entries: Readonly<Record<string, string>>, folder: string) {
  const manifest = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8'));
  return build({
    absWorkingDir: ROOT,
    entryPoints: Object.entries(entries).map(([out, input]) => ({ out, in: input })),
    outdir: folder,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // The ES modules of a package where it has both: named exports survive, and what is not used is left out.
    mainFields: ['module', 'main'],
    target: 'node22',
    external: EXTERNAL,
    plugins: [loadGroups(ROOT)],
    logOverride: { 'ambiguous-reexport': 'error' },
    // Names and lines stay, so that a stack trace from the field can be read.
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    chunkNames: '[name]-[hash]',
    banner: { js: REQUIRE_BANNER },
    define: { DRAY_VERSION: JSON.stringify(manifest.version) },
    logLevel: 'warning',
  });
}

/**
 * Writes only what differs, each file in one step, and removes what is left over last: a command that runs from the folder
 * meanwhile finds its files.
 */
async function replaceFiles(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, contents] of files) {
    const path = join(folder, name);
    const present = await readFile(path).catch(() => undefined);
    if (present?.equals(contents)) continue;
    const temporary = `${path}.${process.pid}.tmp`;
    await writeFile(temporary, contents);
    await rename(temporary, path);
  }
  for (const name of await readdir(folder)) {
    if (!files.has(name) && name !== WINDOW && !name.endsWith('.tmp'))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

if (import.meta.main) {
  await buildCommand(`${ROOT}dist`);
  const { compressedBytes } = await buildWindow(`${ROOT}dist/${WINDOW}`);
  console.log(`The window's JavaScript: ${(compressedBytes / 1024).toFixed(1)} KiB compressed.`);
}
