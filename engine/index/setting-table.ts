import type Database from 'better-sqlite3';

/** Single facts of the index, such as the commit of its base rows. */
export class SettingTable {
  readonly #get: Database.Statement<[string], { value: string }>;
  readonly #set: Database.Statement<[string, string]>;
  readonly #remove: Database.Statement<[string]>;
  readonly #getCommit: Database.Statement<[string], { stored: Buffer }>;
  readonly #addCommit: Database.Statement<[string, Uint8Array]>;
  readonly #dropCommit: Database.Statement<[string]>;
  readonly #keepCommits: Database.Statement<[string]>;

  constructor(database: Database.Database) {
    this.#get = database.prepare('SELECT value FROM setting WHERE name = ?');
    this.#set = database.prepare('INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)');
    this.#remove = database.prepare('DELETE FROM setting WHERE name = ?');
    this.#getCommit = database.prepare('SELECT stored FROM commit_cache WHERE hash = ?');
    this.#addCommit = database.prepare('INSERT OR IGNORE INTO commit_cache (hash, stored) VALUES (?, ?)');
    this.#dropCommit = database.prepare('DELETE FROM commit_cache WHERE hash = ?');
    this.#keepCommits = database.prepare(
      'DELETE FROM commit_cache WHERE hash NOT IN (SELECT value FROM json_each(?))',
    );
  }

  /**
   * The commit whose entries the base rows hold, as `repositoryUuid/commit`; undefined when that is not
   * certain.
   */
  get base(): string | undefined {
    return this.#get.get('base')?.value;
  }

  set base(value: string | undefined) {
    if (value === undefined) this.#remove.run('base');
    else this.#set.run('base', value);
  }

  /** JSON of a push whose publication was not confirmed (jobs/push/unconfirmed-push.ts). */
  get unconfirmedPush(): string | undefined {
    return this.#get.get('landing')?.value;
  }

  set unconfirmedPush(value: string | undefined) {
    if (value === undefined) this.#remove.run('landing');
    else this.#set.run('landing', value);
  }

  /** Two commits; the second is known to lead to the first (jobs/session/branch/known-history.ts). */
  get knownHistory(): string | undefined {
    return this.#get.get('history')?.value;
  }

  set knownHistory(value: string) {
    this.#set.run('history', value);
  }

  /** The chunking of large files behind the hashes of the file rows (jobs/session/base/base-commit.ts). */
  get cut(): string | undefined {
    return this.#get.get('cut')?.value;
  }

  set cut(value: string) {
    this.#set.run('cut', value);
  }

  /** The bytes may be damaged: see jobs/session/base/cached-commit.ts. */
  cachedCommit(hash: string): Uint8Array | undefined {
    return this.#getCommit.get(hash)?.stored;
  }

  cacheCommit(hash: string, stored: Uint8Array): void {
    this.#addCommit.run(hash, stored);
  }

  dropCommit(hash: string): void {
    this.#dropCommit.run(hash);
  }

  /** Drops every other cached commit, so that the cache holds one per remote. */
  keepCommits(hashes: readonly string[]): void {
    this.#keepCommits.run(JSON.stringify(hashes));
  }
}
