/**
 * `npm run desktop [-- --x64 --arm64 --dir ...]`: builds the window and the desktop app, and packs them for
 * this system by electron-builder.yml into `dist/packages/`. The default architecture is this machine's.
 * `--window-is-built` packs the window that is in `dist/` already. Other options go to electron-builder.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildDesktop } from './build-desktop.ts';
import { buildWindow } from './build-window.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const WINDOW_IS_BUILT = '--window-is-built';
/** electron-builder's names of the systems. */
const SYSTEMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: '--mac',
  linux: '--linux',
  win32: '--win',
};
const ARCHITECTURES = ['x64', 'arm64'] as const;

export interface NativeBinary {
  /** Relative to the project. */
  readonly path: string;
  /** The command that installs it. */
  readonly command: string;
}

/** The binaries that a package for this system and architecture needs. */
export function nativeBinariesOf(platform: string, architecture: string): readonly NativeBinary[] {
  const koffi = `@koromix/koffi-${platform}-${architecture}`;
  const { optionalDependencies } = readManifest('node_modules/koffi/package.json');
  return [
    {
      path: `node_modules/better-sqlite3/prebuilds/${platform}-${architecture}.node`,
      command: 'npm install',
    },
    {
      // npm installs only this machine's binary, and another one only by force.
      path: `node_modules/${koffi}/package.json`,
      command: `npm install --no-save --force ${koffi}@${optionalDependencies?.[koffi] ?? 'latest'}`,
    },
  ];
}

async function packageDesktop(given: readonly string[]): Promise<number> {
  const { platform } = process;
  const system = SYSTEMS[platform];
  if (!system) return complain(`Electron has no program for ${platform}.`);
  const asked = ARCHITECTURES.filter((name) => given.includes(`--${name}`));
  const architectures = asked.length > 0 ? asked : [process.arch];
  for (const architecture of architectures) {
    const missing = nativeBinariesOf(platform, architecture).find(
      ({ path }) => !existsSync(`${ROOT}${path}`),
    );
    if (missing)
      return complain(`For ${platform} on ${architecture} ${missing.path} is missing: ${missing.command}`);
  }
  if (!given.includes(WINDOW_IS_BUILT)) await buildWindow(`${ROOT}dist/window`);
  await buildDesktop(`${ROOT}dist/desktop`);
  const flags = asked.length > 0 ? [] : [`--${process.arch}`];
  const builder = fileURLToPath(import.meta.resolve('electron-builder/cli.js'));
  const options = given.filter((option) => option !== WINDOW_IS_BUILT);
  const { status } = spawnSync(process.execPath, [builder, system, ...flags, ...options], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status === 0) return 0;
  const { version } = readManifest('node_modules/electron/package.json');
  return complain(
    [
      `Nothing was packed: electron-builder needs Electron ${version} for ${platform} on ${architectures.join(' and ')},`,
      'and its own tools for AppImage, deb, dmg and nsis. It downloads them from GitHub. Without GitHub:',
      '  set ELECTRON_MIRROR and ELECTRON_BUILDER_BINARIES_MIRROR to other servers, or',
      '  npm run desktop -- --dir -c.electronDist=FOLDER   builds the app from an unpacked Electron, without an installer.',
    ].join('\n'),
  );
}

function complain(text: string): number {
  console.error(text);
  return 1;
}

function readManifest(path: string): {
  readonly version: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
} {
  return JSON.parse(readFileSync(`${ROOT}${path}`, 'utf8'));
}

if (import.meta.main) process.exitCode = await packageDesktop(process.argv.slice(2));
