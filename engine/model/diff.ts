/** What changed between two states of a dataset, and how it is told to people. */
import type { ChangeKind } from '../api/events.ts';
import { diffSorted } from './diff-sorted.ts';
import type { Entry, FileEntry } from './entry.ts';

/** One path between two states; at least one of `before` and `after` is there. */
export interface Change {
  readonly path: string;
  readonly before?: Entry | undefined;
  readonly after?: Entry | undefined;
}

/** A file that is in another place now, byte for byte; its executable bit may differ. */
export interface Rename {
  readonly fromPath: string;
  readonly toPath: string;
  readonly before: FileEntry;
  readonly after: FileEntry;
}

/** The changes from one state of a dataset to another. */
export function* diffEntries(before: Iterable<Entry>, after: Iterable<Entry>): Generator<Change> {
  for (const { path, left, right } of diffSorted(before, after, isSameEntry)) {
    yield { path, before: left, after: right };
  }
}

/** Whether two entries of one path are the same to a user. Times are not compared, nor where the bytes lie. */
export function isSameEntry(before: Entry, after: Entry): boolean {
  return isSameContent(before, after) && isExecutable(before) === isExecutable(after);
}

/** Of one path; renames are `detectRenames`' to find. Undefined when nothing changed but times. */
export function kindOfChange(change: Change): Exclude<ChangeKind, 'renamed' | 'time'> | undefined {
  const { before, after } = change;
  if (!before || !after) {
    if (after) return 'added';
    return before ? 'deleted' : undefined;
  }
  if (!isSameContent(before, after)) return 'modified';
  return isExecutable(before) === isExecutable(after) ? undefined : 'mode';
}

/** With more deletions or additions than this, renames are not looked for: they are a courtesy and must not cost memory. */
export const RENAMES_MAX = 100_000;

export interface DetectedRenames {
  /** By `toPath`, in order. */
  readonly renames: readonly Rename[];
  /** The changes that are no part of a rename, in their order. */
  readonly others: readonly Change[];
}

/**
 * Pairs each file that was added with one that was deleted and had the same content. Where several of a content are
 * gone, one of the same name (in another folder) is preferred, then the first in order; each is paired once. Files
 * of no bytes are all alike and not paired.
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

/** In two passes, so that a file that kept its name is not given away to one that did not. */
function pairAlike(added: readonly FileEntry[], gone: readonly FileEntry[]): Map<string, FileEntry> {
  const fromByPath = new Map<string, FileEntry>();
  const taken = new Set<string>();
  const pair = (keyOf: (entry: FileEntry) => string) => {
    const queues = new Map<string, FileEntry[]>();
    // Back to front, so that the first in order is at the end of its queue, where `pop` is cheap.
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
