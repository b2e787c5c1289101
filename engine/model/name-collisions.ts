/**
 * Names that are two in a commit and one on a file system that does not tell case or Unicode form apart (APFS, NTFS,
 * ext4 with casefold): there, writing one would overwrite the other.
 *
 * Whole paths that collide differ first in two names of one folder, so it is enough to compare siblings: `A/x` and
 * `a/y` are found as `A/` and `a/`.
 */

export interface NameCollision {
  /** Of a file, a link or (with `/` at its end) a folder. */
  readonly path: string;
  /** The first path met that it collides with. */
  readonly other: string;
}

export interface CollisionFinder {
  /** @param path In strictly ascending order (`comparePaths`) from call to call. @returns what this path adds; mostly nothing. */
  add(path: string): readonly NameCollision[];
}

/** Whether two paths that differ in their last name alone, in its case or form, are one. With `/` at the end of a folder's. */
export type AreOne = (path: string, other: string) => boolean;

interface Folder {
  /** '' or ending in `/`. */
  readonly path: string;
  /** Names that equal their folded form, in the order met; most names of most datasets. */
  readonly plain: string[];
  /** Made from `plain` only when a name asks for it, and up to date until `plainKnown`. */
  plainSet: Set<string> | undefined;
  plainKnown: number;
  /** Folded form to the first other name that has it, or to all that are not one; made when needed. */
  folded: Map<string, string | readonly string[]> | undefined;
}

const NOT_PLAIN = /[A-Z\u0080-\uffff]/;
const NOT_ASCII = /[\u0080-\uffff]/;
const NONE: readonly NameCollision[] = [];
const NO_NAMES: readonly string[] = [];
const ALWAYS: AreOne = () => true;

/** @param paths In ascending order (`comparePaths`). */
export function* findNameCollisions(paths: Iterable<string>): Generator<NameCollision> {
  const finder = collisionFinder();
  for (const path of paths) yield* finder.add(path);
}

/**
 * For callers that have paths in batches. Memory: the names of the folders on the way to the last path.
 * @param areOne For a file system that can be asked: it may take no notice of case alone, or of form alone.
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
 * The form in which two names meet: full case folding (as APFS and ext4 do; so `Maße` meets `MASSE`) of the composed
 * form. Upper case and back again is that folding but for the dotless i, which it takes for an i: at worst, one
 * warning too many.
 */
export function foldName(name: string): string {
  if (!NOT_PLAIN.test(name)) return name;
  if (!NOT_ASCII.test(name)) return name.toLowerCase();
  return name.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

function folderAt(path: string): Folder {
  return { path, plain: [], plainSet: undefined, plainKnown: 0, folded: undefined };
}

/** @returns the name met before that this one collides with, with `/` if it is a folder's. */
function addName(folder: Folder, name: string, isFolder: boolean, areOne: AreOne): string | undefined {
  const told = isFolder ? `${name}/` : name;
  const isOne = (other: string) => areOne(folder.path + told, folder.path + other);
  if (!NOT_PLAIN.test(name)) {
    folder.plain.push(told);
    return folder.folded && namesAt(folder.folded, name).find(isOne);
  }
  const key = foldName(name);
  folder.folded ??= new Map();
  const met = namesAt(folder.folded, key);
  const found = met.find(isOne);
  if (found !== undefined) return found;
  const plain = NOT_ASCII.test(name) ? plainNameMet(folder, key) : undefined;
  if (plain !== undefined && isOne(plain)) return plain;
  folder.folded.set(key, met.length === 0 ? told : [...met, told]);
  return undefined;
}

function namesAt(folded: Map<string, string | readonly string[]>, key: string): readonly string[] {
  const names = folded.get(key);
  return names === undefined ? NO_NAMES : typeof names === 'string' ? [names] : names;
}

/**
 * Whether a plain name was met that a later name folds to. An ASCII name never asks: with its capitals it sorts
 * before every plain name that it can collide with.
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
