/** Where Electron's program is: `ELECTRON_PATH`, or what its package fetched when it was installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'Electron.app/Contents/MacOS/Electron',
  linux: 'electron',
  win32: 'electron.exe',
};

const DIST = fileURLToPath(new URL('../../node_modules/electron/dist', import.meta.url));

/** Undefined: there is none on this machine. */
export function findElectron(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const candidates = [environment.ELECTRON_PATH, join(DIST, PROGRAMS[process.platform] ?? 'electron')];
  return candidates.find((path) => path !== undefined && path !== '' && existsSync(path));
}
