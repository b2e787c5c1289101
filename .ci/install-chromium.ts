/**
 * Installs the browser of the window's tests where it is missing and can be installed (as root, by apt-get).
 * Without one, the tests are skipped and `npm test` goes on, so this never fails.
 */
import { canInstallPackages, installAptPackage } from '../e2e/servers/apt-package.ts';
import { findChromium } from '../e2e/window/find-chromium.ts';

if (!findChromium()) installChromium();

function installChromium(): void {
  if (canInstallPackages()) {
    // Only Debian has the first.
    for (const name of ['chromium-headless-shell', 'chromium'])
      if (installAptPackage(name) && findChromium()) return;
    console.error('Chromium could not be installed.');
  }
  console.error(
    'The tests of the window are skipped: there is no Chromium. Install it or set CHROMIUM_PATH.',
  );
}
