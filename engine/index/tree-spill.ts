/**
 * Lists that may exceed memory, for one run: in their own database file, which nobody else opens and which is
 * deleted after the run.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { TreeItem } from '../model/tree-item.ts';
import { translateIndexError, watchStatements } from './index-errors.ts';

/** Texts in the order of their addition. */
export interface SpillList {
  push(texts: readonly string[]): void;
  readonly size: number;
  /** Pages of at most 1,000. */
  pages(): Generator<readonly string[]>;
}

/**
 * Items in byte order of their paths, added in any order; the later of two with the same path wins. As in a
 * listing, without `mtimeNs`.
 */
export interface SortedSpill {
  add(items: readonly TreeItem[]): void;
  pages(): Generator<readonly TreeItem[]>;
}

/** Paths, each once, added in any order. */
export interface SpilledPaths {
  /** @param marks Stored with the paths at the same indexes; a new mark replaces an old one. */
  add(paths: readonly string[], marks: readonly boolean[]): void;
  /** Pages of at most 1,000, in reverse byte order: the content of a folder before the folder itself. */
  descending(): Generator<readonly (readonly [path: string, mark: boolean])[]>;
}

export interface Spills extends Disposable {
  list(): SpillList;
  paths(): SpilledPaths;
  sorter(): SortedSpill;
}

const ROWS_IN_PAGE = 1_000;
const CACHE_KIB = 16 * 1024;

/** Opens its file when the first list is requested. */
export function createSpills(folder: string): Spills {
  const path = join(folder, `.spill-${randomUUID()}.db`);
  let opened: SpillFile | undefined;
  let tables = 0;
  const file = () => {
    opened ??= openFile(path);
    return opened;
  };
  return {
    list: () => createList(file(), `list_${++tables}`),
    paths: () => createPaths(file(), `paths_${++tables}`),
    sorter: () => createSorter(file(), `sorted_${++tables}`),
    [Symbol.dispose]() {
      opened?.database.close();
      if (opened) rmSync(path, { force: true });
      opened = undefined;
    },
  };
}

interface SpillFile {
  readonly database: Database.Database;
  /** Many rows in one transaction. A failure ends the run, and the file with it. */
  write(work: () => void): void;
}

function openFile(path: string): SpillFile {
  const fail = (error: unknown): never => {
    throw translateIndexError(error, path);
  };
  try {
    const database = new Database(path);
    // Nobody reads it after a crash, so nothing is journaled or flushed.
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma(`cache_size = -${CACHE_KIB}`);
    // The first write creates the file. Unlinked while open, where the system allows that, it disappears with
    // the process.
    database.exec('CREATE TABLE opened (x)');
    if (process.platform !== 'win32') rmSync(path, { force: true });
    watchStatements(database, fail);
    const transaction = database.transaction((work: () => void) => work());
    return {
      database,
      write(work) {
        try {
          transaction(work);
        } catch (error) {
          fail(error);
        }
      },
    };
  } catch (error) {
    return fail(error);
  }
}

function createList({ database, write }: SpillFile, table: string): SpillList {
  database.exec(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, text TEXT NOT NULL)`);
  const insert = database.prepare(`INSERT INTO ${table} (text) VALUES (?)`);
  const page = database.prepare<[number, number], { readonly id: number; readonly text: string }>(
    `SELECT id, text FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`,
  );
  let size = 0;
  return {
    push(texts) {
      write(() => {
        for (const text of texts) insert.run(text);
      });
      size += texts.length;
    },
    get size() {
      return size;
    },
    *pages() {
      for (let after = 0; ; ) {
        const rows = page.all(after, ROWS_IN_PAGE);
        if (rows.length > 0) yield rows.map(({ text }) => text);
        if (rows.length < ROWS_IN_PAGE) return;
        after = rows.at(-1)!.id;
      }
    },
  };
}

interface MarkRow {
  readonly path: string;
  readonly mark: number;
}

function createPaths({ database, write }: SpillFile, table: string): SpilledPaths {
  database.exec(`CREATE TABLE ${table} (path TEXT PRIMARY KEY, mark INTEGER NOT NULL) WITHOUT ROWID`);
  const insert = database.prepare(`INSERT OR REPLACE INTO ${table} (path, mark) VALUES (?, ?)`);
  const page = database.prepare<[string | Buffer, number], MarkRow>(
    `SELECT path, mark FROM ${table} WHERE path < ? ORDER BY path DESC LIMIT ?`,
  );
  return {
    add(paths, marks) {
      write(() => {
        for (const [at, path] of paths.entries()) insert.run(path, marks[at] ? 1 : 0);
      });
    },
    *descending() {
      // SQLite sorts every text before any blob.
      for (let before: string | Buffer = Buffer.alloc(0); ; ) {
        const rows: MarkRow[] = page.all(before, ROWS_IN_PAGE);
        if (rows.length > 0) yield rows.map(({ mark, path }) => [path, mark !== 0] as const);
        if (rows.length < ROWS_IN_PAGE) return;
        before = rows.at(-1)!.path;
      }
    },
  };
}

interface ItemRow {
  readonly path: string;
  readonly kind: TreeItem['kind'];
  readonly size: number;
  readonly token: string;
  readonly modified_ms: number;
}

function createSorter({ database, write }: SpillFile, table: string): SortedSpill {
  database.exec(
    `CREATE TABLE ${table} (path TEXT PRIMARY KEY, kind TEXT NOT NULL, size INTEGER NOT NULL, token TEXT NOT NULL,
      modified_ms REAL NOT NULL) WITHOUT ROWID`,
  );
  const insert = database.prepare(
    `INSERT OR REPLACE INTO ${table} (path, kind, size, token, modified_ms) VALUES (?, ?, ?, ?, ?)`,
  );
  const page = database.prepare<[string, number], ItemRow>(
    `SELECT path, kind, size, token, modified_ms FROM ${table} WHERE path > ? ORDER BY path LIMIT ?`,
  );
  return {
    add(items) {
      write(() => {
        for (const { kind, modifiedMs, path, sizeBytes, token } of items)
          insert.run(path, kind, sizeBytes, token, modifiedMs);
      });
    },
    *pages() {
      for (let after = ''; ; ) {
        const rows = page.all(after, ROWS_IN_PAGE);
        if (rows.length > 0) yield rows.map(toItem);
        if (rows.length < ROWS_IN_PAGE) return;
        after = rows.at(-1)!.path;
      }
    },
  };
}

function toItem({ kind, modified_ms, path, size, token }: ItemRow): TreeItem {
  return {
    path,
    kind,
    sizeBytes: size,
    token,
    modifiedMs: modified_ms,
  };
}
