import type Database from 'better-sqlite3';
import type { BlobHash, Entry } from '../model/entry.ts';
import {
  baseSide,
  type FileRow,
  type IndexedChange,
  locationOf,
  toEntry,
  toIndexedChange,
  toUnplaced,
} from './file-row.ts';
import { FILE_SQL, LARGE_FILE_BYTES } from './file-sql.ts';

/** The `lstat` of a working file, in Node's own numbers, so that comparisons are exact. */
export interface WorkingStat {
  readonly kind: Entry['kind'];
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
  readonly executable: boolean;
}

/** A row for the scan. */
export interface StatRow {
  readonly path: string;
  /** 1: equals the base; 2: content unread. */
  readonly flags: number;
  /** One of `KIND_CODES`; 0 for a deletion. */
  readonly kind: number;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
}

/** Selects the files that a push has to read. */
export interface PendingScope {
  readonly repository: number;
  /** Include files that equal the base: the repository may have lost their content. */
  readonly isBaseInDoubt?: boolean;
}

/** The files that a push still has to read, and the changes that are already on the repository. */
export interface PendingTotals {
  readonly files: number;
  readonly bytes: number;
  readonly placed: { readonly files: number; readonly bytes: number };
}

export interface PendingRead {
  readonly path: string;
  readonly sizeBytes: number;
}

/** Changes by kind; a rename counts as one addition and one deletion. */
export interface ChangeCounts {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  readonly mode: number;
  /** The size of added and modified files. */
  readonly bytes: number;
}

export const KIND_CODES = { file: 1, link: 2, folder: 3 } as const;
/**
 * An inode that no file has: the row's stat never matches, so the next scan reads the file again (the
 * racy-timestamp rule).
 */
const NO_INODE = -1;
const PAGE_ROWS = 4096;
/** The most content in one page of changes, which holds the chunks of all its files: about 240,000. */
const PAGE_CONTENT_BYTES = 2 ** 40;
/** SQLite sorts any blob after any text. */
const BEHIND_ALL_PATHS = Buffer.alloc(0);

/** The working copy and the base commit, path by path, in byte order. */
export class FileTable {
  readonly #statements: Record<keyof typeof FILE_SQL, Database.Statement<unknown[], unknown>>;

  constructor(database: Database.Database) {
    const prepared = Object.entries(FILE_SQL).map(([name, sql]) => [name, database.prepare(sql)]);
    this.#statements = Object.fromEntries(prepared);
    this.#statements.workingPaths.pluck(true);
    this.#statements.endOfPage.pluck(true);
    this.#statements.emptied.pluck(true);
    this.#statements.emptiedFrom.pluck(true);
    this.#statements.baseFiles.pluck(true);
    this.#statements.forgetRead.pluck(true);
    this.#statements.chunksOf.pluck(true);
    for (const name of ['pageOfChanges', 'change', 'pageOfEntries'] as const)
      this.#statements[name].safeIntegers(true);
  }

  /** Up to `PAGE_ROWS` rows after `after`, for the merge with the scan. */
  pageOfStats(after: string): readonly StatRow[] {
    return this.#statements.pageOfStats.all(after, PAGE_ROWS) as StatRow[];
  }

  /** Records a path of the working copy with unread content; for a link its target, for a folder ''. */
  setWorking(path: string, stat: WorkingStat, hash: string | null): void {
    const { setWorking, settle } = this.#statements;
    const executable = stat.executable ? 1 : 0;
    setWorking.run(
      path,
      KIND_CODES[stat.kind],
      stat.sizeBytes,
      stat.mtimeMs,
      stat.ctimeMs,
      stat.inode,
      executable,
      hash,
    );
    if (hash !== null) settle.run(path);
  }

  /** Records that the working copy no longer has this path. */
  setAbsent(path: string): void {
    const { setAbsent, dropIfNowhere } = this.#statements;
    setAbsent.run(path);
    dropIfNowhere.run(path);
  }

  /** Records the content of a file that was read. The next scan reads a racy one again. */
  setRead(
    path: string,
    read: WorkingStat & { readonly mtimeNs: bigint; readonly hash: BlobHash; readonly isRacy: boolean },
  ): void {
    const { setNewRead, setRead } = this.#statements;
    const { sizeBytes: size, mtimeMs: mtime_ms, ctimeMs: ctime_ms, mtimeNs: mtime_ns, hash } = read;
    const inode = read.isRacy ? NO_INODE : read.inode;
    const executable = read.executable ? 1 : 0;
    const { changes } = setNewRead.run(size, mtime_ms, ctime_ms, inode, executable, mtime_ns, hash, path);
    if (changes === 0) setRead.run({ path, size, mtime_ms, ctime_ms, inode, executable, mtime_ns, hash });
  }

  /**
   * Marks changed files with this content as unread, so that the next scan reads them. Returns their paths.
   */
  forgetRead(hash: BlobHash): readonly string[] {
    return this.#statements.forgetRead.all(hash) as string[];
  }

  /** Records an entry just written to the working copy as both working content and base. */
  setWritten(entry: Entry, stat: Omit<WorkingStat, 'kind' | 'executable'>): void {
    this.#statements.setWritten.run({
      path: entry.path,
      kind: KIND_CODES[entry.kind],
      size: stat.sizeBytes,
      mtime_ms: stat.mtimeMs,
      ctime_ms: stat.ctimeMs,
      inode: stat.inode,
      executable: entry.kind === 'file' && entry.executable ? 1 : 0,
      mtime_ns: entry.kind === 'file' ? entry.mtimeNs : 0n,
      hash: contentOf(entry),
    });
  }

  /** Records an entry just written as working content. What the path is based on stays. */
  setWrittenAsEdit(entry: Entry, stat: Omit<WorkingStat, 'kind' | 'executable'>): void {
    const [base] = this.unplacedBaseEntries(entry.path, entry.path);
    this.setWritten(entry, stat);
    this.setBase(entry.path, base);
  }

  /** Records the base commit's entry at the path, or that it has none; the working side stays. */
  setBase(path: string, entry: Entry | undefined): void {
    const { expandBase, dropBase, dropIfNowhere, setBase, settle } = this.#statements;
    if (!entry) {
      expandBase.run(path);
      dropBase.run(path);
      dropIfNowhere.run(path);
      return;
    }
    expandBase.run(path);
    setBase.run({
      path,
      kind: KIND_CODES[entry.kind],
      size: entry.kind === 'file' ? entry.sizeBytes : 0,
      mtime_ns: entry.kind === 'file' ? entry.mtimeNs : 0n,
      executable: entry.kind === 'file' && entry.executable ? 1 : 0,
      hash: contentOf(entry),
    });
    settle.run(path);
  }

  /** Removes the base; the working side stays. */
  clearBase(): void {
    const { clearBase, dropNowhere } = this.#statements;
    for (const page of this.#pages()) {
      clearBase.run(...page);
      dropNowhere.run(...page);
    }
  }

  /** Marks larger files that differ from the base, or have none, as unread. */
  forgetLarge(sizeBytes: number): void {
    for (const page of this.#pages()) this.#statements.forgetLarge.run(...page, sizeBytes);
  }

  /** Drops the change at this path until the next scan finds it again. */
  leaveOut(path: string): void {
    this.#statements.leaveAsBase.run(path);
    this.#statements.leaveOutNew.run(path);
  }

  /**
   * Whether a file or link stands at this path or above it while other paths lie below that. Only paths that
   * `leaveOut` handled can get so.
   */
  isTornAt(path: string): boolean {
    const parts = (path.endsWith('/') ? path.slice(0, -1) : path).split('/');
    return parts.some((_, at) => {
      const place = parts.slice(0, at + 1).join('/');
      const kind = this.knownStat(place)?.kind;
      if (kind !== KIND_CODES.file && kind !== KIND_CODES.link) return false;
      // '0' follows '/', so the range holds everything that begins with the place and a slash.
      return this.#statements.anyBetween.get(`${place}/`, `${place}0`) !== undefined;
    });
  }

  /** After a push: every change whose content is on the repository becomes the base. */
  acceptChanges(): void {
    const { acceptContent, acceptDeletions } = this.#statements;
    for (const page of this.#pages()) {
      acceptDeletions.run(...page);
      acceptContent.run(...page);
    }
  }

  /** Bounds of all rows' paths, some thousand at a time: after the first, up to and including the second. */
  *#pages(): Generator<readonly [string, string | Buffer]> {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const end = this.#statements.endOfPage.get(after, PAGE_ROWS) as string | undefined;
      yield [after, end ?? BEHIND_ALL_PATHS];
      after = end;
    }
  }

  /**
   * Files whose content is unread, or (with `repository`) not known to be on that repository; in order, after
   * `after`.
   */
  pageOfPendingReads(after: string, scope: PendingScope): readonly PendingRead[] {
    const { repository, isBaseInDoubt } = scope;
    return this.#statements.pageOfPendingReads.all(
      repository,
      isBaseInDoubt ? 1 : 0,
      after,
      PAGE_ROWS,
    ) as PendingRead[];
  }

  pendingTotals({ repository, isBaseInDoubt }: PendingScope): PendingTotals {
    const row = this.#statements.pendingTotals.get(repository, isBaseInDoubt ? 1 : 0);
    const { bytes, files, placedBytes, placedFiles } = row as Record<string, number>;
    return { files: files!, bytes: bytes!, placed: { files: placedFiles!, bytes: placedBytes! } };
  }

  /** An upper bound of the objects that the pending reads can become, from the layout's limits in bytes. */
  pendingObjects(
    { repository, isBaseInDoubt }: PendingScope,
    limits: { readonly packBelow: number; readonly chunkAbove: number; readonly chunkAverage: number },
  ): number {
    const row = this.#statements.pendingObjects.get({
      repository,
      isAll: isBaseInDoubt ? 1 : 0,
      ...limits,
    }) as { objects: number };
    return row.objects;
  }

  /**
   * Files with content in the base that are empty now: the first ones by name, their number, and the number
   * of files in the base.
   */
  emptied(namedMax: number): {
    readonly count: number;
    readonly first: readonly string[];
    readonly baseFiles: number;
  } {
    const { baseFiles, emptied, emptiedFrom } = this.#statements;
    const count = emptied.get() as number;
    if (count === 0) return { count, first: [], baseFiles: 0 };
    return { count, first: emptiedFrom.all(namedMax) as string[], baseFiles: baseFiles.get() as number };
  }

  /** Totals of `changes`, without unread files. */
  changeTotals(): ChangeCounts {
    return this.#statements.changeTotals.get() as ChangeCounts;
  }

  /** All rows, in order. */
  *stats(): Generator<readonly StatRow[]> {
    for (let after = ''; ; ) {
      const rows = this.pageOfStats(after);
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows;
      after = last.path;
    }
  }

  /** Every path of the working copy, in order. */
  *workingPaths(): Generator<readonly string[]> {
    for (let after = ''; ; ) {
      const paths = this.#statements.workingPaths.all(after, PAGE_ROWS) as string[];
      const last = paths.at(-1);
      if (last === undefined) return;
      yield paths;
      after = last;
    }
  }

  /** Changed files whose content has to be read to decide whether they differ from the base. */
  pageOfUndecided(after: string): readonly PendingRead[] {
    return this.#statements.pageOfUndecided.all(after, PAGE_ROWS) as PendingRead[];
  }

  /** Paths that differ from the base, in order, each with its location on `repository` (0: not looked up). */
  *changes(
    repository: number,
    options: { readonly below?: string } = {},
  ): Generator<readonly IndexedChange[]> {
    let after = options.below ?? '';
    for (;;) {
      const rows = this.#statements.pageOfChanges.all(repository, after, PAGE_ROWS) as FileRow[];
      const inside =
        options.below === undefined ? rows : rows.filter(({ path }) => path.startsWith(options.below!));
      yield* this.#inPages(inside, repository);
      if (inside.length < rows.length || rows.length < PAGE_ROWS) return;
      after = rows.at(-1)!.path;
    }
  }

  /** Adds the chunks of large files, which end a page early. */
  *#inPages(rows: readonly FileRow[], repository: number): Generator<readonly IndexedChange[]> {
    let page: IndexedChange[] = [];
    let bytes = 0;
    for (const row of rows) {
      const sizeBytes = Number(row.size);
      page.push(toIndexedChange(sizeBytes > LARGE_FILE_BYTES ? this.#withChunks(row, repository) : row));
      bytes += sizeBytes;
      if (bytes < PAGE_CONTENT_BYTES) continue;
      yield page;
      page = [];
      bytes = 0;
    }
    if (page.length > 0) yield page;
  }

  #withChunks(row: FileRow, repository: number): FileRow {
    if (row.place === null) return row;
    const chunks = this.#statements.chunksOf.get(repository, row.hash) as string | null | undefined;
    return chunks === undefined ? { ...row, place: null } : { ...row, chunks };
  }

  /** The row of one path, whether it differs from the base or not. */
  find(path: string, repository: number): IndexedChange | undefined {
    const row = this.#statements.change.get(repository, path) as FileRow | undefined;
    return row && toIndexedChange(row);
  }

  /**
   * Complete base entries with `first <= path <= last`; undefined when a location is not known on
   * `repository`.
   */
  baseEntries(first: string, last: string, repository: number): readonly Entry[] | undefined {
    const rows = this.#statements.pageOfEntries.all(repository, first, last) as FileRow[];
    const entries: Entry[] = [];
    for (const row of rows) {
      const entry = toEntry(row.path, baseSide(row)!, locationOf(row));
      if (!entry) return undefined;
      entries.push(entry);
    }
    return entries;
  }

  /** Whether a file of the base has content whose location on `repository` is not known. Reads every row. */
  hasUnplacedBase(repository: number): boolean {
    return this.#statements.anyUnplacedBase.get(repository) !== undefined;
  }

  /** Base entries with `first <= path <= last`, without places: `nowhere`, also of files that are stored. */
  unplacedBaseEntries(first: string, last: string): readonly Entry[] {
    const rows = this.#statements.pageOfEntries.all(0, first, last) as FileRow[];
    return rows.map(toUnplaced);
  }

  /** All of them, in order. */
  *unplacedBase(): Generator<readonly Entry[]> {
    for (const [after, end] of this.#pages()) {
      const rows = this.#statements.pageOfEntries.all(0, after, end) as FileRow[];
      const entries = rows.filter(({ path }) => path !== after).map(toUnplaced);
      if (entries.length > 0) yield entries;
    }
  }

  /** The last stat that the index saw at the path; undefined when it has no file there. */
  knownStat(path: string): StatRow | undefined {
    return this.#statements.statOf.get(path) as StatRow | undefined;
  }
}

function contentOf(entry: Entry): string {
  return entry.kind === 'file' ? entry.blob : entry.kind === 'link' ? entry.target : '';
}
