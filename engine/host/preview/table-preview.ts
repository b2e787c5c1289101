/** Parses the beginning of a text as a table: CSV and TSV (RFC 4180), and JSON Lines. */
import { extname } from 'node:path';
import type { ColumnType, TablePreview } from '../../api/host/file-preview.ts';
import { formatPlural } from '../../api/text/numbers.ts';

const ROWS_MAX = 500;
const COLUMNS_MAX = 100;
const CELL_MAX = 1_000;

type Cell = string | null;

/** @param isCut True if the file continues after the text. @returns Undefined if the text is no table. */
export function tablePreview(name: string, text: string, isCut: boolean): TablePreview | undefined {
  switch (extname(name).toLowerCase()) {
    case '.csv':
      return delimitedTable(text, delimiterOf(text), isCut);
    case '.tsv':
    case '.tab':
      return delimitedTable(text, '\t', isCut);
    case '.jsonl':
    case '.ndjson':
      return linesTable(text, isCut);
    default:
      return undefined;
  }
}

/** The delimiter that occurs most often in the first line, outside of quotes. */
function delimiterOf(text: string): string {
  const [line = ''] = text.replace(/"(?:[^"]|"")*"/g, '').split(/[\r\n]/, 1);
  const counts = [',', ';', '\t'].map((one) => ({ one, count: line.split(one).length }));
  return counts.reduce((most, next) => (next.count > most.count ? next : most)).one;
}

function delimitedTable(text: string, delimiter: string, isCut: boolean): TablePreview | undefined {
  const { hasMore, records } = readRecords(text.replace(/^\ufeff/, ''), delimiter, isCut);
  const [head, ...rows] = records;
  if (!head) return undefined;
  const width = Math.min(COLUMNS_MAX, Math.max(...records.map((record) => record.length)));
  const names = Array.from({ length: width }, (_, at) => head[at]?.trim() || `Column ${at + 1}`);
  const more = Math.max(...records.map((record) => record.length)) - width;
  const cells = rows.map((row) => names.map((_, at) => row[at] ?? null));
  return tableOf(names, cells, { hasMore, more });
}

/** The complete records, including the head. A quoted field may contain line breaks. */
function readRecords(text: string, delimiter: string, isCut: boolean) {
  const records: string[][] = [];
  let record: string[] = [];
  let field = '';
  let isQuoted = false;
  let wasQuoted = false;
  const endField = () => {
    record.push(shortenCell(field));
    field = '';
    wasQuoted = false;
  };
  const endRecord = () => {
    endField();
    // Empty lines are skipped.
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
  };
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]!;
    if (isQuoted) {
      if (letter !== '"') field += letter;
      else if (text[at + 1] === '"') {
        field += '"';
        at += 1;
      } else isQuoted = false;
    } else if (letter === '"' && field === '' && !wasQuoted) {
      isQuoted = true;
      wasQuoted = true;
    } else if (letter === delimiter) endField();
    else if (letter === '\n' || (letter === '\r' && text[at + 1] !== '\n')) {
      endRecord();
      if (records.length > ROWS_MAX) return { records, hasMore: isCut || at < text.length - 1 };
    } else if (letter !== '\r') field += letter;
  }
  // The last record of a cut text may be incomplete.
  if (!isCut && (field !== '' || record.length > 0)) endRecord();
  return { records, hasMore: isCut };
}

function linesTable(text: string, isCut: boolean): TablePreview | undefined {
  const lines = text.split('\n');
  if (isCut) lines.pop();
  const filled = lines.filter((line) => line.trim() !== '');
  const names: string[] = [];
  const places = new Map<string, number>();
  const rows: Cell[][] = [];
  const left = new Set<string>();
  for (const line of filled.slice(0, ROWS_MAX)) {
    const fields = fieldsOf(line);
    if (!fields) return undefined;
    const row: Cell[] = [];
    for (const [key, cell] of fields) {
      let place = places.get(key);
      if (place === undefined && names.length === COLUMNS_MAX) left.add(key);
      else {
        if (place === undefined) {
          place = names.push(shortenCell(key)) - 1;
          places.set(key, place);
        }
        row[place] = cell;
      }
    }
    rows.push(row);
  }
  if (rows.length === 0) return undefined;
  const cells = rows.map((row) => names.map((_, at) => row[at] ?? null));
  return tableOf(names, cells, { hasMore: isCut || filled.length > ROWS_MAX, more: left.size });
}

/** Undefined if the line is no JSON, or nested more deeply than the engine can follow. */
function fieldsOf(line: string): readonly (readonly [string, Cell])[] | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const fields = Array.isArray(value)
      ? value.map((one: unknown, at) => [`Column ${at + 1}`, one] as const)
      : Object.entries(typeof value === 'object' && value !== null ? value : { value });
    return fields.map(([key, cell]) => [key, cellOf(cell)] as const);
  } catch {
    return undefined;
  }
}

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  return shortenCell(typeof value === 'string' ? value : JSON.stringify(value));
}

export function shortenCell(text: string): string {
  return text.length > CELL_MAX ? `${text.slice(0, CELL_MAX)}\u2026` : text;
}

/** @param rest `more`: the number of columns that are not shown. */
function tableOf(
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  { hasMore, more }: { readonly hasMore: boolean; readonly more: number },
): TablePreview {
  const columns = names.map((name, at) => ({ name, type: typeOf(rows.map((row) => row[at] ?? null)) }));
  if (more === 0) return { columns, rows, isCut: hasMore };
  const note = columnsNote(more);
  return { columns, rows, isCut: true, note, ...(!hasMore && { rowsTotal: rows.length }) };
}

export function columnsNote(more: number): string {
  return `${formatPlural(more, 'more column')} ${more === 1 ? 'is' : 'are'} not shown.`;
}

const TYPES: readonly { readonly type: ColumnType; readonly pattern: RegExp }[] = [
  { type: 'whole number', pattern: /^[+-]?\d{1,20}$/ },
  { type: 'number', pattern: /^[+-]?(?:\d{1,20}\.?\d{0,20}|\.\d{1,20})(?:e[+-]?\d{1,3})?$/i },
  { type: 'boolean', pattern: /^(?:true|false)$/i },
  {
    type: 'time',
    pattern: /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/,
  },
];

/** The narrowest type that all values have. */
function typeOf(cells: readonly Cell[]): ColumnType {
  const values = cells.filter((cell) => cell !== null && cell !== '') as readonly string[];
  if (values.length === 0) return 'empty';
  const found = TYPES.find(({ pattern }) => values.every((value) => pattern.test(value)));
  if (found) return found.type;
  const isSomeNumber = values.some((value) => TYPES[1]?.pattern.test(value));
  return isSomeNumber ? 'mixed' : 'text';
}
