/** Parses the beginning of a text as a table: CSV and TSV (RFC 4180), and JSON Lines. */
import { extname } from 'node:path';
import type { ColumnType, TablePreview } from '../../api/host/file-preview.ts';

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

/** The delimiter that occurs most often in the first line. */
function delimiterOf(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const counts = [',', ';', '\t'].map((one) => ({ one, count: line.split(one).length }));
  return counts.reduce((most, next) => (next.count > most.count ? next : most)).one;
}

function delimitedTable(text: string, delimiter: string, isCut: boolean): TablePreview | undefined {
  const { hasMore, records } = readRecords(text.replace(/^\ufeff/, ''), delimiter, isCut);
  const [head, ...rows] = records;
  if (!head) return undefined;
  const width = Math.min(COLUMNS_MAX, Math.max(...records.map((record) => record.length)));
  const names = Array.from({ length: width }, (_, at) => head[at]?.trim() || `Column ${at + 1}`);
  const isWide = records.some((record) => record.length > COLUMNS_MAX);
  const cells = rows.map((row) => names.map((_, at) => row[at] ?? null));
  return tableOf(names, cells, hasMore || isWide);
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
    else if (letter === '\n') {
      endRecord();
      if (records.length > ROWS_MAX) return { records, hasMore: isCut || at < text.length - 1 };
    } else if (letter !== '\r' || text[at + 1] !== '\n') field += letter;
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
  let isWide = false;
  for (const line of filled.slice(0, ROWS_MAX)) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return undefined;
    }
    const row: Cell[] = [];
    for (const [key, cell] of Object.entries(fieldsOf(value))) {
      let place = places.get(key);
      if (place === undefined && names.length === COLUMNS_MAX) isWide = true;
      else {
        if (place === undefined) {
          place = names.push(shortenCell(key)) - 1;
          places.set(key, place);
        }
        row[place] = cellOf(cell);
      }
    }
    rows.push(row);
  }
  if (rows.length === 0) return undefined;
  const cells = rows.map((row) => names.map((_, at) => row[at] ?? null));
  return tableOf(names, cells, isCut || isWide || filled.length > ROWS_MAX);
}

function fieldsOf(value: unknown): object {
  if (Array.isArray(value))
    return Object.fromEntries(value.map((one: unknown, at) => [`Column ${at + 1}`, one]));
  return typeof value === 'object' && value !== null ? value : { value };
}

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  return shortenCell(typeof value === 'string' ? value : JSON.stringify(value));
}

export function shortenCell(text: string): string {
  return text.length > CELL_MAX ? `${text.slice(0, CELL_MAX)}\u2026` : text;
}

function tableOf(names: readonly string[], rows: readonly (readonly Cell[])[], isCut: boolean): TablePreview {
  const columns = names.map((name, at) => ({ name, type: typeOf(rows.map((row) => row[at] ?? null)) }));
  return { columns, rows, isCut };
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
