/**
 * Installs the browser of the window's tests where it is missing and can be installed (as root, by apt-get).
 */
import { canInstallPackages, installAptPackage } from '../e2e/apt-package.ts';
import { findChromium } from '../e2e/window/find-chromium.ts';

/** @returns Whether there is one now. If not, the reason was printed. */
export function ensureChromium(): boolean {
  if (findChromium()) return true;
  if (canInstallPackages()) {
    // Only Debian has the first.
    for (const name of ['chromium-headless-shell', 'chromium'])
      if (installAptPackage(name) && findChromium()) return true;
    console.error('Chromium could not be installed.');
  }
  console.error(
    'The tests of the window are skipped: there is no Chromium. Install it or set CHROMIUM_PATH.',
  );
  return false;
}
