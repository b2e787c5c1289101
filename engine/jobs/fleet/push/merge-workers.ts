/**
 * Merges the entries of several workers into one dataset. Equal files at one path become one file. Different
 * files at one path are a problem, and so is a file where another worker has a folder.
 */

import { firstIndexWhere } from '../../../base/sorted-search.ts';
import { comparePaths, type Entry } from '../../../model/entry.ts';
import { createClashingNames } from './clashing-names.ts';

export interface WorkerEntries {
  readonly worker: string;
  /** Together strictly ascending by path. */
  readonly batches: AsyncIterable<readonly Entry[]>;
}

/** Two workers whose entries exclude each other. */
export interface MergeProblem {
  readonly path: string;
  readonly workers: readonly [string, string];
  readonly message: string;
}

interface Cursor {
  readonly worker: string;
  /** The index in the list of workers. Of equal entries, the first worker's is taken. */
  readonly order: number;
  readonly batches: AsyncIterator<readonly Entry[]>;
  batch: readonly Entry[];
  at: number;
}

const BATCH_ENTRIES = 1_000;

/** One batch of each worker is in memory. */
export async function* mergeWorkers(
  workers: readonly WorkerEntries[],
  onProblem: (problem: MergeProblem) => void,
): AsyncGenerator<readonly Entry[]> {
  const names = createClashingNames();
  /** An empty folder. It is dropped if another worker has a file in it. */
  let folder: Entry | undefined;
  let merged: Entry[] = [];
  for await (const { entry, worker } of firstOfEach(workers, onProblem)) {
    if (folder && !entry.path.startsWith(folder.path)) merged.push(folder);
    folder = undefined;
    const above = names.add(entry.path, worker);
    if (above) onProblem(clashOf(above, { path: entry.path, worker }));
    if (entry.kind === 'folder') folder = entry;
    else merged.push(entry);
    if (merged.length < BATCH_ENTRIES) continue;
    yield merged;
    merged = [];
  }
  if (folder) merged.push(folder);
  if (merged.length > 0) yield merged;
}

interface OwnedEntry {
  readonly entry: Entry;
  readonly worker: string;
}

/** Each path once, in order. */
async function* firstOfEach(
  workers: readonly WorkerEntries[],
  onProblem: (problem: MergeProblem) => void,
): AsyncGenerator<OwnedEntry> {
  const cursors: Cursor[] = [];
  const insert = async (cursor: Cursor) => {
    if (await fill(cursor))
      cursors.splice(
        firstIndexWhere(cursors, 0, (other) => comesFirst(cursor, other)),
        0,
        cursor,
      );
  };
  let last: OwnedEntry | undefined;
  try {
    for (const [order, { batches, worker }] of workers.entries())
      await insert({ worker, order, batches: batches[Symbol.asyncIterator](), batch: [], at: 0 });
    for (let cursor = cursors.shift(); cursor; cursor = cursors.shift()) {
      const entry = entryOf(cursor);
      const { worker } = cursor;
      if (last?.entry.path !== entry.path) {
        if (last) yield last;
        last = { entry, worker };
      } else if (!isSameContent(last.entry, entry)) onProblem(differenceOf(last, worker));
      cursor.at += 1;
      await insert(cursor);
    }
    if (last) yield last;
  } finally {
    for (const { batches } of cursors) await batches.return?.();
  }
}

function entryOf({ at, batch }: Cursor): Entry {
  return batch[at]!;
}

function comesFirst(one: Cursor, other: Cursor): boolean {
  const order = comparePaths(entryOf(one).path, entryOf(other).path);
  return order < 0 || (order === 0 && one.order < other.order);
}

/** False at the end. */
async function fill(cursor: Cursor): Promise<boolean> {
  while (cursor.at >= cursor.batch.length) {
    const next = await cursor.batches.next();
    if (next.done) return false;
    [cursor.batch, cursor.at] = [next.value, 0];
  }
  return true;
}

/** Ignores packs and times: each worker has its own pack for the content, and its own copy of the file. */
function isSameContent(left: Entry, right: Entry): boolean {
  if (left.kind === 'file' && right.kind === 'file')
    return (
      left.blob === right.blob && left.sizeBytes === right.sizeBytes && left.executable === right.executable
    );
  if (left.kind === 'link' && right.kind === 'link') return left.target === right.target;
  return left.kind === right.kind;
}

function differenceOf({ entry: { path }, worker }: OwnedEntry, other: string): MergeProblem {
  const message = `The workers "${worker}" and "${other}" have different files at ${path}.`;
  return { path, workers: [worker, other], message };
}

function clashOf(
  file: { readonly path: string; readonly owner: string },
  { path, worker }: { readonly path: string; readonly worker: string },
): MergeProblem {
  const message = `The worker "${file.owner}" has a file at ${file.path}, where the worker "${worker}" has a folder with ${path}.`;
  return { path, workers: [file.owner, worker], message };
}
