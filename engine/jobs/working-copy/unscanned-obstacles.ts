/** What lies in the workspace where a pull wants to write, unseen by the scan (ignored files): it exists only here. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { writeError } from '../../files/write/write-error.ts';
import type { Change } from '../../model/diff.ts';
import type { MergeConflict } from '../../model/merge.ts';
import { foldName } from '../../model/name-collisions.ts';
import type { Session } from '../session/session.ts';
import { isAsKnown, lstatIfThere } from './apply-changes.ts';

/** A conflict for each added path that something else holds, or that lies below something that is no folder. */
export function findInTheWay(session: Session, changes: readonly Change[]): MergeConflict[] {
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
      // What cannot be looked at cannot be written either: that fails alone then, and says why.
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

/** Nothing is at the path, or a folder of which everything goes away. */
function isPlaceFree(session: Session, path: string, goes: ReadonlySet<string>): boolean {
  if (isAsKnown(session, path)) return true;
  const full = join(session.workspace.root, path);
  if (!lstatSync(full, { throwIfNoEntry: false })?.isDirectory()) return false;
  const pathOf = ({ name, parentPath }: Dirent) =>
    relative(session.workspace.root, join(parentPath, name)).replaceAll(sep, '/');
  return itemsBelow(full).every((item) => item.isDirectory() || goes.has(pathOf(item)));
}

/** Where a file system takes two names for one: a rename in case alone finds there what it is about to take away. */
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
    /** Of what goes away, what is found at the path by another spelling than its own. Inodes may be made up by name, listings are not. */
    otherOf: (path: string): string | undefined => {
      goesByFold ??= new Map([...goes].map((gone) => [foldName(gone), gone]));
      const other = goesByFold.get(foldName(path));
      return other === undefined || other === path || isListed(path) ? undefined : other;
    },
  };
}

/** @throws DrayError `io` */
function namesIn(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder));
  } catch (error) {
    throw writeError(error, folder);
  }
}

/** Node's own recursive listing goes through links to folders, out of the workspace. @throws DrayError `io` */
function itemsBelow(folder: string): readonly Dirent[] {
  let items: Dirent[];
  try {
    items = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw writeError(error, folder);
  }
  return items.flatMap((item) =>
    item.isDirectory() ? [item, ...itemsBelow(join(folder, item.name))] : [item],
  );
}

/** Looks at each folder once. A link to a folder is no folder: what lies behind it is none of the workspace's. */
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
    /** The first part of the way to the path that is there and is no folder. */
    above: (path: string): string | undefined => at(posix.dirname(path)),
  };
}
