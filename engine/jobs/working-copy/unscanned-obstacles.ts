/**
 * Finds files that the scan leaves out (ignored ones) at paths that a pull would write. They exist only here.
 */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { attemptRead } from '../../files/read/open-file.ts';
import type { Change } from '../../model/diff.ts';
import type { MergeConflict } from '../../model/merge.ts';
import { foldName } from '../../model/name-collisions.ts';
import type { Session } from '../session/open-workspace.ts';
import { isAsKnown, lstatIfThere } from './apply-changes.ts';

/** A conflict for each added path that is occupied, or that lies below something that is not a folder. */
export function findObstacles(session: Session, changes: readonly Change[]): MergeConflict[] {
  const goes = new Set(changes.filter((change) => !change.after).map((change) => change.path));
  const blockers = createBlockers(session.workspace.root);
  const spellings = createSpellings(session.workspace.root, goes);
  const isFree = (path: string) => {
    try {
      const blocker = blockers.above(path);
      if (blocker !== undefined) return goes.has(blocker);
      if (isPlaceFree(session, path, goes)) return true;
      const other = spellings.otherOf(path);
      return other !== undefined && isAsKnown(session, other);
    } catch (error) {
      // A path that cannot be checked cannot be written either: it fails alone later, with the reason.
      if (error instanceof DrayError) return true;
      throw error;
    }
  };
  return changes
    .filter(({ path, after, before }) => after && !before && !isFree(path))
    .map((change) => ({
      path: change.path,
      ours: [{ path: change.path, after: change.after }],
      theirs: [change],
    }));
}

/** Whether the path is free: absent, or a folder whose whole content will be deleted. */
function isPlaceFree(session: Session, path: string, goes: ReadonlySet<string>): boolean {
  if (isAsKnown(session, path)) return true;
  const full = join(session.workspace.root, path);
  if (!lstatSync(full, { throwIfNoEntry: false })?.isDirectory()) return false;
  const pathOf = ({ name, parentPath }: Dirent) =>
    relative(session.workspace.root, join(parentPath, name)).replaceAll(sep, '/');
  return itemsBelow(full).every((item) => item.isDirectory() || goes.has(pathOf(item)));
}

/**
 * For file systems that treat two spellings as one name: a rename in case alone finds the very file that it
 * replaces.
 */
function createSpellings(root: string, goes: ReadonlySet<string>) {
  let goesByFold: ReadonlyMap<string, string> | undefined;
  const listings = new Map<string, ReadonlySet<string>>();
  const isListed = (path: string): boolean => {
    const parent = posix.dirname(path);
    if (parent !== '.' && !isListed(parent)) return false;
    const names = listings.get(parent) ?? namesIn(join(root, parent));
    listings.set(parent, names);
    return names.has(posix.basename(path));
  };
  return {
    /**
     * The path among the deletions that the file system finds at `path` under another spelling. Compares
     * listings, because some file systems make up inodes from the name.
     */
    otherOf: (path: string): string | undefined => {
      goesByFold ??= new Map([...goes].map((gone) => [foldName(gone), gone]));
      const other = goesByFold.get(foldName(path));
      return other === undefined || other === path || isListed(path) ? undefined : other;
    },
  };
}

/** @throws DrayError `io` */
function namesIn(folder: string): ReadonlySet<string> {
  return attemptRead(folder, () => new Set(readdirSync(folder)));
}

/** Node's own recursive listing follows links to folders, out of the workspace. @throws DrayError `io` */
function itemsBelow(folder: string): readonly Dirent[] {
  const items = attemptRead(folder, () => readdirSync(folder, { withFileTypes: true }));
  return items.flatMap((item) =>
    item.isDirectory() ? [item, ...itemsBelow(join(folder, item.name))] : [item],
  );
}

/** Checks each folder once. A link to a folder is not a folder: its target is outside the workspace. */
function createBlockers(root: string) {
  const seen = new Map<string, string | undefined>();
  const absent = new Set<string>();
  const at = (folder: string): string | undefined => {
    if (folder === '.') return undefined;
    if (seen.has(folder)) return seen.get(folder);
    const parent = posix.dirname(folder);
    let blocker = at(parent);
    if (blocker === undefined && !absent.has(parent)) {
      const stat = lstatIfThere(root, folder);
      if (stat && !stat.isDirectory()) blocker = folder;
      if (!stat) absent.add(folder);
    } else if (absent.has(parent)) absent.add(folder);
    seen.set(folder, blocker);
    return blocker;
  };
  return {
    /** The topmost part of the path that is no folder. All of an empty folder's path is meant. */
    above: (path: string): string | undefined =>
      at(path.endsWith('/') ? path.slice(0, -1) : posix.dirname(path)),
  };
}
