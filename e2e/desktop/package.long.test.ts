/**
 * The packages of the desktop app. electron-builder packs them as for a release, but around a stand-in for
 * Electron's program. Node then starts the packed app with the fake of Electron, so a file that the package
 * lacks makes the test fail.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireOfBuilder } from './builder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/**
 * The bytes by which @electron/fuses finds the fuses in Electron's program. A version, the number of fuses
 * and one character per fuse follow.
 */
const FUSES = Buffer.from('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX');
const FUSE_NAMES = [
  'runAsNode',
  'enableCookieEncryption',
  'enableNodeOptionsEnvironmentVariable',
  'enableNodeCliInspectArguments',
  'enableEmbeddedAsarIntegrityValidation',
  'onlyLoadAppFromAsar',
  'loadBrowserProcessSpecificV8Snapshot',
  'grantFileProtocolExtraPrivileges',
] as const;

describe.runIf(process.platform === 'linux')('A package', () => {
  let folder: string;
  let resources: string;
  let app: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dray-package-'));
    const electron = join(folder, 'electron');
    await writeProgram(electron);
    const packages = join(folder, 'packages');
    await run(process.execPath, [
      join(ROOT, 'app/build/package-desktop.ts'),
      '--dir',
      // `npm test` has just made it.
      ...(process.env.DRAY_TEST_COMMAND === undefined ? [] : ['--window-is-built']),
      `-c.electronDist=${electron}`,
      `-c.directories.output=${packages}`,
    ]);
    const [unpacked] = (await readdir(packages)).filter((name) => name.endsWith('unpacked'));
    resources = join(packages, unpacked!, 'resources');
    app = join(folder, 'app');
    // Puts the files in the archive and those beside it back into one folder.
    requireOfBuilder('@electron/asar').extractAll(join(resources, 'app.asar'), app);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('starts from its own files: the window, the engine, a saved job and the native code', async () => {
    const entry = join(ROOT, 'app/desktop/run-bundle.fixture.ts');
    const home = join(folder, 'home');
    await mkdir(home);
    const env = { PATH: process.env.PATH, HOME: home, DRAY_CONFIG: join(home, 'config.json') };
    const [from, to] = [join(home, 'from'), join(home, 'to')];
    await mkdir(from);
    await writeFile(join(from, 'a'), 'a');
    const words = ['job', 'add', 'live', '--on-change', '--', 'copy', from, to];
    await run(process.execPath, [join(ROOT, 'app/cli/main.ts'), ...words], { env });
    const { stdout } = await run(process.execPath, [entry, join(app, 'dist'), home, join(to, 'a')], { env });
    expect(JSON.parse(stdout)).toEqual({
      url: 'dray-app://window/index.html',
      status: 200,
      answer: { is: 'answer', id: 1, answer: { workspaces: [] } },
    });
    for (const name of ['better-sqlite3', 'koffi']) {
      const load = `import { createRequire } from 'node:module';
        createRequire(${JSON.stringify(pathToFileURL(join(app, 'package.json')).href)})('${name}');`;
      await run(process.execPath, ['--input-type=module', '--eval', load]);
    }
  });

  it("holds licences and this system's native code, but no sources and no tests", async () => {
    const names = await readdir(app, { recursive: true });
    for (const part of ['desktop', 'window'])
      expect(readFileSync(join(app, 'dist', part, 'THIRD-PARTY-LICENSES.txt'), 'utf8')).toMatch(
        /contains code of these packages\.\n\n\S/,
      );
    expect(names.filter((name) => /\.(?:ts|tsx|br|map|cc|hh|h|gyp)$|\.test\./.test(name))).toEqual([]);
    expect(names.filter((name) => name.startsWith('dist/') && name.split('/').length === 2).sort()).toEqual([
      'dist/desktop',
      'dist/window',
    ]);
    const native = names.filter((name) => name.endsWith('.node')).sort();
    expect(native).toEqual([
      `node_modules/@koromix/koffi-linux-${process.arch}/linux_${process.arch}/koffi.node`,
      `node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`,
    ]);
    // The system loads native code only from files outside the archive.
    for (const name of native) expect(existsSync(join(resources, 'app.asar.unpacked', name))).toBe(true);
  });

  it('has fuses that forbid other scripts, debuggers and other archives', async () => {
    const program = readFileSync(join(resources, '..', 'dray-desktop'));
    const at = program.indexOf(FUSES) + FUSES.length + 2;
    const letters = program.toString('latin1', at, at + FUSE_NAMES.length);
    const set = FUSE_NAMES.filter((_name, index) => letters[index] === '1');
    expect(set).toEqual([
      'enableCookieEncryption',
      'enableEmbeddedAsarIntegrityValidation',
      'onlyLoadAppFromAsar',
    ]);
  });
});

/** The parts of an unpacked Electron that electron-builder reads, with every fuse set wrong. */
async function writeProgram(electron: string): Promise<void> {
  await mkdir(join(electron, 'resources'), { recursive: true });
  await mkdir(join(electron, 'locales'));
  const wrong = Buffer.from('101100110');
  const fuses = Buffer.concat([FUSES, Buffer.from([1, wrong.length]), wrong]);
  await writeFile(join(electron, 'electron'), Buffer.concat([Buffer.from('#!/bin/false\n'), fuses]), {
    mode: 0o755,
  });
  for (const name of ['LICENSE', 'LICENSES.chromium.html', 'version', 'locales/en-US.pak'])
    await writeFile(join(electron, name), '');
}
