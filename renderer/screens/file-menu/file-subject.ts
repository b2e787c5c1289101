/** The facts about a file or folder from which its context menu is made. Pure. */
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import type { WorkspaceCard } from '../../../engine/api/host/home.ts';
import { trimEnd } from '../../../engine/api/text/trim-ends.ts';
import { addressOf, isFixed, type Location, placeOf } from '../browse/places.ts';

export interface FileSubject {
  /** The shown name. A folder's name ends in a slash. */
  readonly name: string;
  /** The path on this computer, if the file exists there. */
  readonly local?: string;
  /** The path within its workspace. */
  readonly inWorkspace?: InWorkspace;
  /** The path in the history. `from`: the version to start from. */
  readonly versions?: InWorkspace & { readonly from?: string };
  /** True if no commit has the file. */
  readonly isNew?: boolean;
  readonly canIgnore?: boolean;
  /** The local change, which can be discarded. */
  readonly change?: ChangeRow;
  /** Whether it has a local change is not known before it is discarded. */
  readonly mayDiffer?: boolean;
  readonly url?: string;
  /** The key in its bucket. */
  readonly objectKey?: string;
}

interface InWorkspace {
  readonly root: string;
  /** The path of a folder ends in a slash. */
  readonly path: string;
}

/** The subject of a changed row. The files of a pull are not on this computer yet. */
export function subjectOfChange(root: string, row: ChangeRow, isPush: boolean): FileSubject {
  const { below, change, fromPath, kind } = row;
  const isFolder = kind === 'folder' || below !== undefined;
  const path = isFolder ? `${trimEnd(row.path, '/')}/` : row.path;
  const isGone = change === 'deleted' && below === undefined;
  return {
    name: path,
    inWorkspace: { root, path },
    versions: { root, path: fromPath ?? path },
    isNew: change === 'added' && below === undefined,
    ...(isPush && !isGone ? { local: joinLocal(root, path), canIgnore: true } : {}),
    ...(isPush && change !== 'conflict' ? { change: row } : {}),
  };
}

/** The subject of an entry of a commit. */
export function subjectOfVersion(root: string, path: string, from: string): FileSubject {
  return { name: path, inWorkspace: { root, path }, versions: { root, path, from } };
}

/** The subject of an entry in Browse. */
export function subjectOfEntry(
  location: Location,
  entry: string,
  workspaces: readonly WorkspaceCard[],
): FileSubject {
  if (location.root.kind !== 'local') {
    const url = addressOf(location, entry);
    const key = isFixed(location) ? undefined : keyOf(url);
    return { name: entry, url, ...(key === undefined ? {} : { objectKey: key }) };
  }
  const local = placeOf(location, entry);
  const inside = insideOf(local, workspaces);
  if (!inside) return { name: entry, local };
  return { name: entry, local, inWorkspace: inside, versions: inside, canIgnore: true, mayDiffer: true };
}

/** The innermost workspace that contains the path. Undefined for Dray's own files below `.dray`. */
function insideOf(local: string, workspaces: readonly WorkspaceCard[]): InWorkspace | undefined {
  const found = workspaces
    .map(({ root }) => ({ root, folder: `${trimEnd(slashed(root), '/')}/` }))
    .filter(({ folder }) => local.startsWith(folder) && local !== folder)
    .toSorted((a, b) => b.folder.length - a.folder.length)[0];
  if (!found) return undefined;
  const path = local.slice(found.folder.length);
  return path === '.dray/' || path.startsWith('.dray/') ? undefined : { root: found.root, path };
}

/** A backslash separates names only in the path of a Windows drive. */
function slashed(path: string): string {
  return /^[A-Za-z]:/.test(path) ? path.replaceAll('\\', '/') : path;
}

function joinLocal(root: string, path: string): string {
  return `${trimEnd(slashed(root), '/')}/${path}`;
}

/** The decoded key of an S3 URL. */
function keyOf(url: string): string | undefined {
  const path = /^s3:\/\/[^/?]+\/([^?]*)/.exec(url)?.[1];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
