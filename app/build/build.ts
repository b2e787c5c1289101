/**
 * Bundles the command into `dist/`: one folder of ES modules that need nothing but Node and the native packages.
 * Bundling is what makes `npm install dray` small (three packages) and the command quick to start.
 */
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildWindow } from './build-window.ts';
import { moduleOptions } from './node-bundle.ts';
import { formatThirdPartyLicenses } from './third-party-licenses.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

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

function bundle(entries: Readonly<Record<string, string>>, folder: string) {
  return build({
    ...moduleOptions(ROOT),
    entryPoints: Object.entries(entries).map(([out, input]) => ({ out, in: input })),
    outdir: folder,
    target: 'node22',
  });
}

/**
 * Writes only what differs, each file in one step, and removes the files that are left over last: a command that runs from the folder
 * meanwhile finds its own. Folders in it (the window, the desktop app, packages) are made by others.
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
