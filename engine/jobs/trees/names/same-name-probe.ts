/**
 * Whether a local destination's file system treats two names as one. It is tested with these very names: file
 * systems ignore case, Unicode form, both or neither, and each has its own tables.
 *
 * An existing file answers without a write. Otherwise both names are tried in Dray's own temporary folder,
 * and the root keeps its time. A dry run writes nothing; it relies on existing names and on what is usual on
 * the system.
 */
import { lstatSync, mkdirSync, opendirSync, realpathSync, rmdirSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setFolderAt } from '../../../files/disk/set-folder.ts';
import { loadSetMtime, type SetMtime } from '../../../files/disk/set-mtime.ts';
import { areOneName } from '../../../files/scan/case-sensitivity.ts';
import type { AreOne } from '../../../model/name-collisions.ts';
import { TEMPORARY_FOLDER_NAME } from '../../../model/unfinished-name.ts';
import type { LocalSide } from '../sides.ts';

/** The differences in names that a file system ignores. */
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
/** The file systems among them that distinguish case by default: ntfs, ntfs3, FUSE. */
const MOSTLY_TELL_CASE: ReadonlySet<number> = new Set([0x5346544e, 0x7366746e, 0x65735546]);

/** Undefined when all names are known to differ. */
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

/** Whether such a file system may treat the two as one; some have smaller tables. */
export function mayBeOne(folding: Folding, one: string, other: string): boolean {
  if (one === other) return true;
  if (one.normalize('NFC') === other.normalize('NFC')) return folding.form();
  if (!folding.case()) return false;
  return upperCase(one) === upperCase(other) || folding.all();
}

/** Letter by letter, as NTFS does: no letter becomes two. */
function upperCase(name: string): string {
  return [...name].map((letter) => sameLength(letter, letter.toUpperCase())).join('');
}

function sameLength(letter: string, other: string): string {
  return other.length === letter.length ? other : letter;
}

/** @returns Undefined when the existing files do not answer it. */
export function areOneInPlace(path: string, other: string): boolean | undefined {
  try {
    const first = look(other);
    const one = look(path);
    // Nothing existed. A second check could find a file that a thread wrote since, which proves nothing.
    if (!first && !one) return undefined;
    // One of the threads may just have written or replaced it.
    const two = first && one && first.ino === one.ino ? first : look(other);
    if (!one || !two) return false;
    if (one.ino === 0n) return undefined;
    // FUSE and SMB may give each spelling an inode of its own. On Windows each folder has its own setting,
    // which its files show.
    if (one.ino !== two.ino || one.dev !== two.dev) return process.platform === 'win32' ? false : undefined;
    // Two names of a file may be links to it.
    return one.isDirectory() || one.nlink === 1n ? true : undefined;
  } catch {
    return undefined;
  }
}

/** By the names in the folder, or above it on the same file system; undefined when none of them shows it. */
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
    // A folder that cannot be read shows nothing.
  }
  return names;
}

/** ASCII letters change case on every file system that ignores case. */
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

/** The type at the folder, or at the nearest one above that exists. */
function typeOf(root: string): number | undefined {
  for (let at = root; ; at = dirname(at)) {
    try {
      return statfsSync(at).type;
    } catch {
      if (dirname(at) === at) return undefined;
    }
  }
}

/** Found out once, and only on demand. */
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

/** Tries two names. Names that cannot be written there will fail by themselves. */
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
    // Another run's unfinished files are in it.
  }
}

/** If permitted: only the owner of a folder may set its time. */
function restoreTime(root: string, mtimeNs: bigint, setMtime: SetMtime): void {
  try {
    if (statSync(root, { bigint: true }).mtimeNs !== mtimeNs)
      setFolderAt(realpathSync(root), { mtimeNs }, { setMtime, specialModes: false });
  } catch {
    // A folder's time is not worth a failure.
  }
}
