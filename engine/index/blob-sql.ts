/**
 * The condition that finds a blob's row, by values or columns of any name. The index knows the start of each hash (`migrations.ts`), and
 * the row has the whole.
 */
export function isBlob(blob: string, { repository, hash }: { repository: string; hash: string }): string {
  return `${blob}.repository = ${repository} AND ${startOf(`${blob}.hash`)} = ${startOf(hash)} AND ${blob}.hash = ${hash}`;
}

/** SQLite uses the index for this very expression only. Null for what is no hash. */
function startOf(hash: string): string {
  return `unhex(substr(${hash}, 1, 8))`;
}
