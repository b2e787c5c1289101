/**
 * What is remembered of one pair of places: one SQLite file in the user's cache. The pair has no direction, so what an upload has
 * learnt serves a download. It is a cache: losing it costs time, never data. Several processes may use it at once.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { comparePaths } from '../model/entry.ts';
import { openDatabase } from './open-database.ts';
import { TREE_MIGRATIONS } from './tree-migrations.ts';
import { createSpills, type SortedSpill, type SpillList } from './tree-spill.ts';

export type { SortedSpill, SpillList };

/** Tokens in the order of the pair that the index was opened with. */
export interface KnownPair {
  readonly path: string;
  readonly tokens: readonly [string, string];
}

export interface KnownBlocks {
  /** Of the object whose blocks they are. */
  readonly token: string;
  readonly blockBytes: number;
  readonly sums: readonly bigint[];
}

export interface TreeUpload {
  readonly uploadId: string;
  readonly partSizeBytes: number;
  readonly token?: string;
}

/** Satisfies what uploads want of a journal: a row is durable when `save` returns. */
export interface TreeUploadJournal {
  load(key: string): TreeUpload | undefined;
  save(key: string, upload: TreeUpload): void;
  forget(key: string): void;
}

export interface TreeIndex {
  /** At most 1,000 rows after the path, in byte order. */
  page(after: string): readonly KnownPair[];
  find(path: string): readonly [string, string] | undefined;
  put(rows: readonly KnownPair[]): void;
  remove(paths: readonly string[]): void;
  readonly uploads: TreeUploadJournal;
  blocks(key: string): KnownBlocks | undefined;
  putBlocks(key: string, blocks: KnownBlocks): void;
  /** Lists on disk for this run alone. */
  spill(): SpillList;
  sorter(): SortedSpill;
  close(): void;
}

export interface OpenedTreeIndex {
  readonly index: TreeIndex;
  readonly rebuiltBecause?: string;
}

const ROWS_IN_PAGE = 1_000;
const NAME = /^[0-9a-f]{32}\.db$/;

/** @param options.pair What identifies the places, in the caller's order. `options.folder` is made when absent. */
export function openTreeIndex(options: {
  readonly folder: string;
  readonly pair: readonly [string, string];
}): OpenedTreeIndex {
  const { folder, pair } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isTurned = pair[0] > pair[1];
  const ordered = isTurned ? [pair[1], pair[0]] : pair;
  const name = createHash('sha256').update(JSON.stringify(ordered)).digest('hex').slice(0, 32);
  const path = join(folder, `${name}.db`);
  const opened = openDatabase({
    path,
    migrations: TREE_MIGRATIONS,
    probe: 'SELECT count(*) FROM (SELECT 1 FROM pair LIMIT 1), (SELECT 1 FROM upload LIMIT 1)',
    cacheKib: 16 * 1024,
  });
  const { close, database, rebuiltBecause, transaction } = opened;
  const spills = createSpills(folder);
  const index: TreeIndex = {
    ...createPairs(database, transaction, isTurned),
    uploads: createJournal(database),
    ...createBlocks(database),
    spill: () => spills.list(),
    sorter: () => spills.sorter(),
    close() {
      spills.close();
      close();
      // The time of its last use, for `sweepTreeIndexes`.
      const now = new Date();
      utimesSync(path, now, now);
    },
  };
  return { index, ...(rebuiltBecause === undefined ? {} : { rebuiltBecause }) };
}

type PairRow = readonly [path: string, one: string, other: string];

function createPairs(
  database: Database.Database,
  transaction: <T>(work: () => T) => T,
  isTurned: boolean,
): Pick<TreeIndex, 'find' | 'page' | 'put' | 'remove'> {
  const page = database
    .prepare<[string, number], PairRow>(
      'SELECT path, one, other FROM pair WHERE path > ? ORDER BY path LIMIT ?',
    )
    .raw();
  const find = database.prepare<[string], PairRow>('SELECT path, one, other FROM pair WHERE path = ?').raw();
  const put = database.prepare('INSERT OR REPLACE INTO pair (path, one, other) VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM pair WHERE path = ?');
  const tokensOf = ([, one, other]: PairRow): readonly [string, string] =>
    isTurned ? [other, one] : [one, other];
  return {
    page: (after) => page.all(after, ROWS_IN_PAGE).map((row) => ({ path: row[0], tokens: tokensOf(row) })),
    find(path) {
      const row = find.get(path);
      return row && tokensOf(row);
    },
    put(rows) {
      transaction(() => {
        for (const { path, tokens } of rows)
          put.run(path, tokens[isTurned ? 1 : 0], tokens[isTurned ? 0 : 1]);
      });
    },
    remove(paths) {
      transaction(() => {
        for (const path of paths) remove.run(path);
      });
    },
  };
}

interface UploadRow {
  readonly upload_id: string;
  readonly part_size: number;
  readonly token: string | null;
}

function createJournal(database: Database.Database): TreeUploadJournal {
  const load = database.prepare<[string], UploadRow>(
    'SELECT upload_id, part_size, token FROM upload WHERE key = ?',
  );
  const save = database.prepare(
    'INSERT OR REPLACE INTO upload (key, upload_id, part_size, token) VALUES (?, ?, ?, ?)',
  );
  const forget = database.prepare('DELETE FROM upload WHERE key = ?');
  return {
    load(key) {
      const row = load.get(key);
      if (!row) return undefined;
      const { part_size: partSizeBytes, token, upload_id: uploadId } = row;
      return { uploadId, partSizeBytes, ...(token === null ? {} : { token }) };
    },
    save: (key, { partSizeBytes, token, uploadId }) => {
      save.run(key, uploadId, partSizeBytes, token ?? null);
    },
    forget: (key) => {
      forget.run(key);
    },
  };
}

interface BlocksRow {
  readonly token: string;
  readonly block_bytes: number;
  readonly sums: Buffer;
}

function createBlocks(database: Database.Database): Pick<TreeIndex, 'blocks' | 'putBlocks'> {
  const find = database.prepare<[string], BlocksRow>(
    'SELECT token, block_bytes, sums FROM block_list WHERE key = ?',
  );
  const put = database.prepare(
    'INSERT OR REPLACE INTO block_list (key, token, block_bytes, sums) VALUES (?, ?, ?, ?)',
  );
  return {
    blocks(key) {
      const row = find.get(key);
      if (!row) return undefined;
      const sums = Array.from({ length: row.sums.length / 8 }, (_, at) => row.sums.readBigUInt64LE(8 * at));
      return { token: row.token, blockBytes: row.block_bytes, sums };
    },
    putBlocks(key, { blockBytes, sums, token }) {
      const bytes = Buffer.alloc(8 * sums.length);
      for (const [at, sum] of sums.entries()) bytes.writeBigUInt64LE(sum, 8 * at);
      put.run(key, token, blockBytes, bytes);
    },
  };
}

export interface PairReader {
  /** Paths must ascend from call to call, in byte order. */
  known(path: string): readonly [string, string] | undefined;
}

/** Reads along with a walk in order: by pages, not by a query for each path. */
export function createPairReader(index: Pick<TreeIndex, 'find' | 'page'>): PairReader {
  let rows: readonly KnownPair[] = [];
  let at = 0;
  let isOver = false;
  let from = '';
  return {
    known(path) {
      for (;;) {
        while (at < rows.length && isBefore(rows[at]!.path, path)) at += 1;
        if (at < rows.length || isOver) break;
        // A walk that skips far ahead is followed at once.
        const last = rows.at(-1)?.path ?? '';
        from = isBefore(last, path) ? path : last;
        const here = from === path ? index.find(path) : undefined;
        rows = index.page(from);
        at = 0;
        isOver = rows.length < ROWS_IN_PAGE;
        if (here) return here;
        if (from === path) return undefined;
      }
      const row = rows[at];
      return row?.path === path ? row.tokens : undefined;
    },
  };
}

/** Byte order of UTF-8, as SQLite's BINARY has it. Code units agree with it where no surrogate is. */
function isBefore(left: string, right: string): boolean {
  return comparePaths(left, right) < 0;
}

/** Deletes the caches that nobody has used since, by their time, and what killed runs left. Never fails: they are caches. */
export function sweepTreeIndexes(folder: string, unusedSinceMs: number): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!NAME.test(name)) continue;
      const path = join(folder, name);
      if (statSync(path).mtimeMs >= unusedSinceMs) continue;
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    }
  } catch {
    // Another process sweeps as well, or the folder is not ours to read.
  }
}
