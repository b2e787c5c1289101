import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { isBlob } from './blob-sql.ts';
import { FILE_SQL } from './file-sql.ts';
import { MIGRATIONS } from './migrations.ts';

/** SQLite's query plan, one line per step. */
function planOf(sql: string): string {
  const database = new Database(':memory:');
  try {
    for (const step of MIGRATIONS) database.exec(step);
    const named = Object.fromEntries([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 0]));
    const values = [...sql.matchAll(/\?/g)].map(() => 0);
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values, named) as { detail: string }[];
    return steps.map(({ detail }) => detail).join('\n');
  } finally {
    database.close();
  }
}

describe('a blob lookup uses the index on the start of the hash', () => {
  const statements = Object.entries(FILE_SQL).filter(([, sql]) => sql.includes('JOIN blob'));

  it('in the statements that join blobs', () => {
    expect(statements.length).toBeGreaterThanOrEqual(6);
  });

  it.each(statements)('%s', (_name, sql) => {
    expect(planOf(sql)).toMatch(/SEARCH b USING INDEX blob_by_hash \(repository=\? AND <expr>=\?\)/);
  });

  it('where values are given', () => {
    const plan = planOf(`SELECT 1 FROM blob b WHERE ${isBlob('b', { repository: '1', hash: "'a'" })}`);
    expect(plan).toMatch(/^SEARCH b USING INDEX blob_by_hash/);
  });
});
