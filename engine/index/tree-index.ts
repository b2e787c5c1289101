/**
 * Remembers what was learned about one pair of places: one SQLite file in the user's cache. The pair has no
 * direction, so an upload and a later download share it. It is a cache: losing it costs time, never data.
 * Several processes may use it at once.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { DrayError, type ErrorCode } from '../api/error.ts';
import { createKnownPairs, type KnownPairs } from './known-pairs.ts';
import { createObjectTimes, type ObjectTimes } from './object-times.ts';
import { type OpenedDatabase, openDatabase } from './open-database.ts';
import { TREE_MIGRATIONS } from './tree-migrations.ts';
import { createSpills, type SortedSpill, type SpilledPaths, type SpillList } from './tree-spill.ts';

export interface KnownBlocks {
  /** The token of the object that the blocks belong to. */
  readonly token: string;
  readonly blockBytes: number;
  readonly sums: readonly bigint[];
}

export interface TreeUpload {
  readonly uploadId: string;
  readonly partSizeBytes: number;
  readonly token?: string;
}

/** The upload journal that transfers expect: a row survives the process once `save` has returned. */
export interface TreeUploadJournal {
  load(key: string): TreeUpload | undefined;
  save(key: string, upload: TreeUpload): void;
  forget(key: string): void;
  /** All unfinished uploads. */
  all(): { readonly key: string; readonly uploadId: string }[];
}

export interface TreeIndex extends KnownPairs, ObjectTimes {
  readonly uploads: TreeUploadJournal;
  /** Removed together with the pair of the same path. */
  blocks(key: string): KnownBlocks | undefined;
  putBlocks(key: string, blocks: KnownBlocks): void;
  /** Lists on disk for this run only. */
  spill(): SpillList;
  spilledPaths(): SpilledPaths;
  sorter(): SortedSpill;
  close(): void;
}

export interface OpenedTreeIndex {
  readonly index: TreeIndex;
  /** Why an existing file was replaced. */
  readonly rebuiltBecause?: string;
  /** Why the index is kept only for this run: the folder cannot hold it. */
  readonly temporaryBecause?: string;
}

export interface TreeIndexOptions {
  /** Created when absent. */
  readonly folder: string;
  /** The identities of both places, in the caller's order. */
  readonly pair: readonly [string, string];
  /** Keep it only for this run. */
  readonly isTemporary?: boolean;
}

/**
 * Never fails for lack of a place to store the index: a folder that cannot be written costs time, not the
 * run.
 */
export function openTreeIndex(options: TreeIndexOptions): OpenedTreeIndex {
  const { folder, isTemporary = false, pair } = options;
  if (isTemporary) return { index: openTemporary(pair) };
  const name = createHash('sha256')
    .update(JSON.stringify([...pair].sort()))
    .digest('hex')
    .slice(0, 32);
  const path = join(folder, `${name}.db`);
  try {
    makeFolder(folder);
    const opened = open(path);
    const { rebuiltBecause } = opened;
    const index = createIndex(opened, { isTurned: isTurned(pair), folder, onClosed: () => markUsed(path) });
    return { index, ...(rebuiltBecause === undefined ? {} : { rebuiltBecause }) };
  } catch (error) {
    if (!(error instanceof DrayError && ONLY_THE_CACHE.has(error.code))) throw error;
    return { index: openTemporary(pair), temporaryBecause: error.message };
  }
}

function openTemporary(pair: TreeIndexOptions['pair']): TreeIndex {
  // SQLite's name for a temporary database that ends with its connection and may spill to disk.
  return createIndex(open(''), { isTurned: isTurned(pair), folder: tmpdir(), onClosed: () => {} });
}

function isTurned(pair: TreeIndexOptions['pair']): boolean {
  return pair[0] > pair[1];
}

/**
 * Errors that concern only the cache: missing permission, a full disk, a newer schema, or a process that
 * holds it for long.
 */
const ONLY_THE_CACHE: ReadonlySet<ErrorCode> = new Set(['io', 'diskFull', 'formatTooNew', 'locked']);

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { message } = cause as Error;
    throw new DrayError('io', `The cache folder ${folder} cannot be made: ${message}.`, { cause });
  }
}

function open(path: string): OpenedDatabase {
  return openDatabase({
    path,
    migrations: TREE_MIGRATIONS,
    probe:
      'SELECT count(*) FROM (SELECT 1 FROM pair LIMIT 1), (SELECT 1 FROM upload LIMIT 1), (SELECT 1 FROM block_list LIMIT 1)',
    cacheKib: 16 * 1024,
  });
}

function createIndex(
  { close, database, transaction }: OpenedDatabase,
  options: { readonly isTurned: boolean; readonly folder: string; readonly onClosed: () => void },
): TreeIndex {
  const pairs = createKnownPairs(database, transaction, options.isTurned);
  const { removeBlocks, ...blocks } = createBlocks(database);
  const { removeObjectTimes, ...times } = createObjectTimes(database, transaction, options.isTurned);
  const spills = createSpills(options.folder);
  return {
    ...pairs,
    remove: (paths) =>
      transaction(() => {
        pairs.remove(paths);
        for (const path of paths) {
          removeBlocks(path);
          removeObjectTimes(path);
        }
      }),
    uploads: createJournal(database),
    ...blocks,
    ...times,
    spill: () => spills.list(),
    spilledPaths: () => spills.paths(),
    sorter: () => spills.sorter(),
    close() {
      spills[Symbol.dispose]();
      close();
      options.onClosed();
    },
  };
}

/** Sets the time that `sweepTreeIndexes` reads. */
function markUsed(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // The file was damaged and set aside on closing, or another process deleted it.
  }
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
  const all = database.prepare<[], { key: string; uploadId: string }>(
    'SELECT key, upload_id AS uploadId FROM upload ORDER BY key',
  );
  return {
    all: () => all.all(),
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

interface Blocks extends Pick<TreeIndex, 'blocks' | 'putBlocks'> {
  removeBlocks(key: string): void;
}

function createBlocks(database: Database.Database): Blocks {
  const find = database.prepare<[string], BlocksRow>(
    'SELECT token, block_bytes, sums FROM block_list WHERE key = ?',
  );
  const put = database.prepare(
    'INSERT OR REPLACE INTO block_list (key, token, block_bytes, sums) VALUES (?, ?, ?, ?)',
  );
  const remove = database.prepare('DELETE FROM block_list WHERE key = ?');
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
    removeBlocks: (key) => {
      remove.run(key);
    },
  };
}
