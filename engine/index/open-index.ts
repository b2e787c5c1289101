/**
 * The index: what this workspace knows without asking anyone. SQLite in WAL mode, one writer (the workspace lock sees
 * to that). It is a cache: losing it costs time, never data.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { DrayError } from '../api/error.ts';
import { BlobTable } from './blob-table.ts';
import { FileTable } from './file-table.ts';
import { isIndexDamage, translateIndexError, watchStatements } from './index-errors.ts';
import { MIGRATIONS } from './migrations.ts';
import { RepositoryTable } from './repository-table.ts';
import { SettingTable } from './setting-table.ts';

export interface Index {
  readonly files: FileTable;
  readonly settings: SettingTable;
  readonly repositories: RepositoryTable;
  /** The blobs known to be on one repository. */
  blobsOf(repository: number): BlobTable;
  /** All or nothing, durable at the end. */
  transaction<T>(work: () => T): T;
  close(): void;
}

export interface OpenedIndex {
  readonly index: Index;
  /** It holds nothing yet. */
  readonly isNew: boolean;
  /** Why the index was begun anew although there was one. */
  readonly rebuiltBecause?: string;
}

/**
 * @param path The database file; made when absent. A damaged or foreign one is set aside as `...damaged` and begun anew.
 * Damage that shows itself later fails the job with `damaged`, and the next opening begins anew.
 */
export function openIndex(path: string): OpenedIndex {
  const existed = existsSync(path);
  try {
    return openDatabase(path);
  } catch (cause) {
    if (!existed || !isIndexDamage(cause)) throw translateIndexError(cause, path);
    setAside(path);
    const because = cause instanceof Error ? cause.message : String(cause);
    return { ...openDatabase(path), rebuiltBecause: because };
  }
}

function openDatabase(path: string): OpenedIndex {
  const database = new Database(path, { timeout: 10_000 });
  let isNew: boolean;
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('cache_size = -32768');
    database.pragma('temp_store = MEMORY');
    isNew = migrate(database) === 0;
    // Touches the root pages of every table, so that a damaged file shows itself here and not half-way through a job.
    database.prepare('SELECT count(*) FROM (SELECT 1 FROM file LIMIT 1), (SELECT 1 FROM blob LIMIT 1)').get();
  } catch (error) {
    database.close();
    throw error;
  }
  return { index: toIndex(database, path), isNew };
}

function toIndex(database: Database.Database, path: string): Index {
  let isDamaged = false;
  const fail = (error: unknown): never => {
    isDamaged ||= isIndexDamage(error);
    throw translateIndexError(error, path);
  };
  watchStatements(database, fail);
  const blobTables = new Map<number, BlobTable>();
  return {
    files: new FileTable(database),
    settings: new SettingTable(database),
    repositories: new RepositoryTable(database),
    blobsOf: (repository) => {
      let table = blobTables.get(repository);
      if (!table) {
        table = new BlobTable(database, repository);
        blobTables.set(repository, table);
      }
      return table;
    },
    transaction: (work) => {
      if (database.inTransaction) return work();
      try {
        return database.transaction(work).immediate();
      } catch (error) {
        return fail(error);
      }
    },
    close: () => {
      database.close();
      if (isDamaged) setAside(path);
    },
  };
}

/**
 * Returns the version that it found, 0 for an empty file. It is read inside the write transaction: another process may be
 * migrating the same file.
 */
function migrate(database: Database.Database): number {
  const version = () => Number(database.pragma('user_version', { simple: true }));
  if (version() === MIGRATIONS.length) return MIGRATIONS.length;
  const catchUp = database.transaction(() => {
    const seen = version();
    if (seen > MIGRATIONS.length) {
      throw new DrayError(
        'formatTooNew',
        `The index has schema ${seen}, and this Dray knows ${MIGRATIONS.length}. Use a newer Dray, or delete .dray/index.db: it is rebuilt.`,
      );
    }
    for (const step of MIGRATIONS.slice(seen)) database.exec(step);
    database.pragma(`user_version = ${MIGRATIONS.length}`);
    return seen;
  });
  return catchUp.immediate();
}

/** A consistent copy of an index that another process is writing to. */
export function copyIndex(path: string, copyPath: string): void {
  try {
    const database = new Database(path, { readonly: true, timeout: 10_000 });
    try {
      database.prepare('VACUUM INTO ?').run(copyPath);
    } finally {
      database.close();
    }
  } catch (cause) {
    throw translateIndexError(cause, path);
  }
}

function setAside(path: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  renameSync(path, `${path}.damaged`);
}
