/** The browser of the window's tests: where it is missing and can be had (root, on a system with apt-get), it is installed. */
import { canInstallPackages, installAptPackage } from '../e2e/apt-package.ts';
import { findChromium } from '../e2e/window/find-chromium.ts';

/** @returns Whether there is one now; when not, why was said. */
export function ensureChromium(): boolean {
  if (findChromium()) return true;
  if (canInstallPackages()) {
    if (installAptPackage('chromium') && findChromium()) return true;
    console.error('Chromium could not be installed.');
  }
  console.error(
    'The tests of the window will not run: there is no Chromium. Install it, or name it by CHROMIUM_PATH.',
  );
  return false;
}
