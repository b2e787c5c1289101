/**
 * The index's schema as numbered steps. A released step is never edited; a change is a new step. The
 * database's `user_version` is the number of steps applied.
 *
 * Invariant of `file`: a row with `same = 1` is a working file that equals the base commit's entry, and its
 * `base_*` columns are null except `base_mtime_ns`. A row with `same = 0` holds the base entry (if there is
 * one) in `base_*`. So an unchanged dataset is stored once, and accepting a push is one UPDATE.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- One row for each repository that this workspace has met. Everything known of its objects hangs on it.
  CREATE TABLE repository (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    conditional_writes INTEGER,          -- null: not tried yet
    head_ms REAL, list_ms REAL,          -- measured latencies, smoothed
    objects_estimate REAL, objects_low REAL, objects_high REAL, estimated_at_ms REAL
  );

  CREATE TABLE pack (
    id INTEGER PRIMARY KEY,
    repository INTEGER NOT NULL REFERENCES repository (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    UNIQUE (repository, hash)
  );

  -- Blobs known to be on a repository: what the index subtracts. place: 1 own object, 2 in a pack, 3 as chunks.
  CREATE TABLE blob (
    repository INTEGER NOT NULL,
    hash TEXT NOT NULL,
    place INTEGER NOT NULL,
    pack INTEGER,
    offset INTEGER,
    chunks TEXT,                         -- JSON [[hash, size], ...]
    PRIMARY KEY (repository, hash)
  ) WITHOUT ROWID;

  -- The working copy as last read, and the base commit's entry. kind: 0 absent, 1 file, 2 link, 3 empty folder.
  CREATE TABLE file (
    path TEXT PRIMARY KEY,
    same INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ms REAL NOT NULL, ctime_ms REAL NOT NULL, inode REAL NOT NULL,
    executable INTEGER NOT NULL,
    mtime_ns INTEGER,
    hash TEXT,                           -- a link's target; null: not read yet
    base_kind INTEGER, base_size INTEGER, base_mtime_ns INTEGER, base_executable INTEGER, base_hash TEXT
  ) WITHOUT ROWID;

  -- Stored bytes of commits, so that the base commit needs no request.
  CREATE TABLE commit_cache (hash TEXT PRIMARY KEY, stored BLOB NOT NULL) WITHOUT ROWID;

  -- Multipart uploads under way: the checkpoint that lets a killed one go on.
  CREATE TABLE upload (
    repository INTEGER NOT NULL,
    key TEXT NOT NULL,
    upload_id TEXT NOT NULL,
    part_size INTEGER NOT NULL,
    PRIMARY KEY (repository, key)
  ) WITHOUT ROWID;
  `,
  `
  -- Blobs in the order in which they were found to be there, which is that of the paths, all but: a table ordered by hash has each
  -- look-up and each row touch another page, and past the page cache's size each of those is read and written for itself. What
  -- lies in no order is only an index of hash starts (4 bytes), a fifth of the size.
  CREATE TABLE blob_in_order (
    repository INTEGER NOT NULL,
    hash TEXT NOT NULL,                  -- once for each repository: BlobTable sees to that
    place INTEGER NOT NULL,
    pack INTEGER,
    offset INTEGER,
    chunks TEXT
  );
  INSERT INTO blob_in_order SELECT repository, hash, place, pack, offset, chunks FROM blob ORDER BY repository, pack, offset;
  DROP TABLE blob;
  ALTER TABLE blob_in_order RENAME TO blob;
  CREATE INDEX blob_by_hash ON blob (repository, unhex(substr(hash, 1, 8)));
  `,
  `
  -- Objects that a store said it has stored and that were not seen there yet. Their rows in blob count for a push alone, not for a commit.
  CREATE TABLE unconfirmed (
    repository INTEGER NOT NULL,
    key TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (repository, key)
  ) WITHOUT ROWID;
  `,
  `
  -- stored: the object's or the packed blob's bytes on the store if it is compressed. generation: that of an object's key; null: the first.
  ALTER TABLE blob ADD COLUMN stored INTEGER;
  ALTER TABLE blob ADD COLUMN generation INTEGER;

  -- Lists of keys that no new content may have (repository/collection/), as of the round in repository.epoch.
  CREATE TABLE avoid_list (
    repository INTEGER NOT NULL,
    name TEXT NOT NULL,
    raw BLOB NOT NULL,
    PRIMARY KEY (repository, name)
  ) WITHOUT ROWID;
  `,
];
