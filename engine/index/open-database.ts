/**
 * Opens a SQLite file of a known schema: creates a missing one, migrates an old one, and sets a damaged one
 * aside for a new one.
 *
 * WAL mode needs memory that processes share. On a disk without it (9p, some FUSE and network disks) the file
 * gets a rollback journal instead, and keeps it: two processes that disagreed about the mode would end each
 * other's transactions.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { DrayError } from '../api/error.ts';
import { isIndexDamage, lacksSharedMemory, translateIndexError, watchStatements } from './index-errors.ts';

export interface DatabaseOptions {
  readonly path: string;
  /** Numbered steps; `user_version` is the number of steps applied. */
  readonly migrations: readonly string[];
  /** Reads the root pages of every table, so that damage is found now and not in the middle of a job. */
  readonly probe: string;
  readonly cacheKib: number;
}

export interface OpenedDatabase {
  /** Its statements throw DrayErrors. */
  readonly database: Database.Database;
  /** It is empty. */
  readonly isNew: boolean;
  /** Why an existing file was replaced. */
  readonly rebuiltBecause?: string;
  /** Atomic. A power failure may undo the last transactions. */
  transaction<T>(work: () => T): T;
  /**
   * All writes up to and including these survive a power failure once this returns. Cannot be used within a
   * transaction.
   */
  durably(work: () => void): void;
  /** If damage was found, sets the file aside as `...damaged`, so that the next opening starts a new one. */
  close(): void;
}

/** Of the files that SQLite keeps beside a database. */
export const JOURNAL_SUFFIXES: readonly string[] = ['-wal', '-shm', '-journal'];

export function openDatabase(options: DatabaseOptions): OpenedDatabase {
  const { path } = options;
  const existed = existsSync(path);
  try {
    return openOnce(options);
  } catch (cause) {
    if (!existed || !isIndexDamage(cause)) throw translateIndexError(cause, path);
    setAside(path);
    const because = cause instanceof Error ? cause.message : String(cause);
    return { ...openOnce(options), rebuiltBecause: because };
  }
}

function openOnce({ cacheKib, migrations, path, probe }: DatabaseOptions): OpenedDatabase {
  const { database, synchronous } = connect(path);
  let isNew: boolean;
  try {
    database.pragma(`synchronous = ${synchronous}`);
    database.pragma(`cache_size = -${cacheKib}`);
    isNew = migrate(database, path, migrations) === 0;
    // After the migrations: a step may sort millions of rows, for which SQLite then uses a file.
    database.pragma('temp_store = MEMORY');
    database.prepare(probe).get();
  } catch (error) {
    database.close();
    throw error;
  }
  let isDamaged = false;
  const fail = (error: unknown): never => {
    isDamaged ||= isIndexDamage(error);
    throw translateIndexError(error, path);
  };
  watchStatements(database, fail);
  return {
    database,
    isNew,
    transaction: (work) => {
      if (database.inTransaction) return work();
      try {
        return database.transaction(work).immediate();
      } catch (error) {
        return fail(error);
      }
    },
    durably(work) {
      database.pragma('synchronous = FULL');
      try {
        work();
      } finally {
        database.pragma(`synchronous = ${synchronous}`);
      }
    },
    close: () => {
      database.close();
      if (isDamaged) setAside(path);
    },
  };
}

interface Connected {
  readonly database: Database.Database;
  /** With a rollback journal, NORMAL could leave a damaged file after a power cut. */
  readonly synchronous: 'NORMAL' | 'FULL';
}

function connect(path: string): Connected {
  const first = new Database(path, { timeout: 10_000 });
  try {
    // Reads the schema, so a file in WAL mode opens the shared memory here.
    if (first.pragma('journal_mode', { simple: true }) === 'wal')
      return { database: first, synchronous: 'NORMAL' };
    if (Number(first.pragma('page_count', { simple: true })) > 0) {
      first.pragma('journal_mode = TRUNCATE');
      return { database: first, synchronous: 'FULL' };
    }
    first.pragma('journal_mode = WAL');
    // The first read opens the shared memory.
    first.pragma('user_version');
    return { database: first, synchronous: 'NORMAL' };
  } catch (error) {
    first.close();
    if (!lacksSharedMemory(error)) throw error;
  }
  const database = new Database(path, { timeout: 10_000 });
  try {
    // A connection that has the file for itself reads a write-ahead log without shared memory.
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = TRUNCATE');
    database.pragma('locking_mode = NORMAL');
    // The lock goes with the next read.
    database.pragma('user_version');
    return { database, synchronous: 'FULL' };
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Returns the version that it found, 0 for an empty file. It reads the version inside the write transaction,
 * since another process may be migrating the same file.
 */
function migrate(database: Database.Database, path: string, migrations: readonly string[]): number {
  const version = () => Number(database.pragma('user_version', { simple: true }));
  if (version() === migrations.length) return migrations.length;
  const catchUp = database.transaction(() => {
    const seen = version();
    if (seen > migrations.length) {
      throw new DrayError(
        'formatTooNew',
        `The index ${path} has schema ${seen}, and this Dray supports ${migrations.length}. ` +
          'Use a newer Dray, or delete the file: it is rebuilt.',
      );
    }
    for (const step of migrations.slice(seen)) database.exec(step);
    database.pragma(`user_version = ${migrations.length}`);
    return seen;
  });
  return catchUp.immediate();
}

function setAside(path: string): void {
  for (const suffix of JOURNAL_SUFFIXES) rmSync(path + suffix, { force: true });
  renameSync(path, `${path}.damaged`);
}
