/** The browser of the window's tests: where it is missing and can be had (root, on a system with apt-get), it is installed. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findChromium } from '../e2e/window/find-chromium.ts';

const TIMEOUT_MS = 10 * 60_000;

/** @returns Whether there is one now; when not, why was said. */
export function ensureChromium(): boolean {
  if (findChromium()) return true;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log('Installing Chromium (apt-get install chromium)...');
    const isDone =
      runQuietly('apt-get', ['update']) &&
      runQuietly('apt-get', ['install', '--yes', '--no-install-recommends', 'chromium']);
    if (isDone && findChromium()) return true;
    console.error('Chromium could not be installed.');
  }
  console.error(
    'The tests of the window will not run: there is no Chromium. Install it, or name it by CHROMIUM_PATH.',
  );
  return false;
}

function runQuietly(command: string, parameters: readonly string[]): boolean {
  const { status } = spawnSync(command, parameters, {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: TIMEOUT_MS,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return status === 0;
}
