import type Database from 'better-sqlite3';
import type { BlobHash, BlobLocation, Chunk, PackHash } from '../model/entry.ts';
import { isBlob } from './blob-sql.ts';

interface Row {
  place: number;
  pack: string | null;
  offset: number | null;
  chunks: string | null;
}

const ASKED = { repository: 'asked.repository', hash: 'asked.hash' };

/** A blob's place in a pack; `offset` in bytes from the pack's start. */
interface PackedRow {
  readonly hash: BlobHash;
  readonly offset: number;
}

/** An object that the store reported as stored. */
export interface UnconfirmedRow {
  readonly key: string;
  readonly sizeBytes: number;
}

/**
 * The blobs known to be on one repository, with their locations. A row is written only after the store
 * answered for the object (or a commit named it), so a row is a checkpoint: its object need not be sent
 * again. Its key stays unconfirmed until a later listing finds the object on the store; until then no commit
 * may name it.
 */
export class BlobTable {
  readonly #repository: number;
  readonly #find: Database.Statement<[number, string], Row>;
  readonly #has: Database.Statement<[number, string], number>;
  readonly #hasObject: Database.Statement<[number, string], number>;
  readonly #insert: Database.Statement<[number, string, number, number | null, number | null, string | null]>;
  readonly #remove: Database.Statement<[number, string]>;
  readonly #findPack: Database.Statement<[number, string], number>;
  readonly #insertPack: Database.Statement<[number, string]>;
  readonly #any: Database.Statement<[number], number>;
  readonly #noteSent: Database.Statement<[number, string, number]>;
  readonly #unconfirmed: Database.Statement<[number, number], UnconfirmedRow>;
  readonly #confirm: Database.Statement<[number, string]>;
  readonly #removeObject: Database.Statement<{ repository: number; hash: string }>;
  readonly #removePack: Database.Statement<[number, string]>;

  constructor(database: Database.Database, repository: number) {
    this.#repository = repository;
    const found = `FROM (SELECT ? AS repository, ? AS hash) asked JOIN blob b ON ${isBlob('b', ASKED)}`;
    this.#find = database.prepare(
      `SELECT b.place, p.hash AS pack, b.offset, b.chunks ${found} LEFT JOIN pack p ON p.id = b.pack`,
    );
    this.#has = database.prepare<[number, string], number>(`SELECT 1 ${found}`).pluck();
    this.#hasObject = database
      .prepare<[number, string], number>(`SELECT 1 ${found} WHERE b.place = 1`)
      .pluck();
    this.#insert = database.prepare(
      `INSERT INTO blob (repository, hash, place, pack, offset, chunks)
       SELECT * FROM (SELECT ? AS repository, ? AS hash, ?, ?, ?, ?) asked
       WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE ${isBlob('b', ASKED)})`,
    );
    this.#remove = database.prepare(`DELETE FROM blob WHERE rowid IN (SELECT b.rowid ${found})`);
    this.#findPack = database
      .prepare<[number, string], number>('SELECT id FROM pack WHERE repository = ? AND hash = ?')
      .pluck();
    this.#insertPack = database.prepare('INSERT INTO pack (repository, hash) VALUES (?, ?)');
    this.#any = database.prepare<[number], number>('SELECT 1 FROM blob WHERE repository = ? LIMIT 1').pluck();
    this.#noteSent = database.prepare(
      'INSERT OR REPLACE INTO unconfirmed (repository, key, size) VALUES (?, ?, ?)',
    );
    this.#unconfirmed = database.prepare(
      'SELECT key, size AS sizeBytes FROM unconfirmed WHERE repository = ? ORDER BY key LIMIT ?',
    );
    this.#confirm = database.prepare('DELETE FROM unconfirmed WHERE repository = ? AND key <= ?');
    // Both read every row, but they run only when a store has lost something.
    this.#removeObject = database.prepare(
      `DELETE FROM blob WHERE repository = @repository
       AND ((place = 1 AND hash = @hash) OR (place = 3 AND instr(chunks, @hash) > 0))`,
    );
    this.#removePack = database.prepare(
      'DELETE FROM blob WHERE pack = (SELECT id FROM pack WHERE repository = ? AND hash = ?)',
    );
  }

  /** Whether no blob is known, so that a first push can skip a lookup for each file. */
  isEmpty(): boolean {
    return this.#any.get(this.#repository) === undefined;
  }

  has(hash: BlobHash): boolean {
    return this.#has.get(this.#repository, hash) !== undefined;
  }

  /** Whether the blob is an object of its own, as chunks are. */
  hasObject(hash: BlobHash): boolean {
    return this.#hasObject.get(this.#repository, hash) !== undefined;
  }

  locate(hash: BlobHash): BlobLocation | undefined {
    const row = this.#find.get(this.#repository, hash);
    return row && toLocation(row);
  }

  add(hash: BlobHash, location: BlobLocation): void {
    switch (location.in) {
      case 'nowhere':
        return;
      case 'object':
        this.#insert.run(this.#repository, hash, 1, null, null, null);
        return;
      case 'pack':
        this.#insert.run(this.#repository, hash, 2, this.#packId(location.pack), location.offset, null);
        return;
      case 'chunks':
        this.#insert.run(
          this.#repository,
          hash,
          3,
          null,
          null,
          JSON.stringify(location.chunks.map((chunk) => [chunk.hash, chunk.sizeBytes])),
        );
        for (const chunk of location.chunks)
          this.#insert.run(this.#repository, chunk.hash, 1, null, null, null);
        return;
    }
  }

  /** Adds all blobs of one pack. */
  addPack(pack: PackHash, blobs: readonly PackedRow[]): void {
    const id = this.#packId(pack);
    for (const { hash, offset } of blobs) this.#insert.run(this.#repository, hash, 2, id, offset, null);
  }

  /** Removes a blob that is missing on the repository. */
  remove(hash: BlobHash): void {
    this.#remove.run(this.#repository, hash);
  }

  /**
   * Records an object that the store has accepted as unconfirmed. Call it before the object's rows are
   * written, or with them.
   */
  noteSent(key: string, sizeBytes: number): void {
    this.#noteSent.run(this.#repository, key, sizeBytes);
  }

  /** The first unconfirmed objects in order of their keys. */
  pageOfUnconfirmed(limit: number): readonly UnconfirmedRow[] {
    return this.#unconfirmed.all(this.#repository, limit);
  }

  confirmUpTo(key: string): void {
    this.#confirm.run(this.#repository, key);
  }

  /** Forgets an object that is missing on the repository, and every file with it as a chunk. */
  removeObject(hash: BlobHash): void {
    this.#removeObject.run({ repository: this.#repository, hash });
  }

  removePack(hash: PackHash): void {
    this.#removePack.run(this.#repository, hash);
  }

  #packId(hash: PackHash): number {
    // Queried each time: a cached id would outlive its row when that is rolled back or forgotten.
    const known = this.#findPack.get(this.#repository, hash);
    return known ?? Number(this.#insertPack.run(this.#repository, hash).lastInsertRowid);
  }
}

export function toLocation(row: Row): BlobLocation {
  if (row.place === 1) return { in: 'object' };
  if (row.place === 2) return { in: 'pack', pack: row.pack as PackHash, offset: row.offset ?? 0 };
  const chunks = JSON.parse(row.chunks ?? '[]') as [BlobHash, number][];
  return { in: 'chunks', chunks: chunks.map(([hash, sizeBytes]): Chunk => ({ hash, sizeBytes })) };
}
