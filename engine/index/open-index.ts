/**
 * The index: the workspace's cache of what it knows about its files and remotes. SQLite with one writer,
 * which the workspace lock ensures. Losing it costs time, never data.
 */
import { chmodSync, copyFileSync, existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { DrayError } from '../api/error.ts';
import { BlobTable } from './blob-table.ts';
import { FileTable } from './file-table.ts';
import { translateIndexError } from './index-errors.ts';
import { MIGRATIONS } from './migrations.ts';
import { openDatabase } from './open-database.ts';
import { RepositoryTable } from './repository-table.ts';
import { SettingTable } from './setting-table.ts';

export interface Index {
  readonly files: FileTable;
  readonly settings: SettingTable;
  readonly repositories: RepositoryTable;
  /** The blobs known to be on one repository. */
  blobsOf(repository: number): BlobTable;
  /** Atomic. A power failure may undo the last transactions. */
  transaction<T>(work: () => T): T;
  /**
   * All writes up to and including these survive a power failure once this returns. Cannot be used within a
   * transaction.
   */
  durably(work: () => void): void;
  close(): void;
}

export interface OpenedIndex {
  readonly index: Index;
  /** It is empty. */
  readonly isNew: boolean;
  /** Why an existing index was replaced. */
  readonly rebuiltBecause?: string;
}

/**
 * @param path The database file; created when absent. A damaged or foreign one is set aside as `...damaged`
 * and replaced. Damage found later fails the job with `damaged`, and the next opening replaces the file.
 */
export function openIndex(path: string): OpenedIndex {
  const { close, database, durably, isNew, rebuiltBecause, transaction } = openDatabase({
    path,
    migrations: MIGRATIONS,
    probe: 'SELECT count(*) FROM (SELECT 1 FROM file LIMIT 1), (SELECT 1 FROM blob LIMIT 1)',
    cacheKib: 32 * 1024,
  });
  const blobTables = new Map<number, BlobTable>();
  const index: Index = {
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
    transaction,
    durably,
    close,
  };
  return { index, isNew, ...(rebuiltBecause === undefined ? {} : { rebuiltBecause }) };
}

/** Copies the index of a read-only folder, which nobody changes meanwhile. A missing index stays missing. */
export function copyFrozenIndex(path: string, copyPath: string): void {
  for (const suffix of ['', '-wal', '-journal']) {
    if (!existsSync(path + suffix)) continue;
    try {
      copyFileSync(path + suffix, copyPath + suffix);
      chmodSync(copyPath + suffix, 0o600);
    } catch (cause) {
      const message = `The index ${path} could not be copied to ${copyPath}: ${(cause as Error).message}.`;
      throw new DrayError('io', message, { cause, data: { path } });
    }
  }
}

/** Copies an index consistently while another process writes to it. */
export function copyIndex(path: string, copyPath: string): void {
  try {
    const database = new Database(path, { readonly: true, timeout: 10_000 });
    try {
      database.prepare('VACUUM INTO ?').run(copyPath);
    } finally {
      database.close();
    }
    // The copy has a rollback journal, which would cost it a sync for each transaction.
    const copy = new Database(copyPath);
    try {
      copy.pragma('journal_mode = WAL');
    } finally {
      copy.close();
    }
  } catch (cause) {
    throw translateIndexError(cause, path);
  }
}
