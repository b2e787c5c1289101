/**
 * Runs a script of this project from a bare clone. Installs the pinned packages when they are missing or
 * differ from the lock file, then runs the script with the pinned Node. Plain JavaScript, for Node 20 and
 * newer.
 *
 *   node .ci/with-install.mjs SCRIPT [ARGUMENT...]
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const binaries = join(root, 'node_modules', '.bin');

/** Compares versions and not times: a checkout touches the lock file without changing a package. */
function isInstalled() {
  const installedLock = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedLock)) return false;
  const installed = JSON.parse(readFileSync(installedLock, 'utf8')).packages;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(wanted).every(([path, item]) => {
    // Optional packages (binaries for other systems) may be missing. The entry without a path is the project
    // itself.
    if (path === '' || ((item.optional || item.peer) && !installed[path])) return true;
    return installed[path]?.version === item.version;
  });
}

function install() {
  // A killed `npm pack` may have left this file, and npm would use it as the lock file.
  rmSync(join(root, 'npm-shrinkwrap.json'), { force: true });
  console.error('Installing the pinned packages (npm ci)...');
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    // npm's own output goes to stderr, so that stdout has only the script's.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  console.error(`npm ci failed${error ? `: ${error.message}` : ` with exit code ${status}`}.`);
  process.exit(1);
}

if (!isInstalled()) install();
const child = spawn(join(binaries, 'node'), process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, PATH: `${binaries}${delimiter}${process.env.PATH ?? ''}` },
  shell: process.platform === 'win32',
});
// The terminal sends Ctrl-C to the child as well; this process only waits for it.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('error', (error) => {
  console.error(`The pinned Node did not start: ${error.message}. Remove node_modules and try again.`);
  process.exit(1);
});
child.on('close', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
