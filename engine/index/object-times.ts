/**
 * Remembers the modification time in an object's metadata from an earlier read. Copying an object onto itself
 * changes this time but may keep the etag, so a row is valid only while the listing also shows the same
 * upload time.
 */
import type Database from 'better-sqlite3';

/** The state of an object in a listing. */
export interface ObjectState {
  readonly path: string;
  readonly token: string;
  /** The upload time, in ms. */
  readonly modifiedMs: number;
}

export interface ObjectTime extends ObjectState {
  /** Undefined: the object has no time of its own. */
  readonly mtimeNs: bigint | undefined;
}

/** The caller's source or destination. */
export type PairSide = 'source' | 'destination';

export interface ObjectTimes {
  /** Undefined when no valid row exists. */
  objectTime(side: PairSide, state: ObjectState): { readonly mtimeNs: bigint | undefined } | undefined;
  /** One transaction. */
  putObjectTimes(side: PairSide, times: readonly ObjectTime[]): void;
}

interface TimeRow {
  readonly token: string;
  readonly modified_ms: number;
  readonly mtime_ns: string | null;
}

/** @param isTurned The caller's pair of places is in the reverse order of the file's. */
export function createObjectTimes(
  database: Database.Database,
  transaction: <T>(work: () => T) => T,
  isTurned: boolean,
): ObjectTimes & { removeObjectTimes(path: string): void } {
  const find = database.prepare<[number, string], TimeRow>(
    'SELECT token, modified_ms, mtime_ns FROM object_time WHERE side = ? AND path = ?',
  );
  const put = database.prepare(
    'INSERT OR REPLACE INTO object_time (side, path, token, modified_ms, mtime_ns) VALUES (?, ?, ?, ?, ?)',
  );
  const remove = database.prepare('DELETE FROM object_time WHERE side IN (0, 1) AND path = ?');
  const numberOf = (side: PairSide) => ((side === 'source') === isTurned ? 1 : 0);
  return {
    objectTime(side, { modifiedMs, path, token }) {
      const row = find.get(numberOf(side), path);
      if (!row || row.token !== token || row.modified_ms !== modifiedMs) return undefined;
      // Text: SQLite's integers come back as doubles.
      return { mtimeNs: row.mtime_ns === null ? undefined : BigInt(row.mtime_ns) };
    },
    putObjectTimes(side, times) {
      transaction(() => {
        for (const { modifiedMs, mtimeNs, path, token } of times)
          put.run(numberOf(side), path, token, modifiedMs, mtimeNs?.toString() ?? null);
      });
    },
    removeObjectTimes: (path) => {
      remove.run(path);
    },
  };
}
