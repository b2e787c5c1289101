/** The schema of a tree index as numbered steps. As in `migrations.ts`, a released step is never edited. */
export const TREE_MIGRATIONS: readonly string[] = [
  `
  -- The item with this token on one side equals the one with that token on the other.
  CREATE TABLE pair (path TEXT PRIMARY KEY, one TEXT NOT NULL, other TEXT NOT NULL) WITHOUT ROWID;

  -- Multipart uploads under way: what lets a killed one go on.
  CREATE TABLE upload (
    key TEXT PRIMARY KEY,
    upload_id TEXT NOT NULL,
    part_size INTEGER NOT NULL,
    token TEXT
  ) WITHOUT ROWID;

  -- CRC64NVMEs of the blocks of a large object (8 bytes each, little-endian), for deltas.
  CREATE TABLE block_list (
    key TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    block_bytes INTEGER NOT NULL,
    sums BLOB NOT NULL
  ) WITHOUT ROWID;
  `,
  `
  -- 1: their contents were compared, or one was copied to the other; 0: only size and time say that they are equal.
  ALTER TABLE pair ADD COLUMN proven INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- The modification time that an object keeps in its metadata (ns since the epoch, NULL: none), while it has this token and upload time.
  -- side: 0 and 1, in the order of the file's pair of places.
  CREATE TABLE object_time (
    side INTEGER NOT NULL,
    path TEXT NOT NULL,
    token TEXT NOT NULL,
    modified_ms REAL NOT NULL,
    mtime_ns TEXT,
    PRIMARY KEY (side, path)
  ) WITHOUT ROWID;
  `,
  `
  -- Bits from now on: 1: their contents were compared, or one was copied to the other; 2: the times were seen to. What was known by
  -- content may have a stale time.
  UPDATE pair SET proven = CASE proven WHEN 1 THEN 1 ELSE 2 END;
  `,
];
