/**
 * Which paths of a commit may be written into a workspace. A commit comes from a remote, so none of its paths
 * is trusted.
 */
import { TEMPORARY_FOLDER_NAME } from './unfinished-name.ts';

export interface PathCheckOptions {
  /** With it, the path must end in `/` for a folder and must not for anything else. */
  readonly kind?: 'file' | 'link' | 'folder';
  /** The platform that the path will be written on. Default: this one. */
  readonly platform?: string;
}

/** Linux's PATH_MAX, in bytes of UTF-8. */
const PATH_BYTES_MAX = 4096;

const LETTERS_OF_PLAIN_PATHS = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;

/** Device names of Windows, with any extension (Microsoft, "Naming Files, Paths, and Namespaces"). */
const WINDOWS_DEVICE =
  /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$) *(?:\.|$)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Windows forbids them in names.
const WINDOWS_FORBIDDEN = /[<>:"|?*\\\u0001-\u001f]/;
/** The short (8.3) name by which Windows also opens `.dray`. */
const WINDOWS_SHORT_NAME = /^dray~[0-9]+$/i;
/** Code points that HFS+ ignores when it compares names (as in git's fix for CVE-2014-9390). */
const UNSEEN_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Why a path of a commit must not be written, as the end of a sentence (`it is absolute`); undefined when it
 * may. Lexical only: the writer checks whether a folder on the way is a link.
 */
export function checkEntryPath(path: string, options: PathCheckOptions = {}): string | undefined {
  const { kind, platform = process.platform } = options;
  // The fast path for nearly every path of a real dataset.
  if (platform !== 'win32' && kind !== 'folder' && path.length <= 1024 && LETTERS_OF_PLAIN_PATHS.test(path)) {
    return undefined;
  }
  const ofWhole = checkWhole(path);
  if (ofWhole) return ofWhole;
  const isFolder = path.endsWith('/');
  if (kind === 'folder' && !isFolder) return 'it is a folder without a slash at its end';
  if (kind !== undefined && kind !== 'folder' && isFolder) return `it is a ${kind} with a slash at its end`;
  const parts = (isFolder ? path.slice(0, -1) : path).split('/');
  for (const part of parts) {
    const reason = checkPart(part) ?? (platform === 'win32' ? checkWindowsPart(part) : undefined);
    if (reason) return reason;
    if (isReservedName(part, platform)) return 'it lies in the place of a workspace folder';
  }
  return undefined;
}

function checkWhole(path: string): string | undefined {
  if (path === '') return 'it is empty';
  if (path.startsWith('/')) return 'it is absolute';
  if (path.includes('\0')) return 'it contains a NUL character';
  if (!path.isWellFormed()) return 'it is not Unicode';
  if (path.length * 3 > PATH_BYTES_MAX && Buffer.byteLength(path) > PATH_BYTES_MAX) {
    return `it is longer than ${PATH_BYTES_MAX} bytes`;
  }
  return undefined;
}

function checkPart(part: string): string | undefined {
  if (part === '') return 'it has an empty part';
  if (part === '.' || part === '..') return `it has the part "${part}"`;
  return undefined;
}

function checkWindowsPart(part: string): string | undefined {
  if (WINDOWS_FORBIDDEN.test(part)) return 'it contains a character that Windows forbids in names';
  if (WINDOWS_DEVICE.test(part)) return 'it names a device of Windows';
  if (part.endsWith('.') || part.endsWith(' ')) return 'it has a part that ends in a dot or a space';
  return undefined;
}

/**
 * Whether a name stands for `.dray` somewhere. It is checked in any case and on every system, so that every
 * machine can pull what another pushed. It is checked at any depth, because a committed `a/.dray` would
 * provide the settings for whoever works in `a`.
 */
export function isReservedName(part: string, platform: string = process.platform): boolean {
  const name = part.replace(UNSEEN_BY_HFS, '').toLowerCase();
  return name === '.dray' || (platform === 'win32' && WINDOWS_SHORT_NAME.test(name));
}

/** The short name by which FAT and NTFS, on any system, also open `.dray-tmp`. */
const TEMPORARY_SHORT_NAME = /^dray-t~[0-9]+$/;

/**
 * Whether a name stands for one of Dray's own folders, `.dray` or `.dray-tmp`. No path and no key may lead
 * there.
 */
export function isOwnFolderName(part: string): boolean {
  if (isReservedName(part)) return true;
  const name = part.replace(UNSEEN_BY_HFS, '').toLowerCase();
  return name === TEMPORARY_FOLDER_NAME || TEMPORARY_SHORT_NAME.test(name);
}
