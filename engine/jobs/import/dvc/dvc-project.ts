/** What DVC tracks in one state of a project: a revision of git, or a folder as it is. */
import { isUtf8 } from 'node:buffer';
import { hash as hashOf } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { DrayError } from '../../../api/error.ts';
import { type DvcConfig, parseDvcConfig } from './dvc-config.ts';
import { type DvcOutput, readDvcFile, readDvcLock } from './dvc-outputs.ts';
import type { GitFile, GitRepository } from './git-repository.ts';

/** The files of one state, as far as DVC's own files are concerned. */
export interface DvcTree {
  /** Paths of DVC's files, each with something that stands for its content. */
  readonly files: ReadonlyMap<string, string>;
  /** Those that are symbolic links, which are not followed. */
  readonly links: ReadonlySet<string>;
  isTracked(path: string): boolean;
  /** Stands for what `isTracked` answers. */
  readonly tracked: string;
  read(path: string): Promise<string>;
}

const CONFIG = '.dvc/config';

export async function readGitTree(git: GitRepository, commit: string): Promise<DvcTree> {
  const all = await git.files(commit);
  const blobs = new Map(all.map(({ blob, path }: GitFile) => [path, blob]));
  const files = new Map([...blobs].filter(([path]) => isOfDvc(path)));
  return {
    files: ofThisProject(files),
    links: new Set(all.flatMap(({ isLink, path }) => (isLink && isOfDvc(path) ? [path] : []))),
    isTracked: (path) => blobs.has(path),
    tracked: hashOf('sha256', [...blobs.keys()].join('\0')),
    read: async (path) => textOf(path, await git.read(files.get(path)!)),
  };
}

/** A folder without git, where everything that DVC's files name is data. */
export function readFolderTree(root: string): DvcTree {
  const files = new Map<string, string>();
  const links = new Set<string>();
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const item of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, item.name);
      if (item.isDirectory() && item.name !== '.git' && path !== '.dvc') folders.push(path);
      else if ((item.isFile() || item.isSymbolicLink()) && isOfDvc(path)) files.set(path, path);
      if (item.isSymbolicLink()) links.add(path);
    }
  }
  return {
    files: ofThisProject(files),
    links,
    isTracked: () => false,
    tracked: '',
    read: async (path) => textOf(path, readFileSync(join(root, path))),
  };
}

/** @throws `damaged` */
function textOf(path: string, bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new DrayError('damaged', `${path} is not UTF-8.`, { data: { path } });
}

/** The settings of the project as it is now, or those of a revision if there is no working tree. */
export async function readConfigOf(root: string, tree: DvcTree | undefined): Promise<DvcConfig> {
  const texts = ['config', 'config.local'].map((name) => readIfThere(join(root, '.dvc', name)));
  if (texts[0] === undefined && tree?.files.has(CONFIG)) texts[0] = await tree.read(CONFIG);
  if (texts[0] !== undefined) return parseDvcConfig(...texts.filter((text) => text !== undefined));
  throw noProject(root);
}

export function noProject(root: string): DrayError {
  return new DrayError('notFound', `${root} is not a project of DVC's: it has no ${CONFIG}.`, {
    data: { path: root },
    advice: 'Name the folder that has the folder .dvc.',
  });
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw new DrayError('io', `${path} cannot be read.`, { data: { path }, cause });
  }
}

/** Equal texts, equal outputs. */
export function treeFingerprint({ files, links, tracked }: DvcTree): string {
  const texts = [...files].filter(([path]) => path !== CONFIG).map((file) => file.join(' '));
  const hasLock = [...files.keys()].some((path) => posix.basename(path) === 'dvc.lock');
  return hashOf('sha256', [...texts.sort(), ...[...links].sort(), hasLock ? tracked : ''].join('\n'));
}

/** Sorted by path. Of two outputs of one path the first counts. A file that cannot be read is a problem. */
export async function readOutputs(tree: DvcTree): Promise<readonly DvcOutput[]> {
  const outputs = new Map<string, DvcOutput>();
  for (const path of [...tree.files.keys()].sort())
    for (const output of await outputsOf(tree, path))
      if (!outputs.has(output.path)) outputs.set(output.path, output);
  // A file *.dvc inside of an output is data.
  const isData = ({ from }: DvcOutput) =>
    ancestorsOf(from).some((folder) => outputs.get(folder)?.md5?.endsWith('.dir'));
  return [...outputs.values()].filter((output) => !isData(output));
}

async function outputsOf(tree: DvcTree, path: string): Promise<readonly DvcOutput[]> {
  const isLock = posix.basename(path) === 'dvc.lock';
  if (!path.endsWith('.dvc') && !isLock) return [];
  if (tree.links.has(path)) return [unreadOutput(path, LINK)];
  // Git and the system have names of any bytes, of which two may look the same here.
  if (path.includes('\ufffd')) return [unreadOutput(path, NOT_UTF8)];
  try {
    return isLock ? await readLock(tree, path) : readDvcFile(path, await tree.read(path));
  } catch (error) {
    if (error instanceof DrayError && error.code === 'damaged') return [unreadOutput(path, error)];
    throw error;
  }
}

const LINK = { code: 'unsupported', message: 'It is a symbolic link, which Dray does not follow.' } as const;
const NOT_UTF8 = { code: 'unsupported', message: 'Its path is not UTF-8.' } as const;

function unreadOutput(path: string, { code, message }: Pick<DrayError, 'code' | 'message'>): DvcOutput {
  const problem = { code, message: code === 'damaged' ? message : `${path}: ${message}` };
  return { path, from: path, hashKind: 'md5', executable: false, problem };
}

async function readLock(tree: DvcTree, path: string): Promise<readonly DvcOutput[]> {
  const yaml = posix.join(posix.dirname(path), 'dvc.yaml');
  // Without it there is no pipeline.
  if (!tree.files.has(yaml)) return [];
  return readDvcLock(path, await tree.read(path), await tree.read(yaml), tree.isTracked);
}

function isOfDvc(path: string): boolean {
  const name = posix.basename(path);
  if (path.startsWith('.dvc/')) return path === CONFIG;
  return (
    (name.endsWith('.dvc') && name !== '.dvc') ||
    name === 'dvc.lock' ||
    name === 'dvc.yaml' ||
    path.endsWith(`/${CONFIG}`)
  );
}

/** Without those of projects inside of this one. */
function ofThisProject(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const inner = new Set(
    [...files.keys()].flatMap((path) => (path.endsWith(`/${CONFIG}`) ? [posix.join(path, '../..')] : [])),
  );
  return new Map([...files].filter(([path]) => !ancestorsOf(path).some((folder) => inner.has(folder))));
}

function ancestorsOf(path: string): readonly string[] {
  const ancestors: string[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    ancestors.push(path.slice(0, at));
  return ancestors;
}
