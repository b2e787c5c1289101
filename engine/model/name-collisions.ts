/**
 * Finds names that differ in a commit but are one name on a file system that ignores case or Unicode form
 * (APFS, NTFS, ext4 with casefold). Writing one there would overwrite the other.
 *
 * Whole paths that collide first differ in two names of one folder, so it is enough to compare siblings:
 * `A/x` and `a/y` are found as `A/` and `a/`.
 */

export interface NameCollision {
  /** The path of a file, a link or (with `/` at its end) a folder. */
  readonly path: string;
  /** The first earlier path that it collides with. */
  readonly other: string;
}

export interface CollisionFinder {
  /**
   * @param path In strictly ascending order (`comparePaths`) from call to call. @returns the collisions that
   * this path adds; mostly none.
   */
  add(path: string): readonly NameCollision[];
}

/**
 * Whether two paths whose last names differ only in case or Unicode form are the same file. A folder's path
 * ends in `/`.
 */
export type AreOne = (path: string, other: string) => boolean;

interface Folder {
  /** '' or ending in `/`. */
  readonly path: string;
  /** Names that equal their folded form, in order of appearance; in most datasets most names do. */
  readonly plain: string[];
  /** Built from `plain` only when needed, and current up to `plainKnown`. */
  plainSet: Set<string> | undefined;
  plainKnown: number;
  /**
   * Folded form to the first other name with it, or to all names with it that are distinct files; created on
   * demand.
   */
  folded: Map<string, string | readonly string[]> | undefined;
}

const NOT_PLAIN = /[A-Z\u0080-\uffff]/;
const NOT_ASCII = /[\u0080-\uffff]/;
const NONE: readonly NameCollision[] = [];
const NO_NAMES: readonly string[] = [];
const ALWAYS: AreOne = () => true;

/**
 * Memory: the names of the folders above the last path.
 * @param areOne Asks the actual file system, which may ignore only case or only Unicode form.
 */
export function collisionFinder(areOne: AreOne = ALWAYS): CollisionFinder {
  const folders: Folder[] = [folderAt('')];
  return {
    add(path) {
      let folder = folders.at(-1) as Folder;
      while (!path.startsWith(folder.path)) {
        folders.pop();
        folder = folders.at(-1) as Folder;
      }
      let found: NameCollision[] | undefined;
      for (let start = folder.path.length; start < path.length; ) {
        const slash = path.indexOf('/', start);
        const end = slash < 0 ? path.length : slash;
        const other = addName(folder, path.slice(start, end), slash >= 0, areOne);
        if (other !== undefined) {
          found ??= [];
          found.push({ path: path.slice(0, slash < 0 ? end : end + 1), other: folder.path + other });
        }
        start = end + 1;
        if (slash >= 0) {
          folder = folderAt(path.slice(0, start));
          folders.push(folder);
        }
      }
      return found ?? NONE;
    },
  };
}

/**
 * The form in which colliding names are equal: full case folding (as APFS and ext4 do, so `Maße` equals
 * `MASSE`) of the composed form. Lower case, upper case and back again is that folding except for the dotless
 * i, which it folds to i: at worst, one warning too many. The first step is for the capital sharp s, which
 * upper case keeps.
 */
export function foldName(name: string): string {
  if (!NOT_PLAIN.test(name)) return name;
  if (!NOT_ASCII.test(name)) return name.toLowerCase();
  return name.normalize('NFD').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

function folderAt(path: string): Folder {
  return { path, plain: [], plainSet: undefined, plainKnown: 0, folded: undefined };
}

/** @returns the earlier name that this one collides with, with `/` if it is a folder's. */
function addName(folder: Folder, name: string, isFolder: boolean, areOne: AreOne): string | undefined {
  const ownName = isFolder ? `${name}/` : name;
  const isOne = (other: string) => areOne(folder.path + ownName, folder.path + other);
  if (!NOT_PLAIN.test(name)) {
    folder.plain.push(ownName);
    return folder.folded && namesAt(folder.folded, name).find(isOne);
  }
  const key = foldName(name);
  folder.folded ??= new Map();
  const met = namesAt(folder.folded, key);
  const found = met.find(isOne);
  if (found !== undefined) return found;
  const plain = NOT_ASCII.test(name) ? plainNameMet(folder, key) : undefined;
  if (plain !== undefined && isOne(plain)) return plain;
  folder.folded.set(key, met.length === 0 ? ownName : [...met, ownName]);
  return undefined;
}

function namesAt(folded: Map<string, string | readonly string[]>, key: string): readonly string[] {
  const names = folded.get(key);
  return names === undefined ? NO_NAMES : typeof names === 'string' ? [names] : names;
}

/**
 * Whether an earlier plain name equals the fold of this one. An ASCII name needs no check: with its capitals
 * it sorts before every plain name that it can collide with.
 */
function plainNameMet(folder: Folder, key: string): string | undefined {
  if (NOT_ASCII.test(key)) return undefined;
  folder.plainSet ??= new Set();
  for (; folder.plainKnown < folder.plain.length; folder.plainKnown += 1) {
    folder.plainSet.add(folder.plain[folder.plainKnown] as string);
  }
  if (folder.plainSet.has(key)) return key;
  return folder.plainSet.has(`${key}/`) ? `${key}/` : undefined;
}
