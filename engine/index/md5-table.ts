/**
 * Which content has which MD5, by what an import has read itself. A cache in the user's folder: losing it
 * costs another read of the content, never data.
 */
import type { BlobHash } from '../model/entry.ts';
import { openDatabase } from './open-database.ts';

export interface KnownContent {
  readonly hash: BlobHash;
  readonly sizeBytes: number;
}

export interface Md5Table extends Disposable {
  /** @param id The MD5 and its kind. */
  find(id: string): KnownContent | undefined;
  add(id: string, content: KnownContent): void;
}

const STEPS: readonly string[] = [
  'CREATE TABLE content (id TEXT PRIMARY KEY, hash TEXT NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;',
];

export function openMd5Table(path: string): Md5Table {
  const { close, database } = openDatabase({
    path,
    migrations: STEPS,
    probe: 'SELECT count(*) FROM (SELECT 1 FROM content LIMIT 1)',
    cacheKib: 16 * 1024,
  });
  const find = database.prepare<[string], KnownContent>(
    'SELECT hash, size AS sizeBytes FROM content WHERE id = ?',
  );
  const add = database.prepare<[string, string, number]>(
    'INSERT OR REPLACE INTO content (id, hash, size) VALUES (?, ?, ?)',
  );
  return {
    find: (id) => find.get(id),
    add: (id, { hash, sizeBytes }) => {
      add.run(id, hash, sizeBytes);
    },
    [Symbol.dispose]: close,
  };
}
