/**
 * Remembers the modification time that an object keeps in its metadata, as an earlier run read it. A copy of
 * an object onto itself changes this time and may keep the etag. So a row counts only while the listing shows
 * the same time of upload as well.
 */
import type Database from 'better-sqlite3';

/** The state of an object, as a listing shows it. */
export interface ObjectState {
  readonly path: string;
  readonly token: string;
  /** When it was stored, in ms. */
  readonly modifiedMs: number;
}

export interface ObjectTime extends ObjectState {
  /** Undefined: the object keeps none. */
  readonly mtimeNs: bigint | undefined;
}

/** The source or the destination of the caller. */
export type PairSide = 'source' | 'destination';

export interface ObjectTimes {
  /** Undefined when it is not known. */
  objectTime(side: PairSide, state: ObjectState): { readonly mtimeNs: bigint | undefined } | undefined;
  /** In one transaction. */
  putObjectTimes(side: PairSide, times: readonly ObjectTime[]): void;
}

interface TimeRow {
  readonly token: string;
  readonly modified_ms: number;
  readonly mtime_ns: string | null;
}

/** @param isTurned The caller's pair of places is not in the order in which the file keeps it. */
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
