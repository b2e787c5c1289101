/**
 * The condition that finds a blob's row, by values or columns of any name. The index holds only the start of
 * each hash (`migrations.ts`); the row holds all of it.
 */
export function isBlob(blob: string, { repository, hash }: { repository: string; hash: string }): string {
  return `${blob}.repository = ${repository} AND ${startOf(`${blob}.hash`)} = ${startOf(hash)} AND ${blob}.hash = ${hash}`;
}

/** SQLite uses the index only for exactly this expression. Null for a text that is not a hash. */
function startOf(hash: string): string {
  return `unhex(substr(${hash}, 1, 8))`;
}
