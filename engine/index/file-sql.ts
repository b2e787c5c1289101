/** The statements of the `file` table. They keep the invariant of `same` that `migrations.ts` states. */
import { isBlob } from './blob-sql.ts';

/**
 * A row that equals its base holds the base in its working columns; these expressions read the base from the
 * right ones.
 */
const BASE_COLUMNS = `
  iif(f.same, f.kind, f.base_kind) AS base_kind,
  iif(f.same, f.size, f.base_size) AS base_size,
  f.base_mtime_ns AS base_mtime_ns,
  iif(f.same, f.executable, f.base_executable) AS base_executable,
  iif(f.same, f.hash, f.base_hash) AS base_hash`;

/** The columns of `StatRow` in file-table.ts. */
const STAT_COLUMNS = `path, same + 2 * (hash IS NULL) AS flags, kind,
  size AS sizeBytes, mtime_ms AS mtimeMs, ctime_ms AS ctimeMs, inode`;

/** The columns of `FileRow` in file-row.ts. */
const CHANGE_COLUMNS = `f.path, f.kind, f.size, f.mtime_ns, f.executable, f.hash, ${BASE_COLUMNS},
  b.place, p.hash AS pack, b.offset, b.chunks AS chunks, b.stored, b.generation`;

/** The location of the working content on the repository that is the first parameter. */
const LOCATED_BY = (hash: string) => `
  LEFT JOIN blob b ON ${isBlob('b', { repository: '?', hash })}
  LEFT JOIN pack p ON p.id = b.pack`;

/**
 * Rows equal to the base count as stored on the repository (first parameter), unless the second parameter (1)
 * puts even those in doubt.
 */
const PENDING_AMONG = `
  FROM file f LEFT JOIN blob b ON ${isBlob('b', { repository: '?', hash: 'f.hash' })}
  WHERE (f.same = 0 OR ?) AND f.kind = 1`;
/** The row is unread, or its content is not known to be on the repository. */
const IS_PENDING = '(f.hash IS NULL OR (b.hash IS NULL AND f.size > 0))';
const PENDING = `${PENDING_AMONG} AND ${IS_PENDING}`;
/** Differs from the base and is already on the remote. */
const IS_PLACED = `(f.same = 0 AND NOT ${IS_PENDING} AND NOT (f.base_kind IS f.kind AND f.base_hash IS f.hash))`;

/** The content just read equals the base's. */
const READ_IS_BASE = 'base_kind IS 1 AND base_hash IS @hash AND base_executable IS @executable';

/** Statements on all rows run page by page: SQLite keeps all rows that one statement changes in memory. */
const IN_PAGE = 'path > ? AND path <= ?';

/** The chunks of larger files are queried separately. Smaller ones have about 60 chunks at most. */
export const LARGE_FILE_BYTES = 2 ** 28;

export const FILE_SQL = {
  pageOfStats: `
    SELECT ${STAT_COLUMNS} FROM file WHERE path > ? ORDER BY path LIMIT ?`,

  statOf: `SELECT ${STAT_COLUMNS} FROM file WHERE path = ?`,

  setWorking: `
    INSERT INTO file (path, same, kind, size, mtime_ms, ctime_ms, inode, executable, hash)
    VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET
      base_kind = iif(same, kind, base_kind), base_size = iif(same, size, base_size),
      base_executable = iif(same, executable, base_executable), base_hash = iif(same, hash, base_hash),
      same = 0, kind = excluded.kind, size = excluded.size, mtime_ms = excluded.mtime_ms, ctime_ms = excluded.ctime_ms,
      inode = excluded.inode, executable = excluded.executable, mtime_ns = NULL, hash = excluded.hash`,

  setAbsent: `
    UPDATE file SET
      base_kind = iif(same, kind, base_kind), base_size = iif(same, size, base_size),
      base_executable = iif(same, executable, base_executable), base_hash = iif(same, hash, base_hash),
      same = 0, kind = 0, size = 0, mtime_ms = 0, ctime_ms = 0, inode = 0, executable = 0, mtime_ns = NULL, hash = NULL
    WHERE path = ?`,

  dropIfNowhere: 'DELETE FROM file WHERE path = ? AND kind = 0 AND base_kind IS NULL AND same = 0',
  dropNowhere: `DELETE FROM file WHERE ${IN_PAGE} AND kind = 0 AND base_kind IS NULL AND same = 0`,

  /** Marks the row as equal to the base again when content and mode agree. */
  settle: `
    UPDATE file SET same = 1, base_kind = NULL, base_size = NULL, base_executable = NULL, base_hash = NULL
    WHERE path = ? AND same = 0 AND base_kind = kind AND base_hash = hash AND base_executable = executable`,

  setRead: `
    UPDATE file SET
      same = (${READ_IS_BASE}),
      base_kind = iif(${READ_IS_BASE}, NULL, base_kind), base_size = iif(${READ_IS_BASE}, NULL, base_size),
      base_executable = iif(${READ_IS_BASE}, NULL, base_executable), base_hash = iif(${READ_IS_BASE}, NULL, base_hash),
      kind = 1, size = @size, mtime_ms = @mtime_ms, ctime_ms = @ctime_ms, inode = @inode,
      executable = @executable, mtime_ns = @mtime_ns, hash = @hash
    WHERE path = @path AND same = 0`,

  /**
   * A faster form for a path that the base does not have, of which a first push has many. Otherwise changes
   * nothing.
   */
  setNewRead: `
    UPDATE file SET size = ?, mtime_ms = ?, ctime_ms = ?, inode = ?, executable = ?, mtime_ns = ?, hash = ?
    WHERE path = ? AND same = 0 AND kind = 1 AND base_kind IS NULL`,

  /** Marks content that was read but could not be stored as unread. */
  forgetRead: `
    UPDATE file SET hash = NULL, mtime_ns = NULL, inode = -1
    WHERE same = 0 AND kind = 1 AND hash = ? RETURNING path`,

  setWritten: `
    INSERT INTO file (path, same, kind, size, mtime_ms, ctime_ms, inode, executable, mtime_ns, hash, base_mtime_ns)
    VALUES (@path, 1, @kind, @size, @mtime_ms, @ctime_ms, @inode, @executable, @mtime_ns, @hash, @mtime_ns)
    ON CONFLICT (path) DO UPDATE SET
      same = 1, kind = excluded.kind, size = excluded.size, mtime_ms = excluded.mtime_ms, ctime_ms = excluded.ctime_ms,
      inode = excluded.inode, executable = excluded.executable, mtime_ns = excluded.mtime_ns, hash = excluded.hash,
      base_kind = NULL, base_size = NULL, base_executable = NULL, base_hash = NULL,
      base_mtime_ns = excluded.base_mtime_ns`,

  expandBase: `
    UPDATE file SET same = 0, base_kind = kind, base_size = size, base_executable = executable, base_hash = hash
    WHERE path = ? AND same = 1`,

  dropBase: `
    UPDATE file SET base_kind = NULL, base_size = NULL, base_mtime_ns = NULL, base_executable = NULL, base_hash = NULL
    WHERE path = ?`,

  setBase: `
    INSERT INTO file (path, same, kind, size, mtime_ms, ctime_ms, inode, executable,
                      base_kind, base_size, base_mtime_ns, base_executable, base_hash)
    VALUES (@path, 0, 0, 0, 0, 0, 0, 0, @kind, @size, @mtime_ns, @executable, @hash)
    ON CONFLICT (path) DO UPDATE SET
      base_kind = excluded.base_kind, base_size = excluded.base_size, base_mtime_ns = excluded.base_mtime_ns,
      base_executable = excluded.base_executable, base_hash = excluded.base_hash`,

  clearBase: `
    UPDATE file SET same = 0, base_kind = NULL, base_size = NULL, base_mtime_ns = NULL,
                    base_executable = NULL, base_hash = NULL
    WHERE ${IN_PAGE} AND (same = 1 OR base_kind IS NOT NULL)`,

  /** Marks the content of larger files as unread. */
  forgetLarge: `UPDATE file SET hash = NULL, mtime_ns = NULL WHERE ${IN_PAGE} AND same = 0 AND kind = 1 AND size > ?`,

  /** Uses the base entry as the working copy until the next scan: the recorded stat matches no file. */
  leaveAsBase: `
    UPDATE file SET
      same = 1, kind = base_kind, size = base_size, executable = base_executable, hash = base_hash, mtime_ns = base_mtime_ns,
      mtime_ms = 0, ctime_ms = 0, inode = -1,
      base_kind = NULL, base_size = NULL, base_executable = NULL, base_hash = NULL
    WHERE path = ? AND same = 0 AND base_kind IS NOT NULL`,
  leaveOutNew: 'DELETE FROM file WHERE path = ? AND same = 0 AND base_kind IS NULL',

  acceptDeletions: `DELETE FROM file WHERE ${IN_PAGE} AND same = 0 AND kind = 0`,
  acceptContent: `
    UPDATE file SET same = 1, base_mtime_ns = mtime_ns,
                    base_kind = NULL, base_size = NULL, base_executable = NULL, base_hash = NULL
    WHERE ${IN_PAGE} AND same = 0 AND hash IS NOT NULL`,

  /** Files with content in the base that are empty now. */
  emptied: `
    SELECT count(*) FROM file
    WHERE same = 0 AND kind = 1 AND size = 0 AND base_kind = 1 AND base_size > 0`,
  emptiedFrom: `
    SELECT path FROM file
    WHERE same = 0 AND kind = 1 AND size = 0 AND base_kind = 1 AND base_size > 0 ORDER BY path LIMIT ?`,
  baseFiles: 'SELECT count(*) FROM file WHERE iif(same, kind, base_kind) = 1',

  anyBetween: 'SELECT 1 FROM file WHERE path >= ? AND path < ? AND kind > 0 LIMIT 1',

  endOfPage: 'SELECT path FROM file WHERE path > ? ORDER BY path LIMIT 1 OFFSET ?',

  pageOfPendingReads: `SELECT f.path AS path, f.size AS sizeBytes ${PENDING} AND f.path > ? ORDER BY f.path LIMIT ?`,
  pendingTotals: `
    SELECT coalesce(sum(${IS_PENDING}), 0) AS files, coalesce(sum(iif(${IS_PENDING}, f.size, 0)), 0) AS bytes,
      coalesce(sum(${IS_PLACED}), 0) AS placedFiles, coalesce(sum(iif(${IS_PLACED}, f.size, 0)), 0) AS placedBytes
    ${PENDING_AMONG}`,

  /**
   * How many objects the pending reads can become: none for packed files, one per average chunk for chunked
   * ones.
   */
  pendingObjects: `SELECT coalesce(sum(CASE
      WHEN f.size < @packBelow OR f.size = 0 THEN 0
      WHEN f.size > @chunkAbove THEN f.size / @chunkAverage + 1
      ELSE 1 END), 0) AS objects
    ${PENDING.replace('?', '@repository').replace('?', '@isAll')}`,

  /** Read changes by kind; a rename counts as one addition and one deletion. */
  changeTotals: `
    SELECT
      coalesce(sum(base_kind IS NULL), 0) AS added,
      coalesce(sum(kind = 0), 0) AS deleted,
      coalesce(sum(kind > 0 AND base_kind IS NOT NULL AND base_kind IS kind AND base_hash IS hash), 0) AS mode,
      coalesce(sum(kind > 0 AND base_kind IS NOT NULL AND NOT (base_kind IS kind AND base_hash IS hash)), 0) AS modified,
      coalesce(sum(iif(kind = 1 AND NOT (base_kind IS kind AND base_hash IS hash), size, 0)), 0) AS bytes
    FROM file WHERE same = 0 AND (kind <> 1 OR hash IS NOT NULL)`,

  workingPaths: 'SELECT path FROM file WHERE kind > 0 AND path > ? ORDER BY path LIMIT ?',

  /** Same kind and size as the base but another stat: only the content can decide. */
  pageOfUndecided: `
    SELECT path, size AS sizeBytes FROM file
    WHERE same = 0 AND kind = 1 AND hash IS NULL AND base_kind = 1 AND base_size = size AND path > ?
    ORDER BY path LIMIT ?`,

  /** Without the chunks of large files, which could exceed memory within one page of rows. */
  pageOfChanges: `
    SELECT ${CHANGE_COLUMNS.replace('b.chunks', `iif(f.size > ${LARGE_FILE_BYTES}, NULL, b.chunks)`)} FROM file f ${LOCATED_BY('f.hash')}
    WHERE f.same = 0 AND f.path > ? ORDER BY f.path LIMIT ?`,

  chunksOf: `
    SELECT b.chunks FROM (SELECT ? AS repository, ? AS hash) asked
    JOIN blob b ON ${isBlob('b', { repository: 'asked.repository', hash: 'asked.hash' })}`,

  change: `SELECT ${CHANGE_COLUMNS} FROM file f ${LOCATED_BY('f.hash')} WHERE f.path = ?`,

  pageOfEntries: `
    SELECT ${CHANGE_COLUMNS} FROM file f ${LOCATED_BY('iif(f.same, f.hash, f.base_hash)')}
    WHERE f.path >= ? AND f.path <= ? AND (f.same = 1 OR f.base_kind IS NOT NULL) ORDER BY f.path`,

  /** A file of the base whose content has no known location. */
  anyUnplacedBase: `
    SELECT 1 FROM file f LEFT JOIN blob b
      ON ${isBlob('b', { repository: '?', hash: 'iif(f.same, f.hash, f.base_hash)' })}
    WHERE iif(f.same, f.kind, f.base_kind) = 1 AND iif(f.same, f.size, f.base_size) > 0 AND b.hash IS NULL
    LIMIT 1`,
} as const;
