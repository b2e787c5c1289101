/** Lists that may be longer than memory, for one run: in a database file of their own that nobody else sees and that goes with the run. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { TreeItem } from '../model/tree-item.ts';
import { translateIndexError, watchStatements } from './index-errors.ts';

/** Texts in the order in which they were added. */
export interface SpillList {
  push(texts: readonly string[]): void;
  readonly size: number;
  /** Pages of 1,000 at most. */
  pages(): Generator<readonly string[]>;
}

/** Items in byte order of their paths, in whatever order they were added; of two with one path, the later. */
export interface SortedSpill {
  add(items: readonly TreeItem[]): void;
  pages(): Generator<readonly TreeItem[]>;
}

export interface Spills {
  list(): SpillList;
  sorter(): SortedSpill;
  close(): void;
}

const ROWS_IN_PAGE = 1_000;

export function createSpills(folder: string): Spills {
  let database: Database.Database | undefined;
  const path = join(folder, `.spill-${process.pid}-${Date.now()}.db`);
  let tables = 0;
  const open = () => {
    if (database) return database;
    database = new Database(path);
    // Unlinked at once where the system allows it, so that a killed run leaves nothing.
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    database.pragma('locking_mode = EXCLUSIVE');
    watchStatements(database, (error) => {
      throw translateIndexError(error, path);
    });
    database.exec('CREATE TABLE opened (x)');
    if (process.platform !== 'win32') rmSync(path, { force: true });
    return database;
  };
  return {
    list: () => createList(open(), `list_${++tables}`),
    sorter: () => createSorter(open(), `sorted_${++tables}`),
    close() {
      database?.close();
      if (database) rmSync(path, { force: true });
      database = undefined;
    },
  };
}

function createList(database: Database.Database, table: string): SpillList {
  database.exec(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, text TEXT NOT NULL)`);
  const insert = database.prepare(`INSERT INTO ${table} (text) VALUES (?)`);
  const page = database.prepare<[number, number], { id: number; text: string }>(
    `SELECT id, text FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`,
  );
  let size = 0;
  return {
    push(texts) {
      database.transaction(() => {
        for (const text of texts) insert.run(text);
      })();
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

interface ItemRow {
  readonly path: string;
  readonly kind: TreeItem['kind'];
  readonly size: number;
  readonly token: string;
  readonly modified_ms: number;
  readonly storage_class: string | null;
}

function createSorter(database: Database.Database, table: string): SortedSpill {
  database.exec(
    `CREATE TABLE ${table} (path TEXT PRIMARY KEY, kind TEXT NOT NULL, size INTEGER NOT NULL, token TEXT NOT NULL,
      modified_ms REAL NOT NULL, storage_class TEXT) WITHOUT ROWID`,
  );
  const insert = database.prepare(
    `INSERT OR REPLACE INTO ${table} (path, kind, size, token, modified_ms, storage_class) VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const page = database.prepare<[string, number], ItemRow>(
    `SELECT path, kind, size, token, modified_ms, storage_class FROM ${table} WHERE path > ? ORDER BY path LIMIT ?`,
  );
  return {
    add(items) {
      database.transaction(() => {
        for (const { kind, modifiedMs, path, sizeBytes, storageClass, token } of items)
          insert.run(path, kind, sizeBytes, token, modifiedMs, storageClass ?? null);
      })();
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

function toItem({ kind, modified_ms, path, size, storage_class, token }: ItemRow): TreeItem {
  return {
    path,
    kind,
    sizeBytes: size,
    token,
    modifiedMs: modified_ms,
    ...(storage_class === null ? {} : { storageClass: storage_class }),
  };
}
