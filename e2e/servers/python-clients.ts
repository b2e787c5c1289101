/** A Python with the S3 clients of data programs, in versions that work together, outside the repository. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeOnce } from './tools.ts';

const PACKAGES = [
  'aiobotocore==3.10.0',
  'boto3==1.43.117',
  'botocore==1.43.117',
  's3fs==2026.9.0',
  'pandas==3.1.1',
  'pyarrow==26.0.1',
  // DuckDB's extension for S3, which it would otherwise load from a server of its own.
  'duckdb==1.5.5',
  'duckdb-extension-httpfs==1.5.5',
];
const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** @returns The path of the Python, or why it cannot be had. */
export async function findPythonClients(): Promise<
  { readonly python: string } | { readonly missing: string }
> {
  const folder = join(homedir(), '.cache', 'dray-tools', `python-${PACKAGES.join('+')}`);
  const bin = process.platform === 'win32' ? 'Scripts' : 'bin';
  // Its last file: a killed installation is made again.
  const done = join(folder, 'installed');
  try {
    await makeOnce(done, `${folder}.lock`, async () => {
      const run = promisify(execFile);
      await rm(folder, { recursive: true, force: true });
      await run('python3', ['-m', 'venv', folder]);
      const install = ['-m', 'pip', 'install', '--quiet', ...PACKAGES];
      await run(join(folder, bin, 'python3'), install, { timeout: INSTALL_TIMEOUT_MS });
      await writeFile(done, '');
    });
    return { python: join(folder, bin, 'python3') };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return { missing: `pip did not install ${PACKAGES.join(' ')}: ${reason}` };
  }
}
