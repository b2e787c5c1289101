/**
 * Bundles the command into `dist/`, one folder of files that need only Node and the native packages. Bundling
 * makes `npm install dray` small (three packages) and the command fast to start.
 */
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleName, bundleWorkflows } from '../fleet/workflow-bundle.ts';
import { buildWindow } from './build-window.ts';
import { bundleCommand } from './command-bundle.ts';
import { formatThirdPartyLicenses } from './third-party-licenses.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export async function buildCommand(folder: string): Promise<void> {
  const built = await bundleCommand(ROOT, folder);
  const inputs = built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const workflows = new Map<string, string>();
  for (const isTraced of [false, true]) workflows.set(bundleName(isTraced), await bundleWorkflows(isTraced));
  const licenses = await formatThirdPartyLicenses(ROOT, [
    ...inputs,
    ...[...workflows.values()].flatMap(packagesIn),
  ]);
  const outputs = built.flatMap(({ outputFiles }) => outputFiles);
  const files = new Map(outputs.map((file) => [basename(file.path), file.contents]));
  for (const [name, script] of workflows) files.set(name, Buffer.from(script));
  files.set('THIRD-PARTY-LICENSES.txt', Buffer.from(licenses));
  await replaceFiles(folder, files);
  await chmod(join(folder, 'dray.js'), 0o755);
}

/** The modules of packages in a script of webpack's, as paths in the project. */
function packagesIn(script: string): string[] {
  return [...new Set(script.match(/node_modules\/[\w@./-]+\.js/g))];
}

/**
 * Writes only changed files, each in one step, and removes old files last, so that a command that runs
 * meanwhile finds its own. Other scripts make the folders in it (the window, the desktop app, packages).
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
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isFile() && !files.has(entry.name) && !entry.name.endsWith('.tmp'))
      await rm(join(folder, entry.name), { force: true });
  }
}

if (import.meta.main) {
  await buildCommand(`${ROOT}dist`);
  const { compressedBytes } = await buildWindow(`${ROOT}dist/window`);
  console.log(`The window's JavaScript: ${(compressedBytes / 1024).toFixed(1)} KiB compressed.`);
}
