/** The real DVC, of pinned versions from PyPI, each in a virtual environment outside the repository. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The last 2.x, and a 3.x. Later versions of the other packages break them. */
const PACKAGES = {
  2: ['dvc[s3]==2.58.2', 'pathspec==0.12.1', 'dulwich==0.22.8', 'boto3==1.43.117'],
  3: ['dvc[s3]==3.59.1', 'pathspec==0.12.1'],
} as const;

export type DvcMajor = keyof typeof PACKAGES;

function folderOf(major: DvcMajor): string {
  const parent = process.env.DRAY_TOOLS || join(homedir(), '.cache', 'dray-tools');
  return join(parent, `${PACKAGES[major][0].replace(/[^a-z0-9.]+/g, '-')}`);
}

export function isDvcInstalled(major: DvcMajor): boolean {
  return existsSync(join(folderOf(major), 'installed'));
}

/** The path of the command. Installs it first if it is missing. */
export async function dvcPath(major: DvcMajor): Promise<string> {
  const folder = folderOf(major);
  const command = join(folder, 'bin', 'dvc');
  if (isDvcInstalled(major)) return command;
  // The paths inside of an environment are absolute, so it is made in its place.
  await rm(folder, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin', 'pip'), ['install', '--quiet', ...PACKAGES[major]], { maxBuffer: 2 ** 26 });
  await writeFile(join(folder, 'installed'), '');
  return command;
}
