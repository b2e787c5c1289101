/**
 * Updates the index's working side: a merge of the scan with the index, both in byte order, so that memory
 * stays flat. An unchanged file costs one `lstat` and one comparison, and writes nothing.
 */
import { isUtf8 } from 'node:buffer';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { advised } from '../../api/error.ts';
import type { OutsideFiles } from '../../api/jobs/workspace-scope.ts';
import { checkAborted } from '../../base/abort.ts';
import { createHeapBound } from '../../base/heap-bound.ts';
import { sweepAbandoned } from '../../files/disk/temporary-folder.ts';
import { targetNotUtf8 } from '../../files/scan/local-place.ts';
import { type ScanBatch, type ScannedEntry, type ScanProblem, scanWorkspace } from '../../files/scan/scan.ts';
import { KIND_CODES, type StatRow } from '../../index/file-table.ts';
import type { Index } from '../../index/open-index.ts';
import { comparePaths } from '../../model/entry.ts';
import type { Scope } from '../../model/scope.ts';
import type { Session } from '../session/open-workspace.ts';
import { scopeOf } from '../session/workspace-scope.ts';

export interface Refreshed {
  readonly files: number;
  readonly bytes: number;
  /** Files with further names, each of which is a file of its own in a commit. */
  readonly hardLinks: number;
  /** Rows that may differ from the base; 0 when there are no changes. */
  readonly differing: number;
  /** Paths that could not be scanned; their old state is kept. `reportProblems` reports them. */
  readonly problems: readonly ScanProblem[];
  /** Files and links here that are no part of the workspace's scope. */
  readonly outside: OutsideFiles;
}

const OUTSIDE_NAMED_MAX = 20;

const SAME = 1;
const PROGRESS_EVERY_MS = 100;

export async function refreshIndex(session: Session): Promise<Refreshed> {
  const { index, context, clock } = session;
  context.emit({ type: 'phase', phase: 'scan' });
  const merge = new ScanMerge(index, session.workspace.root, scopeOf(session));
  let nextProgressMs = clock.monotonicMs() + PROGRESS_EVERY_MS;
  const heap = createHeapBound();
  for (const batch of scanWorkspace({ root: session.workspace.root, ignore: true })) {
    checkAborted(context.signal);
    heap.check();
    merge.take(batch);
    if (clock.monotonicMs() < nextProgressMs) continue;
    nextProgressMs = clock.monotonicMs() + PROGRESS_EVERY_MS;
    reportScan(session, merge);
    await new Promise(setImmediate);
  }
  merge.finish();
  reportScan(session, merge);
  const { bytes, differing, files, hardLinks, outside, problems } = merge;
  return { files, bytes, hardLinks, differing, problems, outside };
}

/** Names files outside of the workspace's scope, which a push leaves out. */
export function warnOfOutside({ context }: Session, { count, paths }: OutsideFiles): void {
  const [path] = paths;
  if (path === undefined) return;
  const what = count === 1 ? `${path} is` : `${path} and ${count - 1} more are`;
  context.emit({
    type: 'warning',
    warning: 'outsideScope',
    path,
    ...advised(
      `${what} outside of what this workspace holds, and not pushed.`,
      'Take more in with "dray scope add".',
    ),
  });
}

/** Reports each problem: a failure (exit code 4), or a path left out by design. */
export function reportProblems(session: Session, problems: readonly ScanProblem[]): number {
  let failed = 0;
  for (const { path, problem, message } of problems) {
    if (problem === 'unfinished') continue;
    if (problem === 'special' || problem === 'nestedWorkspace') {
      const warning = problem === 'special' ? 'skippedSpecialFile' : 'skippedWorkspace';
      session.context.emit({ type: 'warning', warning, message, path });
      continue;
    }
    failed += 1;
    session.context.emit({
      type: 'fileFailed',
      path,
      error: { code: 'io', message, retry: 'no', data: { path, reason: problem } },
    });
  }
  return failed;
}

/**
 * Removes the files of dead runs from the `.dray-tmp` folders that the scan met: no later run may write
 * beside them.
 */
export function sweepUnfinished({ workspace }: Session, problems: readonly ScanProblem[]): void {
  for (const { path, problem } of problems)
    if (problem === 'unfinished' && path.endsWith('/')) sweepAbandoned(join(workspace.root, path));
}

function reportScan(session: Session, merge: ScanMerge): void {
  session.context.emit({
    type: 'progress',
    phase: 'scan',
    filesDone: merge.files,
    bytesDone: merge.bytes,
    requests: 0,
  });
}

/** Merges batches of scanned entries with pages of rows. */
class ScanMerge {
  files = 0;
  bytes = 0;
  hardLinks = 0;
  differing = 0;
  readonly problems: ScanProblem[] = [];
  readonly outside = { count: 0, paths: [] as string[] };
  readonly #index: Index;
  readonly #root: string;
  readonly #scope: Scope | undefined;
  readonly #vanished: string[] = [];
  #rows: readonly StatRow[] = [];
  #at = 0;
  #last = '';
  #hasMore = true;

  constructor(index: Index, root: string, scope: Scope | undefined) {
    this.#scope = scope;
    this.#index = index;
    this.#root = root;
  }

  take(batch: ScanBatch): void {
    // One by one: a folder may have more of them than a call takes arguments.
    for (const problem of batch.problems) if (this.#concerns(problem)) this.problems.push(problem);
    const changed: ScannedEntry[] = [];
    for (const entry of batch.entries) {
      if (this.#scope?.holds(entry.path) === false) {
        this.#noteOutside(entry);
        continue;
      }
      if (entry.kind === 'file') {
        this.files += 1;
        this.bytes += entry.sizeBytes;
        if (entry.hasOtherNames) this.hardLinks += 1;
      }
      let row = this.#peek();
      while (row && comparePaths(row.path, entry.path) < 0) {
        this.#noteVanished(row);
        row = this.#next();
      }
      if (row?.path !== entry.path) {
        changed.push(entry);
        continue;
      }
      if (isUnchanged(row, entry)) {
        if (row.flags !== SAME) this.differing += 1;
      } else changed.push(entry);
      this.#next();
    }
    if (changed.length > 0) this.#save(changed);
  }

  /** Files below a folder that could not be read have not vanished: their rows stay. */
  finish(): void {
    const { problems } = this;
    for (let row = this.#peek(); row; row = this.#next()) this.#noteVanished(row);
    const isUnseen = unseenBy(problems);
    const gone = problems.length === 0 ? this.#vanished : this.#vanished.filter((path) => !isUnseen(path));
    if (gone.length === 0) return;
    this.#index.transaction(() => {
      for (const path of gone) this.#index.files.setAbsent(path);
    });
    this.differing += gone.length;
  }

  /** A folder that could not be read may have something of the scope in it. */
  #concerns({ path, problem }: ScanProblem): boolean {
    if (!this.#scope || problem === 'unfinished' || this.#scope.holds(path)) return true;
    return this.#scope.reachesInto(path.endsWith('/') ? path : `${path}/`);
  }

  /** A folder that is empty here may have content on the branch. */
  #noteOutside({ kind, path }: ScannedEntry): void {
    if (kind === 'folder') return;
    this.outside.count += 1;
    if (this.outside.paths.length < OUTSIDE_NAMED_MAX) this.outside.paths.push(path);
  }

  #noteVanished(row: StatRow): void {
    // A row of kind 0 is a deletion that is known already.
    if (row.kind === 0) this.differing += 1;
    else this.#vanished.push(row.path);
  }

  #save(changed: readonly ScannedEntry[]): void {
    this.differing += changed.length;
    this.#index.transaction(() => {
      for (const entry of changed) {
        const content = this.#contentOf(entry);
        if (content !== undefined) this.#index.files.setWorking(entry.path, entry, content);
      }
    });
  }

  /**
   * Null: a file, which is read later. Undefined: a link that is gone or cannot be recorded; its row stays.
   */
  #contentOf({ path, kind }: ScannedEntry): string | null | undefined {
    if (kind === 'file') return null;
    if (kind === 'folder') return '';
    let target: Buffer;
    try {
      target = readlinkSync(`${this.#root}/${path}`, { encoding: 'buffer' });
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      // It changed since the scan saw it; the next scan records that.
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EINVAL') {
        this.problems.push({ path, problem: 'unreadable', message: `${path} cannot be read: ${message}.` });
      }
      return undefined;
    }
    if (isUtf8(target)) return target.toString('utf8');
    this.problems.push({
      path,
      problem: 'notUtf8',
      message: targetNotUtf8(path),
    });
    return undefined;
  }

  #peek(): StatRow | undefined {
    if (this.#at < this.#rows.length) return this.#rows[this.#at];
    if (!this.#hasMore) return undefined;
    this.#rows = this.#index.files.pageOfStats(this.#last);
    this.#at = 0;
    this.#last = this.#rows.at(-1)?.path ?? this.#last;
    this.#hasMore = this.#rows.length > 0;
    return this.#rows[0];
  }

  #next(): StatRow | undefined {
    this.#at += 1;
    return this.#peek();
  }
}

/**
 * Whether a path may exist although the scan has not seen it. Takes constant time, however many problems
 * there are.
 */
function unseenBy(problems: readonly ScanProblem[]): (path: string) => boolean {
  const places = new Set<string>();
  for (const { path, problem } of problems) {
    places.add(path);
    // An unreadable path may be a folder, and everything in it unseen.
    if (problem === 'unreadable' && !path.endsWith('/')) places.add(`${path}/`);
  }
  return (path) => {
    if (places.has(path)) return true;
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      if (places.has(path.slice(0, at + 1))) return true;
    return false;
  };
}

function isUnchanged(row: StatRow, entry: ScannedEntry): boolean {
  return (
    row.inode === entry.inode &&
    row.mtimeMs === entry.mtimeMs &&
    row.ctimeMs === entry.ctimeMs &&
    row.sizeBytes === entry.sizeBytes &&
    row.kind === KIND_CODES[entry.kind]
  );
}
