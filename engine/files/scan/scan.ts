/**
 * Lists the content of a workspace's folder from the file system, in the manifest's order and with constant
 * memory.
 *
 * Invariant: paths ascend strictly by `comparePaths`. Within one folder, a subfolder sorts as if its name
 * ended in `/`, so a subfolder waits for the siblings that sort between (`a`, `a-b`, `a.txt`, then the
 * content of `a/`).
 */

import { lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { DrayError } from '../../api/error.ts';
import { IGNORE_FILE_NAME } from '../../model/ignore-file-name.ts';
import { isSparse } from '../../model/is-sparse.ts';
import { isReservedName } from '../../model/safe-path.ts';
import { modeBits } from '../../model/special-modes.ts';
import { isUnfinishedBeside, isUnfinishedName, TEMPORARY_FOLDER_NAME } from '../../model/unfinished-name.ts';
import { readFolderNames } from './folder-names.ts';
import { addIgnoreFile, IGNORE_FILE_BYTES_MAX, type IgnoreRules, isIgnored } from './ignore-rules.ts';
import type { TreeReach } from './tree-reach.ts';

export interface ScanOptions {
  /** An absolute path. */
  readonly root: string;
  /** Whether `.drayignore` files apply. */
  readonly ignore: boolean;
  /**
   * A plain tree and not a workspace: `.dray` and everything named `.dray-tmp` are left out at any depth
   * without a report, and a workspace below the root is an ordinary folder.
   */
  readonly isPlain?: boolean;
  /** Whether to enter a folder; its path ends in `/`. A folder that is not entered is not an entry. */
  readonly enter?: (folder: string) => boolean;
  /** Whether to pass over a path, and all below it, without a look. */
  readonly skips?: (path: string) => boolean;
  /** Non-empty folders are entries too, each before its content; the root first, under ''. */
  readonly folders?: boolean;
  /** Names read before a batch is returned. */
  readonly batchSize?: number;
  /**
   * How paths are opened, for trees that others change during the scan: no link that appears is followed.
   * Default: by name.
   */
  readonly reach?: TreeReach;
}

/** May be short or even empty: it ends after `batchSize` names, some of which may be ignored. */
export interface ScanBatch {
  readonly entries: ScannedEntry[];
  readonly problems: ScanProblem[];
  /** Of a plain tree: the folders passed that have a `.dray`, '' or ending in `/`. */
  readonly workspaces: string[];
}

/** Numbers are doubles, exactly as in `lstatSync`; a link has its own. */
export interface ScannedEntry {
  /** Relative, `/` between parts; an empty folder's ends in `/`. */
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder';
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
  /** The owner's executable bit of a file. */
  readonly executable: boolean;
  /** Permission bits, as `chmod` takes them. */
  readonly mode: number;
  /** A file that has further names (hard links). */
  readonly hasOtherNames?: true;
  /** A file with holes worth keeping. */
  readonly isSparse?: true;
  /** The folder is not empty. */
  readonly holds?: true;
}

/** Something that was left out. A path that ends in `/` is a folder, whose content was not read. */
export interface ScanProblem {
  readonly path: string;
  readonly problem: 'unreadable' | 'special' | 'notUtf8' | 'nestedWorkspace' | 'unfinished';
  readonly message: string;
}

interface Folder {
  /** '' for the root, or ending in `/`. */
  readonly path: string;
  /** Sorted by byte order of the names alone. */
  readonly names: readonly string[];
  readonly rules: IgnoreRules | undefined;
  /** Subfolders met but not yet due, the next one last. Each name begins with the previous one. */
  readonly waiting: Subfolder[];
  at: number;
}

interface Subfolder {
  readonly name: string;
  readonly stats: Stats;
}

interface Walk {
  /** Ends in `/`. */
  readonly root: string;
  readonly ignore: boolean;
  readonly isPlain: boolean;
  readonly enter: ((folder: string) => boolean) | undefined;
  readonly skips: ((path: string) => boolean) | undefined;
  readonly folders: boolean;
  readonly reach: TreeReach | undefined;
  entries: ScannedEntry[];
  problems: ScanProblem[];
  workspaces: string[];
  /** An entry right below the root: a file's device is the root's own, a folder may be a mount. */
  seenInRoot: { readonly device: number | undefined } | undefined;
  /** Something had vanished before its turn. */
  hasVanished: boolean;
}

const WORKSPACE_FOLDER_NAME = '.dray';
const DOT = 0x2e;
const SLASH = 0x2f;
const BEYOND_ASCII = 0x80;
const NO_THROW = { throwIfNoEntry: false } as const;

const TYPE_BITS = 0o170000;
const FILE_TYPE = 0o100000;
const FOLDER_TYPE = 0o040000;
const LINK_TYPE = 0o120000;
const OWNER_EXECUTABLE = 0o100;

/**
 * Never follows a link. Leaves out `.dray/` at the root, `.dray-tmp/` anywhere (in a workspace as a silent
 * problem, because an older commit may contain such files), everything that `.drayignore` excludes, and
 * everything with a problem. An item that vanishes between its folder's listing and its own turn is skipped,
 * as if it had vanished before. When the root itself vanishes (removed, unmounted), the scan fails: the rest
 * of the tree vanished with it.
 *
 * A folder is an entry only when it is completely empty, unless `folders` requests all of them; ignored
 * content counts as content.
 *
 * @throws `notFound` when the root is not a folder; `io` when the root or its ignore file cannot be read, or
 * when the root vanishes.
 */
export function* scanWorkspace(options: ScanOptions): Generator<ScanBatch> {
  const { batchSize = 1000 } = options;
  const root = options.root.endsWith('/') ? options.root : `${options.root}/`;
  const { enter, folders = false, ignore, isPlain = false, reach, skips } = options;
  const walk: Walk = {
    ...{ root, ignore, isPlain, enter, folders, reach, skips },
    ...{ entries: [], problems: [], workspaces: [], seenInRoot: undefined, hasVanished: false },
  };
  const above: Folder[] = [];
  const top = openRoot(walk);
  let folder: Folder | undefined = top;
  let looked = 0;
  while (folder) {
    const due = takeDueSubfolder(folder);
    if (due) {
      const opened = openSubfolder(walk, folder, due);
      if (opened) {
        above.push(folder);
        folder = opened;
      }
    } else if (folder.at < folder.names.length) {
      takeName(walk, folder, folder.names[folder.at] as string);
      folder.at += 1;
    } else {
      folder = above.pop();
      continue;
    }
    looked += 1;
    if (looked >= batchSize) {
      yield takeBatch(walk);
      looked = 0;
    }
  }
  if (walk.hasVanished && !isRootThere(walk, top.names)) {
    const message = `The folder ${root} was removed or unmounted while it was read.`;
    throw new DrayError('io', message, { data: { path: root, reason: 'vanished' } });
  }
  if (walk.entries.length + walk.problems.length + walk.workspaces.length > 0) yield takeBatch(walk);
}

function absoluteOf({ reach, root }: Walk, path: string): string {
  return reach === undefined ? root + path : reach.absoluteOf(path);
}

/** After an unmount the folder still exists: empty, or on another device. */
function isRootThere(walk: Walk, names: readonly string[]): boolean {
  const { seenInRoot } = walk;
  const root = absoluteOf(walk, '');
  const stats = lstatSync(root, NO_THROW);
  if (!stats) return false;
  if (!seenInRoot) return true;
  if (seenInRoot.device !== undefined) return stats.dev === seenInRoot.device;
  const left = new Set(readFolderNames(root).names);
  return names.some((name) => left.has(name));
}

function takeBatch(walk: Walk): ScanBatch {
  const { entries, problems, workspaces } = walk;
  const batch = { entries, problems, workspaces };
  walk.entries = [];
  walk.problems = [];
  walk.workspaces = [];
  return batch;
}

/** The subfolder whose content sorts before the folder's next name, if there is one. */
function takeDueSubfolder(folder: Folder): Subfolder | undefined {
  const { waiting, names, at } = folder;
  if (waiting.length === 0) return undefined;
  if (at < names.length) {
    const { name } = waiting[waiting.length - 1] as Subfolder;
    const next = names[at] as string;
    if (next.startsWith(name) && next.charCodeAt(name.length) < SLASH) return undefined;
  }
  return waiting.pop();
}

function takeName(walk: Walk, folder: Folder, name: string): void {
  const path = folder.path + name;
  if (walk.skips?.(path)) return;
  if (isReserved(walk, folder, name)) return;
  if (walk.isPlain && isUnfinishedName(name)) return;
  let stats: Stats | undefined;
  try {
    stats = lstatSync(absoluteOf(walk, path), NO_THROW);
  } catch (cause) {
    if (isGone(cause)) walk.hasVanished = true;
    else if (!isIgnored(folder.rules, path)) reportUnreadable(walk, path, cause);
    return;
  }
  if (!stats) {
    walk.hasVanished = true;
    return;
  }
  const type = stats.mode & TYPE_BITS;
  if (folder.path === '' && walk.seenInRoot?.device === undefined)
    walk.seenInRoot = { device: type === FOLDER_TYPE ? undefined : stats.dev };
  if (folder.rules && isIgnored(folder.rules, type === FOLDER_TYPE ? `${path}/` : path)) return;
  if (name === TEMPORARY_FOLDER_NAME && type === FOLDER_TYPE) {
    const message = `${path}/ contains unfinished files and is skipped.`;
    walk.problems.push({ path: `${path}/`, problem: 'unfinished', message });
    return;
  }
  if (type === FILE_TYPE && isUnfinishedBeside(name)) {
    walk.problems.push({
      path,
      problem: 'unfinished',
      message: `${path} is an unfinished file and is skipped.`,
    });
    return;
  }
  if (type === FILE_TYPE) walk.entries.push(withFileFacts(entryOf(path, 'file', stats), stats));
  else if (type === FOLDER_TYPE) folder.waiting.push({ name, stats });
  else if (type === LINK_TYPE) walk.entries.push(entryOf(path, 'link', stats));
  else {
    walk.problems.push({
      path,
      problem: 'special',
      message: `${path} is a socket, pipe or device, which cannot be stored.`,
    });
  }
}

/** Most files have neither, and then the same form as before. */
function withFileFacts(entry: ScannedEntry, stats: Stats): ScannedEntry {
  const hasOtherNames = stats.nlink > 1;
  const hasHoles = isSparse({ sizeBytes: stats.size, blocks: stats.blocks });
  if (!hasOtherNames && !hasHoles) return entry;
  return {
    ...entry,
    ...(hasOtherNames ? { hasOtherNames } : {}),
    ...(hasHoles ? { isSparse: hasHoles } : {}),
  };
}

function entryOf(path: string, kind: ScannedEntry['kind'], stats: Stats): ScannedEntry {
  return {
    path,
    kind,
    sizeBytes: stats.size,
    mtimeMs: stats.mtimeMs,
    ctimeMs: stats.ctimeMs,
    inode: stats.ino,
    executable: kind === 'file' && (stats.mode & OWNER_EXECUTABLE) !== 0,
    mode: modeBits(stats.mode),
  };
}

/** Names that stand for `.dray`: no commit may contain them. */
function isReserved(walk: Walk, folder: Folder, name: string): boolean {
  const first = name.charCodeAt(0);
  // Most names begin with another character; the characters that a file system ignores are beyond ASCII.
  if ((first !== DOT && first < BEYOND_ASCII) || !isReservedName(name, 'linux')) return false;
  if (walk.isPlain && name === WORKSPACE_FOLDER_NAME) walk.workspaces.push(folder.path);
  if (walk.isPlain || (name === WORKSPACE_FOLDER_NAME && folder.path === '')) return true;
  const path = folder.path + name;
  const message = `${path} is left out: on some systems it would be the folder of a workspace.`;
  if (!isIgnored(folder.rules, path)) walk.problems.push({ path, problem: 'special', message });
  return true;
}

function openRoot(walk: Walk): Folder {
  try {
    const listing = readFolderNames(absoluteOf(walk, ''));
    reportNotUtf8(walk, '', listing.notUtf8);
    const rules = rulesInside(walk, '', listing.names, undefined);
    // The user may have named a link to it.
    if (walk.folders)
      walk.entries.push({ ...entryOf('', 'folder', statSync(absoluteOf(walk, ''))), holds: true });
    return { path: '', names: listing.names, rules, waiting: [], at: 0 };
  } catch (cause) {
    const code = isGone(cause) ? 'notFound' : 'io';
    throw new DrayError(code, `The folder ${walk.root} cannot be scanned: ${messageOf(cause)}.`, { cause });
  }
}

/** Undefined when there is nothing to walk: the folder is empty (and now an entry), gone, or a problem. */
function openSubfolder(walk: Walk, parent: Folder, { name, stats }: Subfolder): Folder | undefined {
  const path = `${parent.path}${name}/`;
  if (walk.enter && !walk.enter(path)) return undefined;
  try {
    const { names, notUtf8 } = readFolderNames(absoluteOf(walk, path));
    if (names.length === 0 && notUtf8.length === 0) {
      walk.entries.push(entryOf(path, 'folder', stats));
      return undefined;
    }
    if (!walk.isPlain && isWorkspace(walk, path, names)) {
      const message = `${path} is a workspace of its own and is not part of this one.`;
      walk.problems.push({ path, problem: 'nestedWorkspace', message });
      return undefined;
    }
    reportNotUtf8(walk, path, notUtf8);
    const rules = rulesInside(walk, path, names, parent.rules);
    if (walk.folders) walk.entries.push({ ...entryOf(path, 'folder', stats), holds: true });
    return { path, names, rules, waiting: [], at: 0 };
  } catch (cause) {
    if (isGone(cause)) walk.hasVanished = true;
    else reportUnreadable(walk, path, cause);
    return undefined;
  }
}

function isWorkspace(walk: Walk, path: string, names: readonly string[]): boolean {
  if (!names.includes(WORKSPACE_FOLDER_NAME)) return false;
  return lstatSync(absoluteOf(walk, path + WORKSPACE_FOLDER_NAME), NO_THROW)?.isDirectory() ?? false;
}

/**
 * @throws when the folder has rules that cannot be read. The folder is then left out completely: without its
 * rules, ignored files would be included.
 */
function rulesInside(
  walk: Walk,
  folder: string,
  names: readonly string[],
  rules: IgnoreRules | undefined,
): IgnoreRules | undefined {
  if (!walk.ignore || !names.includes(IGNORE_FILE_NAME)) return rules;
  const path = absoluteOf(walk, folder + IGNORE_FILE_NAME);
  const stats = lstatSync(path, NO_THROW);
  // Like git, never reads rules through a link, which may lead outside the workspace.
  if (!stats?.isFile()) return rules;
  if (stats.size > IGNORE_FILE_BYTES_MAX) {
    throw new Error(`${folder}${IGNORE_FILE_NAME} is larger than ${IGNORE_FILE_BYTES_MAX} bytes`);
  }
  return addIgnoreFile(rules, folder, readFileSync(path, 'utf8'));
}

function reportNotUtf8(walk: Walk, folder: string, names: readonly string[]): void {
  for (const name of names) {
    const path = folder + name;
    walk.problems.push({ path, problem: 'notUtf8', message: `The name ${path} is not UTF-8; rename it.` });
  }
}

function reportUnreadable(walk: Walk, path: string, cause: unknown): void {
  walk.problems.push({
    path,
    problem: 'unreadable',
    message: `${path} cannot be read: ${messageOf(cause)}.`,
  });
}

function isGone(cause: unknown): boolean {
  const code = (cause as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
