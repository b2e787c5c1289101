import type Database from 'better-sqlite3';
import type { BlobHash, BlobLocation, Chunk, PackHash, StoredBlob } from '../model/entry.ts';
import { isBlob } from './blob-sql.ts';

interface Row {
  place: number;
  pack: string | null;
  offset: number | null;
  chunks: string | null;
  stored: number | null;
  generation: number | null;
}

type NewRow = [
  repository: number,
  hash: string,
  place: number,
  pack: number | null,
  offset: number | null,
  chunks: string | null,
  stored: number | null,
  generation: number | null,
];

const ASKED = { repository: 'asked.repository', hash: 'asked.hash' };

/** A blob's place in a pack; `offset` in bytes from the pack's start. */
interface PackedRow {
  readonly hash: BlobHash;
  readonly offset: number;
  readonly storedBytes?: number;
}

/** Rows that one statement reads before others change them. */
const PAGE_ROWS = 10_000;

interface PrunedRow {
  readonly id: number;
  readonly hash: BlobHash;
  readonly chunks: string | null;
  readonly generation: number | null;
}

/** Whether nothing new may rely on a location. */
export interface LocationFilter {
  avoidsObject(hash: BlobHash, generation: number | undefined): boolean;
  avoidsPack(hash: PackHash): boolean;
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
  readonly #objectOf: Database.Statement<[number, string], Pick<Row, 'stored' | 'generation'>>;
  readonly #insert: Database.Statement<NewRow>;
  readonly #remove: Database.Statement<[number, string]>;
  readonly #findPack: Database.Statement<[number, string], number>;
  readonly #insertPack: Database.Statement<[number, string]>;
  readonly #any: Database.Statement<[number], number>;
  readonly #noteSent: Database.Statement<[number, string, number]>;
  readonly #unconfirmed: Database.Statement<[number, number], UnconfirmedRow>;
  readonly #confirm: Database.Statement<[number, string]>;
  readonly #removeObject: Database.Statement<{ repository: number; hash: string }>;
  readonly #removePack: Database.Statement<[number, string]>;
  readonly #packs: Database.Statement<[number], PackHash>;
  readonly #pageOfObjects: Database.Statement<[number, number, number], PrunedRow>;
  readonly #removeRow: Database.Statement<[number]>;
  #filter: LocationFilter | undefined;

  constructor(database: Database.Database, repository: number) {
    this.#repository = repository;
    const found = `FROM (SELECT ? AS repository, ? AS hash) asked JOIN blob b ON ${isBlob('b', ASKED)}`;
    this.#find = database.prepare(
      `SELECT b.place, p.hash AS pack, b.offset, b.chunks, b.stored, b.generation ${found} LEFT JOIN pack p ON p.id = b.pack`,
    );
    this.#has = database.prepare<[number, string], number>(`SELECT 1 ${found}`).pluck();
    this.#objectOf = database.prepare(`SELECT b.stored, b.generation ${found} WHERE b.place = 1`);
    this.#insert = database.prepare(
      `INSERT INTO blob (repository, hash, place, pack, offset, chunks, stored, generation)
       SELECT * FROM (SELECT ? AS repository, ? AS hash, ?, ?, ?, ?, ?, ?) asked
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
    this.#packs = database.prepare<[number], PackHash>('SELECT hash FROM pack WHERE repository = ?').pluck();
    this.#pageOfObjects = database.prepare(
      `SELECT rowid AS id, hash, chunks, generation FROM blob
       WHERE repository = ? AND place <> 2 AND rowid > ? ORDER BY rowid LIMIT ?`,
    );
    this.#removeRow = database.prepare('DELETE FROM blob WHERE rowid = ?');
  }

  /** From now on, adds no location that the filter avoids. */
  addOnly(filter: LocationFilter): void {
    this.#filter = filter;
  }

  /** Removes every location that the filter avoids. Reads every row. */
  removeAvoided(filter: LocationFilter): void {
    for (const pack of this.#packs.all(this.#repository)) if (filter.avoidsPack(pack)) this.removePack(pack);
    for (let after = 0; ; ) {
      const rows = this.#pageOfObjects.all(this.#repository, after, PAGE_ROWS);
      for (const row of rows) if (isAvoided(row, filter)) this.#removeRow.run(row.id);
      const last = rows.at(-1);
      if (!last) return;
      after = last.id;
    }
  }

  /** Whether no blob is known, so that a first push can skip a lookup for each file. */
  isEmpty(): boolean {
    return this.#any.get(this.#repository) === undefined;
  }

  has(hash: BlobHash): boolean {
    return this.#has.get(this.#repository, hash) !== undefined;
  }

  /** How the blob is stored as an object of its own, as chunks are; undefined if it is not. */
  objectOf(hash: BlobHash): StoredBlob | undefined {
    const row = this.#objectOf.get(this.#repository, hash);
    return row && toStored(row);
  }

  locate(hash: BlobHash): BlobLocation | undefined {
    const row = this.#find.get(this.#repository, hash);
    return row && toLocation(row);
  }

  add(hash: BlobHash, location: BlobLocation): void {
    const filter = this.#filter;
    switch (location.in) {
      case 'nowhere':
        return;
      case 'object':
        this.#addObject(hash, location);
        return;
      case 'pack':
        if (filter?.avoidsPack(location.pack)) return;
        this.#addPacked(this.#packId(location.pack), { hash, ...location });
        return;
      case 'chunks': {
        const { chunks } = location;
        for (const chunk of chunks) this.#addObject(chunk.hash, chunk);
        if (chunks.some((chunk) => filter?.avoidsObject(chunk.hash, chunk.generation))) return;
        const text = JSON.stringify(chunks.map(chunkToRow));
        this.#insert.run(this.#repository, hash, 3, null, null, text, null, null);
        return;
      }
    }
  }

  /** Adds all blobs of one pack. */
  addPack(pack: PackHash, blobs: readonly PackedRow[]): void {
    if (this.#filter?.avoidsPack(pack)) return;
    const id = this.#packId(pack);
    for (const blob of blobs) this.#addPacked(id, blob);
  }

  #addObject(hash: BlobHash, { generation, storedBytes }: StoredBlob): void {
    if (this.#filter?.avoidsObject(hash, generation)) return;
    this.#insert.run(this.#repository, hash, 1, null, null, null, storedBytes ?? null, generation ?? null);
  }

  #addPacked(pack: number, { hash, offset, storedBytes }: PackedRow): void {
    this.#insert.run(this.#repository, hash, 2, pack, offset, null, storedBytes ?? null, null);
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
  if (row.place === 1) return { in: 'object', ...toStored(row) };
  if (row.place === 2)
    return { in: 'pack', pack: row.pack as PackHash, offset: row.offset ?? 0, ...toStored(row) };
  return { in: 'chunks', chunks: toChunks(row.chunks) };
}

function toStored({ generation, stored }: Pick<Row, 'stored' | 'generation'>): StoredBlob {
  return {
    ...(stored === null ? {} : { storedBytes: stored }),
    ...(generation === null ? {} : { generation }),
  };
}

/** Hash and size; what is null or left out at the end is that of plain content of the first generation. */
type ChunkRow = [hash: BlobHash, sizeBytes: number, stored?: number | null, generation?: number];

function chunkToRow({ generation, hash, sizeBytes, storedBytes }: Chunk): ChunkRow {
  if (generation !== undefined) return [hash, sizeBytes, storedBytes ?? null, generation];
  return storedBytes === undefined ? [hash, sizeBytes] : [hash, sizeBytes, storedBytes];
}

function toChunks(text: string | null): readonly Chunk[] {
  const rows = JSON.parse(text ?? '[]') as ChunkRow[];
  return rows.map(([hash, sizeBytes, stored = null, generation = null]) => ({
    hash,
    sizeBytes,
    ...toStored({ stored, generation }),
  }));
}

function isAvoided({ chunks, generation, hash }: PrunedRow, filter: LocationFilter): boolean {
  if (chunks === null) return filter.avoidsObject(hash, generation ?? undefined);
  return toChunks(chunks).some((chunk) => filter.avoidsObject(chunk.hash, chunk.generation));
}
