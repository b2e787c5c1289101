import type Database from 'better-sqlite3';

/** The index's knowledge of one repository. All of it except `id` is only a hint and may be stale. */
export interface KnownRepository {
  readonly id: number;
  /** The round of the last collection whose avoid lists the index has (repository/collection/). */
  readonly round: number;
  readonly conditionalWrites?: boolean;
  readonly headMs?: number;
  readonly listMs?: number;
  readonly objects?: {
    readonly estimate: number;
    readonly low: number;
    readonly high: number;
    readonly atMs: number;
  };
}

interface Row {
  id: number;
  epoch: number;
  conditional_writes: number | null;
  head_ms: number | null;
  list_ms: number | null;
  objects_estimate: number | null;
  objects_low: number | null;
  objects_high: number | null;
  estimated_at_ms: number | null;
}

export class RepositoryTable {
  readonly #database: Database.Database;
  readonly #find: Database.Statement<[string], Row>;

  constructor(database: Database.Database) {
    this.#database = database;
    this.#find = database.prepare(
      `SELECT id, epoch, conditional_writes, head_ms, list_ms, objects_estimate, objects_low, objects_high, estimated_at_ms
       FROM repository WHERE uuid = ?`,
    );
  }

  /** The repository's row, created when new. */
  bind(uuid: string): KnownRepository {
    const row = this.#find.get(uuid);
    if (row) return toKnown(row);
    this.#database.prepare('INSERT INTO repository (uuid, epoch) VALUES (?, 0)').run(uuid);
    return toKnown(this.#find.get(uuid)!);
  }

  /** The avoid lists of the round that the repository's row has, by their names. */
  avoidLists(repository: number): ReadonlyMap<string, Uint8Array> {
    const rows = this.#database
      .prepare<[number], { name: string; raw: Buffer }>(
        'SELECT name, raw FROM avoid_list WHERE repository = ?',
      )
      .all(repository);
    return new Map(rows.map(({ name, raw }) => [name, raw]));
  }

  /** Call it in the transaction that removes from the index what the lists avoid. */
  saveRound(repository: number, round: number, lists: ReadonlyMap<string, Uint8Array>): void {
    this.#database.prepare('DELETE FROM avoid_list WHERE repository = ?').run(repository);
    const insert = this.#database.prepare('INSERT INTO avoid_list (repository, name, raw) VALUES (?, ?, ?)');
    for (const [name, raw] of lists) insert.run(repository, name, raw);
    this.#database.prepare('UPDATE repository SET epoch = ? WHERE id = ?').run(round, repository);
  }

  /** Forgets every object of the repository, so that everything is asked again. */
  forgetObjects(repository: number): void {
    this.#database.prepare('DELETE FROM blob WHERE repository = ?').run(repository);
    this.#database.prepare('DELETE FROM pack WHERE repository = ?').run(repository);
    this.#database.prepare('DELETE FROM unconfirmed WHERE repository = ?').run(repository);
    this.#database.prepare('UPDATE repository SET objects_estimate = NULL WHERE id = ?').run(repository);
  }

  rememberEstimate(
    repository: number,
    objects: { estimate: number; low: number; high: number; atMs: number },
  ): void {
    this.#database
      .prepare(
        'UPDATE repository SET objects_estimate = ?, objects_low = ?, objects_high = ?, estimated_at_ms = ? WHERE id = ?',
      )
      .run(objects.estimate, objects.low, objects.high, objects.atMs, repository);
  }

  rememberLatencies(
    repository: number,
    latencies: { readonly headMs?: number; readonly listMs?: number },
  ): void {
    this.#database
      .prepare(
        'UPDATE repository SET head_ms = coalesce(?, head_ms), list_ms = coalesce(?, list_ms) WHERE id = ?',
      )
      .run(latencies.headMs ?? null, latencies.listMs ?? null, repository);
  }

  rememberConditionalWrites(repository: number, hold: boolean): void {
    this.#database
      .prepare('UPDATE repository SET conditional_writes = ? WHERE id = ?')
      .run(hold ? 1 : 0, repository);
  }

  /**
   * The journal of multipart uploads to the repository, in the form that
   * `transfer/upload/multipart-upload.ts` needs.
   */
  uploadJournal(repository: number): UploadJournalRows {
    const load = this.#database.prepare<[number, string], { upload_id: string; part_size: number }>(
      'SELECT upload_id, part_size FROM upload WHERE repository = ? AND key = ?',
    );
    const save = this.#database.prepare<[number, string, string, number]>(
      'INSERT OR REPLACE INTO upload (repository, key, upload_id, part_size) VALUES (?, ?, ?, ?)',
    );
    const forget = this.#database.prepare<[number, string]>(
      'DELETE FROM upload WHERE repository = ? AND key = ?',
    );
    const all = this.#database.prepare<[number], { key: string; uploadId: string }>(
      'SELECT key, upload_id AS uploadId FROM upload WHERE repository = ? ORDER BY key',
    );
    return {
      all: () => all.all(repository),
      load: (key) => {
        const row = load.get(repository, key);
        return row && { uploadId: row.upload_id, partSizeBytes: row.part_size };
      },
      save: (key, upload) => {
        save.run(repository, key, upload.uploadId, upload.partSizeBytes);
      },
      forget: (key) => {
        forget.run(repository, key);
      },
    };
  }
}

export interface UploadJournalRows {
  /** All unfinished uploads. */
  all(): { readonly key: string; readonly uploadId: string }[];
  load(key: string): { readonly uploadId: string; readonly partSizeBytes: number } | undefined;
  save(key: string, upload: { readonly uploadId: string; readonly partSizeBytes: number }): void;
  forget(key: string): void;
}

function toKnown(row: Row): KnownRepository {
  return {
    id: row.id,
    round: row.epoch,
    ...(row.conditional_writes === null ? {} : { conditionalWrites: row.conditional_writes === 1 }),
    ...(row.head_ms === null ? {} : { headMs: row.head_ms }),
    ...(row.list_ms === null ? {} : { listMs: row.list_ms }),
    ...(row.objects_estimate === null
      ? {}
      : {
          objects: {
            estimate: row.objects_estimate,
            low: row.objects_low ?? 0,
            high: row.objects_high ?? row.objects_estimate,
            atMs: row.estimated_at_ms ?? 0,
          },
        }),
  };
}
