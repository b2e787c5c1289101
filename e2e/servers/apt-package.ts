/**
 * Installs programs of the system that tests or measurements need, where that works without asking anyone.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const TIMEOUT_MS = 10 * 60_000;
const APT_GET = '/usr/bin/apt-get';

let hasLists = false;

/** True for root on a system with apt-get. */
export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && existsSync(APT_GET);
}

/** @returns False where it is not possible or failed; apt-get prints the reason to stderr. */
export function installAptPackage(name: string): boolean {
  if (!canInstallPackages()) return false;
  console.error(`Installing ${name} (apt-get install ${name})...`);
  hasLists ||= runQuietly(['update']);
  return hasLists && runQuietly(['install', '--yes', '--no-install-recommends', name]);
}

/** Returns the answer of `find`. If it finds nothing, installs the package and asks it once more. */
export async function findOrInstall<Found>(
  aptPackage: string,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  return (await find()) ?? (installAptPackage(aptPackage) ? find() : undefined);
}

function runQuietly(parameters: readonly string[]): boolean {
  const { status } = spawnSync(APT_GET, parameters, {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: TIMEOUT_MS,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return status === 0;
}
