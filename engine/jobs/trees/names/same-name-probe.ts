/**
 * Whether the file system of a local destination takes two names for one. It is asked about the very two:
 * some take no notice of case, some of Unicode form, some of neither, and each has its own tables.
 *
 * What is there already says it without a write. Otherwise both are tried in Dray's own temporary folder, and
 * the root keeps its time. A dry run, which writes nothing, goes by the names that lie around and by what is
 * usual on the system.
 */
import { lstatSync, mkdirSync, opendirSync, realpathSync, rmdirSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setFolderAt } from '../../../files/disk/set-folder.ts';
import { loadSetMtime, type SetMtime } from '../../../files/disk/set-mtime.ts';
import { areOneName } from '../../../files/scan/case-sensitivity.ts';
import type { AreOne } from '../../../model/name-collisions.ts';
import { TEMPORARY_FOLDER_NAME } from '../../../model/unfinished-name.ts';
import type { LocalSide } from '../sides.ts';

/** What a file system takes no notice of. */
export interface Folding {
  case(): boolean;
  form(): boolean;
  /** More than letters of one length, as in `Maße` and `MASSE`, or case and form at once. */
  all(): boolean;
}

const HFS_PLUS = 0x482b;
/** Linux, `statfs`: vfat, exfat, ntfs, ntfs3, fuseblk (NTFS as well), cifs, smb2, hfs+. */
const FOLDING_TYPES: ReadonlySet<number> = new Set([
  0x4d44,
  0x2011bab0,
  0x5346544e,
  0x7366746e,
  0x65735546,
  0xff534d42,
  0xfe534d42,
  HFS_PLUS,
]);
/** Those of them that tell case apart unless they are mounted otherwise: ntfs, ntfs3, FUSE. */
const MOSTLY_TELL_CASE: ReadonlySet<number> = new Set([0x5346544e, 0x7366746e, 0x65735546]);

/** Undefined where it is plain from the outset that any two names are two. */
export async function askFileSystem(
  { pathOf, root }: LocalSide,
  { mayWrite }: { readonly mayWrite: boolean },
): Promise<AreOne | undefined> {
  const isLinux = process.platform === 'linux';
  const type = isLinux ? typeOf(root) : undefined;
  if (isLinux && !FOLDING_TYPES.has(type!)) return undefined;
  const foldsForm = process.platform === 'darwin' || type === HFS_PLUS;
  const foldsCase = caseFoldingSeen(root);
  // On Windows each folder has a setting of its own.
  if (isLinux && foldsCase === false && !foldsForm) return undefined;
  const ask = mayWrite ? probe(root, await loadSetMtime()) : undefined;
  const folding = ask
    ? foldingOf(ask)
    : usualFolding(foldsCase ?? !(isLinux && MOSTLY_TELL_CASE.has(type!)), foldsForm);
  const placeOf = (path: string) => join(root, pathOf(path.replace(/\/$/, '')));
  return (path, other) => {
    const seen = areOneInPlace(placeOf(path), placeOf(other));
    if (seen !== undefined) return seen;
    const names = [basename(path), basename(other)] as const;
    return mayBeOne(folding, ...names) && (ask?.(...names) ?? true);
  };
}

/** Whether a file system that folds so may take the two for one; the tables of some have less in them. */
export function mayBeOne(folding: Folding, one: string, other: string): boolean {
  if (one === other) return true;
  if (one.normalize('NFC') === other.normalize('NFC')) return folding.form();
  if (!folding.case()) return false;
  return upperCase(one) === upperCase(other) || folding.all();
}

/** Letter by letter, as NTFS does: none becomes two. */
function upperCase(name: string): string {
  return [...name].map((letter) => sameLength(letter, letter.toUpperCase())).join('');
}

function sameLength(letter: string, other: string): string {
  return other.length === letter.length ? other : letter;
}

/** @returns undefined when what lies there does not tell. */
export function areOneInPlace(path: string, other: string): boolean | undefined {
  try {
    const first = look(other);
    const one = look(path);
    // Nothing lay there: a second look would find what a thread has written since, and tell nothing.
    if (!first && !one) return undefined;
    // It may just have been written or replaced by one of the threads.
    const two = first && one && first.ino === one.ino ? first : look(other);
    if (!one || !two) return false;
    if (one.ino === 0n) return undefined;
    // FUSE and SMB may give each spelling an inode of its own. On Windows each folder has a setting of its
    // own: what lies in it tells.
    if (one.ino !== two.ino || one.dev !== two.dev) return process.platform === 'win32' ? false : undefined;
    // Two names of a file may be links to it.
    return one.isDirectory() || one.nlink === 1n ? true : undefined;
  } catch {
    return undefined;
  }
}

/**
 * By names that lie in the folder, or above it on the same file system; undefined when none of them tells.
 */
export function caseFoldingSeen(root: string): boolean | undefined {
  for (let at = root; ; at = dirname(at)) {
    const parent = dirname(at);
    for (const name of namesIn(at)) {
      const seen = areOneInPlace(join(at, name), join(at, inOtherCase(name)));
      if (seen !== undefined) return seen;
    }
    if (parent === at || isMount(at, parent)) return undefined;
  }
}

const NAMES_ASKED_MAX = 20;

function namesIn(path: string): readonly string[] {
  const names: string[] = [];
  try {
    const folder = opendirSync(path);
    try {
      for (let left = NAMES_ASKED_MAX; left > 0; left -= 1) {
        const entry = folder.readSync();
        if (!entry) break;
        if (/[a-z]/i.test(entry.name)) names.push(entry.name);
      }
    } finally {
      folder.closeSync();
    }
  } catch {
    // A folder that cannot be read tells nothing.
  }
  return names;
}

/** In ASCII, which all fold that fold anything. */
function inOtherCase(name: string): string {
  return name.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
}

function isMount(folder: string, parent: string): boolean {
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    return stats !== undefined && stats.dev !== statSync(parent).dev;
  } catch {
    return true;
  }
}

function look(path: string) {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Of the folder or the nearest above it that is there. */
function typeOf(root: string): number | undefined {
  for (let at = root; ; at = dirname(at)) {
    try {
      return statfsSync(at).type;
    } catch {
      if (dirname(at) === at) return undefined;
    }
  }
}

/** Found out once, and only when a pair asks for it. */
function foldingOf(ask: AreOne): Folding {
  let foldsCase: boolean | undefined;
  let foldsForm: boolean | undefined;
  return {
    case: () => (foldsCase ??= ask('a', 'A')),
    form: () => (foldsForm ??= ask('\u00e9', 'e\u0301')),
    // Asked pair by pair.
    all: () => true,
  };
}

function usualFolding(foldsCase: boolean, foldsForm: boolean): Folding {
  return { case: () => foldsCase, form: () => foldsForm, all: () => foldsCase && foldsForm };
}

/** Tries two names. What cannot be written there fails by itself. */
export function probe(root: string, setMtime: SetMtime): AreOne {
  const temporaryFolder = join(root, TEMPORARY_FOLDER_NAME);
  return (name, other) => {
    try {
      const { mtimeNs } = statSync(root, { bigint: true });
      try {
        mkdirSync(temporaryFolder, { recursive: true });
        if (lstatSync(temporaryFolder).isSymbolicLink()) return false;
        return areOneName(temporaryFolder, name, other);
      } finally {
        removeIfEmpty(temporaryFolder);
        restoreTime(root, mtimeNs, setMtime);
      }
    } catch {
      return false;
    }
  };
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // What is unfinished lies in it.
  }
}

/** As far as it may be set: who does not own the folder does not give it a time either. */
function restoreTime(root: string, mtimeNs: bigint, setMtime: SetMtime): void {
  try {
    if (statSync(root, { bigint: true }).mtimeNs !== mtimeNs)
      setFolderAt(realpathSync(root), { mtimeNs }, { setMtime, specialModes: false });
  } catch {
    // A folder's time is no reason to fail.
  }
}
