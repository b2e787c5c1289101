/** The desktop app's entry. It only passes the real Electron and the paths of its own files. */
import { join } from 'node:path';
import * as electron from 'electron';
import { openHost } from '../../engine/host/open-host.ts';
import { fleetLinkUrl } from '../fleet/fleet-link-url.ts';
import { startDesktop } from './desktop-app.ts';

// Bundled to dist/desktop/main.js; the window's build is beside it in dist/window.
const folder = import.meta.dirname;

// Not awaited: Electron becomes ready only after this module has run to its end, and the start waits for
// that.
startDesktop(electron, {
  platform: process.platform,
  environment: process.env,
  argv: process.argv,
  program: process.execPath,
  windowFolder: join(folder, '..', 'window'),
  jobProcessPath: join(folder, 'job-process.js'),
  preloadPath: join(folder, 'preload.cjs'),
  iconPath: join(folder, 'icon.png'),
  trayIconPath: join(folder, process.platform === 'darwin' ? 'trayTemplate.png' : 'tray.png'),
  openHost: (options) => openHost({ ...options, fleetLinkUrl }),
}).catch((error: unknown) => {
  electron.dialog.showErrorBox('Dray cannot start', error instanceof Error ? error.message : String(error));
  electron.app.exit(1);
});
