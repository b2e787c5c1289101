/**
 * Builds the window of `renderer/` into one folder, with a brotli form beside each text, so that serving it
 * needs no compression. Fails when the JavaScript exceeds its budget: a browser downloads it before it shows
 * anything.
 */
import { globSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { formatThirdPartyLicenses } from './third-party-licenses.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SCRIPT_BYTES_MAX = 400 * 1024;
/** All that a build reads, besides packages. */
const SOURCES = [
  'renderer/**/*.*',
  'engine/api/**/*.ts',
  'app/build/build-window.ts',
  '.vite.config.ts',
  'package-lock.json',
];
const COMPRESSED = new Set(['.css', '.html', '.js', '.json', '.svg', '.txt']);

export interface BuiltWindow {
  /** The compressed size of all JavaScript. */
  readonly compressedBytes: number;
}

/** Why a build in this folder is out of date. Undefined if it is newer than all sources below `root`. */
export function whyStale(folder: string, root = ROOT): string | undefined {
  const built = statSync(join(folder, 'index.html'), { throwIfNoEntry: false });
  if (!built) return `${folder} has no window`;
  const newer = globSync(SOURCES, { cwd: root }).find(
    (path) => !path.includes('.test.') && statSync(join(root, path)).mtimeMs > built.mtimeMs,
  );
  return newer && `The window in ${folder} is older than ${newer}`;
}

/**
 * Builds beside the folder and moves the result into place in one step, so that parallel builds lose nothing.
 */
export async function buildWindow(folder: string): Promise<BuiltWindow> {
  const temporary = `${folder}.${process.pid}.tmp`;
  try {
    const inputs = await bundle(temporary);
    const licenses = await formatThirdPartyLicenses(ROOT, inputs);
    await writeFile(join(temporary, 'THIRD-PARTY-LICENSES.txt'), licenses);
    const compressedBytes = await compressFiles(temporary);
    if (compressedBytes > SCRIPT_BYTES_MAX)
      throw new Error(
        `The window's JavaScript takes ${compressedBytes} bytes compressed; at most ${SCRIPT_BYTES_MAX} are allowed.`,
      );
    await putInPlace(temporary, folder);
    return { compressedBytes };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** @returns The source files of the bundle, relative to the project. */
async function bundle(folder: string): Promise<readonly string[]> {
  // A test may run this (NODE_ENV=test), which would bundle React's development build.
  process.env.NODE_ENV = 'production';
  // Loaded here because it is large and the command's own build does not need it.
  const { build } = await import('vite');
  const inputs = new Set<string>();
  await build({
    configFile: join(ROOT, '.vite.config.ts'),
    root: join(ROOT, 'renderer'),
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true },
    plugins: [
      {
        name: 'name-inputs',
        generateBundle(_options, output) {
          for (const file of Object.values(output)) {
            if (file.type !== 'chunk') continue;
            for (const id of file.moduleIds) inputs.add(relative(ROOT, id.replace(/[?\0].*$/, '')));
          }
        },
      },
    ],
  });
  return [...inputs].map((path) => path.replaceAll('\\', '/'));
}

async function compressFiles(folder: string): Promise<number> {
  const compress = promisify(brotliCompress);
  let scriptBytes = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    if (!COMPRESSED.has(extname(name))) continue;
    const plain = await readFile(join(folder, name));
    const packed = await compress(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      },
    });
    await writeFile(join(folder, `${name}.br`), packed);
    if (extname(name) === '.js') scriptBytes += packed.length;
  }
  return scriptBytes;
}

/** An equal window stays, with a new date, so that a process that reads it at this moment finds all of it. */
async function putInPlace(from: string, to: string): Promise<void> {
  if (await isSame(from, to)) {
    const { atime, mtime } = await stat(join(from, 'index.html'));
    return utimes(join(to, 'index.html'), atime, mtime);
  }
  await mkdir(dirname(to), { recursive: true });
  await rm(to, { recursive: true, force: true });
  await rename(from, to);
}

async function isSame(one: string, other: string): Promise<boolean> {
  const names = await listFiles(one);
  const others = await listFiles(other).catch(() => []);
  if (names.join('\n') !== others.join('\n')) return false;
  for (const name of names) {
    const [contents, present] = await Promise.all([readFile(join(one, name)), readFile(join(other, name))]);
    if (!contents.equals(present)) return false;
  }
  return true;
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ name, parentPath }) => relative(folder, join(parentPath, name))).sort();
}
