/** Finds Electron's program: `ELECTRON_PATH`, or the one that its package downloaded at installation. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'Electron.app/Contents/MacOS/Electron',
  linux: 'electron',
  win32: 'electron.exe',
};

const DIST = fileURLToPath(new URL('../../node_modules/electron/dist', import.meta.url));

/** Undefined when this machine has none. */
export function findElectron(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const candidates = [environment.ELECTRON_PATH, join(DIST, PROGRAMS[process.platform] ?? 'electron')];
  return candidates.find((path) => path !== undefined && path !== '' && existsSync(path));
}
