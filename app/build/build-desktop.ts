/**
 * Bundles the desktop app into `dist/desktop/`. The main process, the engine's threads and the process of
 * saved jobs become ES modules. The preload becomes a CommonJS file, as a sandboxed page requires.
 *
 * esbuild bundles it as it bundles the command: the main process runs the same engine, with the same groups
 * of modules and the same native packages. Vite (or electron-vite) would bundle it in a second way and would
 * only add a reload of the main process during development. Vite builds the window itself, for the browser
 * and for this app alike.
 */
import { globSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { moduleOptions, sharedOptions } from './node-bundle.ts';
import { formatThirdPartyLicenses } from './third-party-licenses.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The Node and Chromium versions of Electron 45. */
const TARGETS = { main: 'node24', preload: 'chrome144' } as const;
const ICONS = ['icon.png', 'tray.png', 'tray@2x.png', 'trayTemplate.png', 'trayTemplate@2x.png'];

export async function buildDesktop(folder: string): Promise<void> {
  const shared = sharedOptions(ROOT);
  const external = ['electron', ...shared.external];
  const workers = globSync('engine/**/*-worker.ts', { cwd: ROOT });
  const main = await build({
    ...moduleOptions(ROOT),
    external,
    entryPoints: [
      { in: 'app/desktop/main.ts', out: 'main' },
      { in: 'app/desktop/job-process.ts', out: 'job-process' },
      { in: 'app/fleet/fleet-link.ts', out: 'fleet-link' },
      ...workers.map((path) => ({ in: path, out: basename(path, '.ts') })),
    ],
    outdir: folder,
    target: TARGETS.main,
  });
  const preload = await build({
    ...shared,
    external,
    entryPoints: [{ in: 'app/desktop/preload.ts', out: 'preload' }],
    outdir: folder,
    format: 'cjs',
    target: TARGETS.preload,
    outExtension: { '.js': '.cjs' },
  });
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const { contents, path } of [...main.outputFiles, ...preload.outputFiles])
    await writeFile(path, contents);
  for (const icon of ICONS) await copyFile(join(ROOT, 'app/desktop/icons', icon), join(folder, icon));
  const inputs = [main, preload].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), await formatThirdPartyLicenses(ROOT, inputs));
}

if (import.meta.main) await buildDesktop(`${ROOT}dist/desktop`);
