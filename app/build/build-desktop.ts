/**
 * Bundles the desktop app into `dist/desktop/`: its main process with the engine's threads as ES modules, and the preload as the one
 * CommonJS file that a sandboxed page can have.
 *
 * By esbuild, as the command is: what runs in the main process is the same engine, with the same groups of modules and the same native
 * packages beside it. Vite (and electron-vite) would bundle it a second way, and would add nothing but a reload of the main process
 * while developing; the window itself is built by Vite, for the browser and for this app alike.
 */
import { globSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { loadGroups } from './load-groups.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Node and Chromium of Electron 45. */
const TARGETS = { main: 'node24', preload: 'chrome144' } as const;
const EXTERNAL = ['electron', 'better-sqlite3', 'koffi'];
const ICONS = ['icon.png', 'tray.png', 'tray@2x.png', 'trayTemplate.png', 'trayTemplate@2x.png'];

/** CommonJS packages call `require` for Node's own modules, which an ES module does not have. */
const REQUIRE_BANNER = `import { createRequire as createRequireForBundle } from 'node:module';
const require = createRequireForBundle(import.meta.url);`;

export async function buildDesktop(folder: string): Promise<void> {
  const manifest = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8'));
  const shared: BuildOptions = {
    absWorkingDir: ROOT,
    outdir: folder,
    bundle: true,
    platform: 'node',
    external: EXTERNAL,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    define: { DRAY_VERSION: JSON.stringify(manifest.version) },
  };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  // Each thread is started by `new URL('./x-worker.js', import.meta.url)` from whichever chunk starts it: all lie in one folder.
  const workers = globSync('engine/**/*-worker.ts', { cwd: ROOT });
  await build({
    ...shared,
    entryPoints: [
      { in: 'app/desktop/main.ts', out: 'main' },
      ...workers.map((path) => ({ in: path, out: basename(path, '.ts') })),
    ],
    splitting: true,
    format: 'esm',
    target: TARGETS.main,
    mainFields: ['module', 'main'],
    chunkNames: '[name]-[hash]',
    plugins: [loadGroups(ROOT)],
    banner: { js: REQUIRE_BANNER },
  });
  await build({
    ...shared,
    entryPoints: [{ in: 'app/desktop/preload.ts', out: 'preload' }],
    format: 'cjs',
    target: TARGETS.preload,
    outExtension: { '.js': '.cjs' },
  });
  for (const icon of ICONS) await copyFile(join(ROOT, 'app/desktop/icons', icon), join(folder, icon));
}

if (import.meta.main) await buildDesktop(`${ROOT}dist/desktop`);
