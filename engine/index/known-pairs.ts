/** Remembers which state of an item on one side equals which state on the other. */
import type Database from 'better-sqlite3';
import { comparePaths } from '../model/entry.ts';

export interface KnownPair {
  readonly path: string;
  /** In the order of the pair of places that the index was opened with. */
  readonly tokens: readonly [string, string];
  readonly proof: PairProof;
}

/**
 * The proof that the two states are equal. `content`: their content was compared or copied, and the
 * destination has the time of the source. `time`: only size and modification time are equal. `contentAlone`:
 * as `content`, but the times were not compared.
 */
export type PairProof = 'content' | 'time' | 'contentAlone';

/** Bit 1: the content is proved equal. Bit 2: the time is. */
const PROVEN = { contentAlone: 1, time: 2, content: 3 } as const satisfies Record<PairProof, number>;
const PROOFS = new Map<number, PairProof>(
  (Object.keys(PROVEN) as PairProof[]).map((proof) => [PROVEN[proof], proof]),
);

export interface KnownPairs {
  find(path: string): KnownPair | undefined;
  /** Rows after the path, in byte order. `rowsMax` defaults to 1,000. */
  page(after: string, rowsMax?: number): readonly KnownPair[];
  /** One transaction. New proof for the same two tokens is added to earlier proof. */
  put(rows: readonly KnownPair[]): void;
  remove(paths: readonly string[]): void;
}

const PAIRS_IN_PAGE = 1_000;

interface PairRow {
  readonly path: string;
  readonly one: string;
  readonly other: string;
  readonly proven: number;
}

/** @param isTurned The caller's pair of places is in the reverse order of the file's. */
export function createKnownPairs(
  database: Database.Database,
  transaction: <T>(work: () => T) => T,
  isTurned: boolean,
): KnownPairs {
  const page = database.prepare<[string, number], PairRow>(
    'SELECT path, one, other, proven FROM pair WHERE path > ? ORDER BY path LIMIT ?',
  );
  const find = database.prepare<[string], PairRow>(
    'SELECT path, one, other, proven FROM pair WHERE path = ?',
  );
  const put = database.prepare(
    `INSERT INTO pair (path, one, other, proven) VALUES (?, ?, ?, ?)
     ON CONFLICT (path) DO UPDATE SET
       proven = CASE WHEN one = excluded.one AND other = excluded.other THEN proven | excluded.proven
         ELSE excluded.proven END,
       one = excluded.one, other = excluded.other`,
  );
  const remove = database.prepare('DELETE FROM pair WHERE path = ?');
  const toPair = ({ one, other, path, proven }: PairRow): KnownPair => ({
    path,
    tokens: isTurned ? [other, one] : [one, other],
    proof: PROOFS.get(proven) ?? 'contentAlone',
  });
  return {
    page: (after, rowsMax = PAIRS_IN_PAGE) => page.all(after, rowsMax).map(toPair),
    find(path) {
      const row = find.get(path);
      return row && toPair(row);
    },
    put(rows) {
      transaction(() => {
        for (const { path, proof, tokens } of rows) {
          const [one, other] = isTurned ? [tokens[1], tokens[0]] : tokens;
          put.run(path, one, other, PROVEN[proof]);
        }
      });
    },
    remove(paths) {
      transaction(() => {
        for (const path of paths) remove.run(path);
      });
    },
  };
}

export interface PairReader {
  /** Fast when paths ascend from call to call, in byte order; a walk may restart. */
  known(path: string): KnownPair | undefined;
}

const PAGE_ROWS_MIN = 16;
const PAGE_ROWS_FIRST = 64;

/**
 * Looks up pairs along an ordered walk by pages instead of one query per path. A sparse walk, such as a few
 * files beside a million known ones, gets short pages; a dense one gets long pages.
 */
export function createPairReader(pairs: Pick<KnownPairs, 'find' | 'page'>): PairReader {
  let rows: readonly KnownPair[] = [];
  let at = 0;
  let rowsMax = PAGE_ROWS_FIRST;
  /** Paths looked up since the page was read. */
  let asked = 0;
  /** The page was the last one. */
  let isOver = false;
  let position = '';
  const readPage = (path: string): KnownPair | undefined => {
    const isUsed = asked * 4 >= rows.length;
    rowsMax = isUsed ? Math.min(rowsMax * 4, PAIRS_IN_PAGE) : Math.max(rowsMax / 4, PAGE_ROWS_MIN);
    rows = pairs.page(path, Math.floor(rowsMax));
    at = 0;
    asked = 0;
    isOver = rows.length < Math.floor(rowsMax);
    return pairs.find(path);
  };
  return {
    known(path) {
      if (comparePaths(path, position) <= 0) {
        rows = [];
        isOver = false;
      }
      position = path;
      asked += 1;
      // SQLite's BINARY collation is the same order as `comparePaths`.
      while (at < rows.length && comparePaths(rows[at]!.path, path) < 0) at += 1;
      if (at >= rows.length) return isOver ? undefined : readPage(path);
      const row = rows[at]!;
      return row.path === path ? row : undefined;
    },
  };
}
