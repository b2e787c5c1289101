/** The changes between two states of a dataset, and their names for users. */
import type { ChangeKind } from '../api/events.ts';
import type { Entry, FileEntry } from './entry.ts';

/** One path in two states; at least one of `before` and `after` is set. */
export interface Change {
  readonly path: string;
  readonly before?: Entry | undefined;
  readonly after?: Entry | undefined;
}

/** A file that moved to another path with the same content; its executable bit may differ. */
export interface Rename {
  readonly fromPath: string;
  readonly toPath: string;
  readonly before: FileEntry;
  readonly after: FileEntry;
}

/** Whether two entries of one path are the same to a user. Ignores times and the location of the content. */
export function isSameEntry(before: Entry, after: Entry): boolean {
  return isSameContent(before, after) && isExecutable(before) === isExecutable(after);
}

/** For one path; `detectRenames` finds renames. Undefined when only times changed. */
export function kindOfChange(change: Change): Exclude<ChangeKind, 'renamed' | 'time'> | undefined {
  const { before, after } = change;
  if (!before || !after) {
    if (after) return 'added';
    return before ? 'deleted' : undefined;
  }
  if (!isSameContent(before, after)) return 'modified';
  return isExecutable(before) === isExecutable(after) ? undefined : 'mode';
}

/** With more deletions or additions than this, renames are not detected, to bound memory. */
export const RENAMES_MAX = 100_000;

export interface DetectedRenames {
  /** By `toPath`, in order. */
  readonly renames: readonly Rename[];
  /** The changes that are not part of a rename, in order. */
  readonly others: readonly Change[];
}

/**
 * Pairs each added file with a deleted one of the same content. Among several deleted files of that content,
 * the one with the same name (in another folder) is preferred, then the first in order; each is paired once.
 * Empty files are never paired.
 *
 * @param changes In order of path, at most one for each. The result depends on nothing else.
 */
export function detectRenames(changes: readonly Change[]): DetectedRenames {
  const gone: FileEntry[] = [];
  const added: FileEntry[] = [];
  for (const { before, after } of changes) {
    if (!after && isPairable(before)) gone.push(before);
    if (!before && isPairable(after)) added.push(after);
  }
  if (gone.length === 0 || added.length === 0 || gone.length > RENAMES_MAX || added.length > RENAMES_MAX) {
    return { renames: [], others: changes };
  }
  const fromByPath = pairAlike(added, gone);
  const renames: Rename[] = [];
  for (const after of added) {
    const before = fromByPath.get(after.path);
    if (before) renames.push({ fromPath: before.path, toPath: after.path, before, after });
  }
  const paired = new Set(renames.flatMap((rename) => [rename.fromPath, rename.toPath]));
  return { renames, others: changes.filter((change) => !paired.has(change.path)) };
}

/** Two passes, so that a file that kept its name is not paired with one that did not. */
function pairAlike(added: readonly FileEntry[], gone: readonly FileEntry[]): Map<string, FileEntry> {
  const fromByPath = new Map<string, FileEntry>();
  const taken = new Set<string>();
  const pair = (keyOf: (entry: FileEntry) => string) => {
    const queues = new Map<string, FileEntry[]>();
    // Reversed, so that the first in order is at the end, where `pop` is cheap.
    for (const entry of gone.toReversed()) {
      if (taken.has(entry.path)) continue;
      const key = keyOf(entry);
      const queue = queues.get(key);
      if (queue) queue.push(entry);
      else queues.set(key, [entry]);
    }
    for (const entry of added) {
      if (fromByPath.has(entry.path)) continue;
      const from = queues.get(keyOf(entry))?.pop();
      if (!from) continue;
      fromByPath.set(entry.path, from);
      taken.add(from.path);
    }
  };
  pair((entry) => entry.blob + entry.path.slice(entry.path.lastIndexOf('/') + 1));
  pair((entry) => entry.blob);
  return fromByPath;
}

function isPairable(entry: Entry | undefined): entry is FileEntry {
  return entry?.kind === 'file' && entry.sizeBytes > 0;
}

function isSameContent(before: Entry, after: Entry): boolean {
  if (before.kind === 'file') return after.kind === 'file' && before.blob === after.blob;
  if (before.kind === 'link') return after.kind === 'link' && before.target === after.target;
  return after.kind === 'folder';
}

function isExecutable(entry: Entry): boolean {
  return entry.kind === 'file' && entry.executable;
}
