/** What the menu of a row needs to know of its file or folder. Pure. */
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import type { WorkspaceCard } from '../../../engine/api/host/home.ts';
import { trimEnd } from '../../../engine/api/trim-ends.ts';
import { addressOf, type Location, placeOf } from '../browse/places.ts';

export interface FileSubject {
  /** As it is shown. A folder's ends in a slash. */
  readonly name: string;
  /** The path on this computer, if it is there. */
  readonly local?: string;
  /** The path within its workspace. */
  readonly inWorkspace?: InWorkspace;
  /** Where older versions are looked for. */
  readonly versions?: InWorkspace & { readonly from?: string };
  /** No commit has it, so it has no versions. */
  readonly isNew?: boolean;
  readonly canIgnore?: boolean;
  /** The local change, which can be discarded. */
  readonly change?: ChangeRow;
  /** Whether it has a local change is not known before it is discarded. */
  readonly mayDiffer?: boolean;
  readonly url?: string;
  /** In its bucket. */
  readonly objectKey?: string;
}

interface InWorkspace {
  readonly root: string;
  /** A folder's ends in a slash. */
  readonly path: string;
}

/** Of a list of a push; the rows of a pull are not on this computer yet. */
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

/** Of a commit. */
export function subjectOfVersion(root: string, path: string, from: string): FileSubject {
  return { name: path, inWorkspace: { root, path }, versions: { root, path, from } };
}

/** Of a pane of Browse. */
export function subjectOfEntry(
  location: Location,
  entry: string,
  workspaces: readonly WorkspaceCard[],
): FileSubject {
  if (location.root.kind !== 'local') {
    const url = addressOf(location, entry);
    const key = keyOf(url);
    return { name: entry, url, ...(key === undefined ? {} : { objectKey: key }) };
  }
  const local = placeOf(location, entry);
  const inside = insideOf(local, workspaces);
  if (!inside) return { name: entry, local };
  return { name: entry, local, inWorkspace: inside, versions: inside, canIgnore: true, mayDiffer: true };
}

/** The innermost workspace that has the path; its own files below `.dray` are none of the dataset. */
function insideOf(local: string, workspaces: readonly WorkspaceCard[]): InWorkspace | undefined {
  const found = workspaces
    .map(({ root }) => ({ root, folder: `${trimEnd(slashed(root), '/')}/` }))
    .filter(({ folder }) => local.startsWith(folder) && local !== folder)
    .toSorted((a, b) => b.folder.length - a.folder.length)[0];
  if (!found) return undefined;
  const path = local.slice(found.folder.length);
  return path === '.dray/' || path.startsWith('.dray/') ? undefined : { root: found.root, path };
}

/** A drive's path has backslashes; elsewhere they belong to names. */
function slashed(path: string): string {
  return /^[A-Za-z]:/.test(path) ? path.replaceAll('\\', '/') : path;
}

function joinLocal(root: string, path: string): string {
  return `${trimEnd(slashed(root), '/')}/${path}`;
}

/** The key in its bucket, of an address that is percent-encoded. */
function keyOf(url: string): string | undefined {
  const path = /^s3:\/\/[^/?]+\/([^?]*)/.exec(url)?.[1];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
