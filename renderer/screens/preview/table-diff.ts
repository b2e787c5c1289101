/** The differences between two tables: by a column that names each row, or by whole rows. */
import type { TablePreview } from '../../../engine/api/host/file-preview.ts';

type Row = readonly (string | null)[];

export interface TableDifference {
  readonly is: 'added' | 'removed' | 'changed';
  /** In the order of `columns`. */
  readonly before?: Row;
  readonly after?: Row;
}

export interface TableDiff {
  /** The columns of the later table, then those that only the earlier one has. */
  readonly columns: readonly string[];
  /** The column that identifies each row. Undefined if none does, so whole rows are compared. */
  readonly key: string | undefined;
  readonly differences: readonly TableDifference[];
  readonly sameRows: number;
}

const NO_TABLE: TablePreview = { columns: [], rows: [], isCut: false };

export function diffTables(
  older: TablePreview | undefined = NO_TABLE,
  newer: TablePreview | undefined = NO_TABLE,
): TableDiff {
  const columns = [...new Set([...namesOf(newer), ...namesOf(older)])];
  const before = inColumns(older, columns);
  const after = inColumns(newer, columns);
  const shared = columns.filter((name) => namesOf(older).includes(name) && namesOf(newer).includes(name));
  const key = shared.find((name) => {
    const at = columns.indexOf(name);
    return namesEachRow(before, at) && namesEachRow(after, at);
  });
  const idOf =
    key === undefined ? (row: Row) => JSON.stringify(row) : (row: Row) => String(row[columns.indexOf(key)]);
  return { columns, key, ...pair(before, after, idOf) };
}

function namesOf({ columns }: TablePreview): readonly string[] {
  return columns.map(({ name }) => name);
}

/** The first column of a name counts if there are several. */
function inColumns(table: TablePreview, columns: readonly string[]): readonly Row[] {
  const names = namesOf(table);
  const places = columns.map((name) => names.indexOf(name));
  return table.rows.map((row) => places.map((at) => row[at] ?? null));
}

function namesEachRow(rows: readonly Row[], at: number): boolean {
  const values = rows.map((row) => row[at]);
  return values.every((value) => value !== null && value !== '') && new Set(values).size === values.length;
}

/** Equal rows may repeat. Each is paired once. */
function pair(before: readonly Row[], after: readonly Row[], idOf: (row: Row) => string) {
  const old = new Map<string, Row[]>();
  for (const row of before) {
    const id = idOf(row);
    const rows = old.get(id);
    if (rows) rows.push(row);
    else old.set(id, [row]);
  }
  const differences: TableDifference[] = [];
  let sameRows = 0;
  for (const row of after) {
    const was = old.get(idOf(row))?.shift();
    if (!was) differences.push({ is: 'added', after: row });
    else if (row.every((cell, at) => cell === was[at])) sameRows += 1;
    else differences.push({ is: 'changed', before: was, after: row });
  }
  for (const rows of old.values()) for (const row of rows) differences.push({ is: 'removed', before: row });
  return { differences, sameRows };
}
