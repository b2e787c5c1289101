/** Translates SQLite's errors where statements are prepared. */
import type Database from 'better-sqlite3';
import { DrayError } from '../api/error.ts';

/** Only the calls that can fail are wrapped: statements are small and may run for each file. */
const METHODS = ['run', 'get', 'all'] as const;

/** A SQLite error as a DrayError; any other error unchanged. */
export function translateIndexError(error: unknown, path: string): unknown {
  if (error instanceof DrayError) return error;
  const code = sqliteCode(error);
  const options = { cause: error, data: { path, sqlite: code } };
  const why = `${(error as Error).message} (${code})`;
  if (code === 'SQLITE_FULL')
    return new DrayError('diskFull', `The disk is full: ${path} was not written.`, options);
  if (isIndexDamage(error)) {
    const message =
      `The index ${path} is damaged: ${why}. No data is lost. Run the command again: ` +
      'the index is rebuilt, and files are read again.';
    return new DrayError('damaged', message, options);
  }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    const message = `Another process holds the index ${path}. Wait for it to end, then run the command again.`;
    return new DrayError('locked', message, options);
  }
  if (code.startsWith('SQLITE_'))
    return new DrayError('io', `The index ${path} cannot be used: ${why}.`, options);
  return error;
}

/** Whether the database file itself is damaged, so that a new one helps. */
export function isIndexDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_ERROR';
}

/** Whether the disk gives processes no memory to share: SQLITE_IOERR_SHMOPEN, SHMSIZE, SHMMAP and SHMLOCK. */
export function lacksSharedMemory(error: unknown): boolean {
  return sqliteCode(error).startsWith('SQLITE_IOERR_SHM');
}

/**
 * Passes the errors of all statements prepared later through `onError`, which throws the error for the
 * caller.
 */
export function watchStatements(database: Database.Database, onError: (error: unknown) => never): void {
  const prepare = database.prepare.bind(database) as (source: string) => Database.Statement;
  const watched = (source: string): Database.Statement => {
    const statement = prepare(source);
    for (const name of METHODS) {
      const method = statement[name].bind(statement) as (...parameters: unknown[]) => unknown;
      const guarded = (...parameters: unknown[]) => {
        try {
          return method(...parameters);
        } catch (error) {
          return onError(error);
        }
      };
      Object.assign(statement, { [name]: guarded });
    }
    return statement;
  };
  Object.assign(database, { prepare: watched });
}

function sqliteCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
