/**
 * All versions of a bucket's keys, in a temporary database, because there may be more than fit in memory:
 * SQLite removes its file when it is closed or the process ends.
 */
import Database from 'better-sqlite3';
import { comparePaths } from '../model/entry.ts';

/** What a key became at some time. */
export interface KeyChange {
  /** The key, below the prefix. */
  readonly path: string;
  /** Milliseconds since the epoch: of the version itself. */
  readonly modifiedMs: number;
  /** Absent: the key was deleted. */
  readonly content?: KeyContent;
}

export interface KeyContent {
  readonly versionId: string;
  readonly sizeBytes: number;
  readonly etag: string;
}

/** The changes of a span of time: the last one of each key, in order of their paths. */
export interface VersionStep {
  /** The time of the last change. */
  readonly lastMs: number;
  readonly changes: readonly KeyChange[];
}

interface Row {
  readonly at: number;
  readonly path: string;
  readonly modified: number;
  readonly version: string;
  readonly size: number | null;
  readonly etag: string;
}

export class VersionTable implements Disposable {
  readonly #database = new Database('');
  readonly #insert: Database.Statement;
  #at: Database.Statement<[string, number], Row> | undefined;

  constructor() {
    this.#database.exec(
      'CREATE TABLE change (n INTEGER PRIMARY KEY, at INTEGER, path TEXT, modified INTEGER, version TEXT, size INTEGER, etag TEXT, latest INTEGER)',
    );
    this.#insert = this.#database.prepare(
      'INSERT INTO change (at, path, modified, version, size, etag, latest) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
  }

  /** @param changes Of a key the oldest first. `atMs`: when it counts as made. */
  add(changes: readonly { readonly change: KeyChange; readonly atMs: number; readonly isLatest: boolean }[]) {
    this.#database.transaction(() => {
      for (const { atMs, change, isLatest } of changes) {
        const { content, modifiedMs, path } = change;
        const { etag = '', sizeBytes = null, versionId = '' } = content ?? {};
        this.#insert.run(atMs, path, modifiedMs, versionId, sizeBytes, etag, Number(isLatest));
      }
    })();
  }

  /** Spans of `everyMs`, counted from the epoch, that have changes after `afterMs`. */
  *steps(everyMs: number, afterMs: number): Generator<VersionStep> {
    let changes = new Map<string, KeyChange>();
    let lastMs = 0;
    const rows = this.#database
      .prepare<[number], Row>('SELECT * FROM change WHERE at > ? ORDER BY at, n')
      .iterate(afterMs);
    for (const row of rows) {
      const isNext = Math.floor(row.at / everyMs) !== Math.floor(lastMs / everyMs);
      if (isNext && changes.size > 0) {
        yield { lastMs, changes: inOrder(changes) };
        changes = new Map();
      }
      lastMs = row.at;
      changes.set(row.path, changeOf(row));
    }
    if (changes.size > 0) yield { lastMs, changes: inOrder(changes) };
  }

  /** What the key was at a time, if it was anything. */
  at(path: string, ms: number): KeyChange | undefined {
    this.#at ??= this.#prepareAt();
    const row = this.#at.get(path, ms);
    return row && changeOf(row);
  }

  /** What each key is now, in order of their paths. Deleted keys are left out. */
  *current(): Generator<KeyChange> {
    const query = 'SELECT * FROM change WHERE latest = 1 AND size IS NOT NULL ORDER BY path';
    for (const row of this.#database.prepare<[], Row>(query).iterate()) yield changeOf(row);
  }

  #prepareAt() {
    this.#database.exec('CREATE INDEX change_path ON change (path, at)');
    const query = 'SELECT * FROM change WHERE path = ? AND at <= ? ORDER BY at DESC, n DESC LIMIT 1';
    return this.#database.prepare<[string, number], Row>(query);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function changeOf({ etag, modified, path, size, version }: Row): KeyChange {
  const content = size === null ? undefined : { versionId: version, sizeBytes: size, etag };
  return { path, modifiedMs: modified, ...(content && { content }) };
}

function inOrder(changes: ReadonlyMap<string, KeyChange>): readonly KeyChange[] {
  return [...changes.values()].sort((left, right) => comparePaths(left.path, right.path));
}
