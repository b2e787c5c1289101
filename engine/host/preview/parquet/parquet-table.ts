/**
 * Reads the first rows of a Parquet file as a table. It runs in a thread of its own (`parquet-worker.ts`),
 * which is terminated after a time limit, because the file may be hostile. Every count is checked against the
 * bytes in the file before memory is allocated for it. https://parquet.apache.org/docs/file-format/
 */
import type { SchemaTree } from 'hyparquet';
import { readColumn } from 'hyparquet/src/column.js';
import { parquetMetadata, parquetSchema } from 'hyparquet/src/metadata.js';
import { assembleAsync } from 'hyparquet/src/rowgroup.js';
import { getMaxDefinitionLevel, getTreePath, isFlatColumn } from 'hyparquet/src/schema.js';
import type { TablePreview } from '../../../api/host/file-preview.ts';
import { columnsNote, shortenCell } from '../table-preview.ts';
import {
  DECOMPRESSORS,
  type PageBudget,
  readFirstPages,
  UNPACKED_BYTES_MAX,
  VALUES_MAX,
} from './column-pages.ts';
import { cellText, innerValue, PARSERS, storedTypes, typeName } from './parquet-cells.ts';
import type { ParquetSource } from './parquet-source.ts';
import { endOfStruct } from './thrift-bounds.ts';

const ROWS_MAX = 500;
const COLUMNS_MAX = 50;
const GROUPS_MAX = 50;
const LEAVES_MAX = 200;
const FOOTER_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
/** A file up to this size is read at once, and so are the columns of a group. */
const SMALL_BYTES = 1024 * 1024;
const MAGIC = 'PAR1';
const MAGIC_ENCRYPTED = 'PARE';

type Metadata = ReturnType<typeof parquetMetadata>;

/** @throws Error whose message completes the sentence "This Parquet file cannot be shown as a table: ..." */
export async function parquetTable(given: ParquetSource): Promise<TablePreview> {
  const source = await holdingSmall(given);
  const metadata = await readFooter(source);
  const shown = { ...metadata, schema: storedTypes(metadata.schema) };
  const tree = parquetSchema(metadata);
  const columns = tree.children.slice(0, COLUMNS_MAX);
  const budget: PageBudget = { values: VALUES_MAX, bytes: UNPACKED_BYTES_MAX };
  const rows: (string | null)[][] = [];
  const failures = new Map<string, string>();
  for (const group of shown.row_groups.slice(0, GROUPS_MAX)) {
    if (rows.length >= ROWS_MAX) break;
    const wanted = Math.min(ROWS_MAX - rows.length, countOf(group.num_rows));
    const read = await readGroup({
      source,
      declared: tree,
      tree: parquetSchema(shown),
      group,
      columns,
      wanted,
      budget,
    });
    for (const [name, why] of read.failures) failures.set(name, why);
    rows.push(...read.rows);
    if (read.rows.length < wanted) break;
  }
  const rowsTotal = countOf(metadata.num_rows);
  const failed = columns.filter(({ element }) => failures.has(element.name));
  if (columns.length === 0 || (failed.length === columns.length && rowsTotal > 0))
    throw new Error([...failures.values()][0] ?? 'it has no columns');
  const places = columns.flatMap((column, at) => (failed.includes(column) ? [] : [at]));
  return {
    columns: places.map((at) => ({
      name: shortenCell(columns[at]!.element.name),
      type: typeName(columns[at]!),
    })),
    rows: rows.map((row) => places.map((at) => row[at] ?? null)),
    isCut: rowsTotal > rows.length || tree.children.length > columns.length,
    rowsTotal,
    ...noteOf(failures, tree.children.length - columns.length),
  };
}

async function holdingSmall(source: ParquetSource): Promise<ParquetSource> {
  if (source.sizeBytes > SMALL_BYTES) return source;
  const all = await source.read(0, source.sizeBytes);
  return { sizeBytes: source.sizeBytes, read: async (start, end) => all.subarray(start, end) };
}

async function readFooter(source: ParquetSource): Promise<Metadata> {
  const { sizeBytes } = source;
  if (sizeBytes < 12) throw new Error('it is too short');
  let tail = await source.read(Math.max(0, sizeBytes - TAIL_BYTES), sizeBytes);
  const magic = Buffer.from(tail.subarray(-4)).toString('latin1');
  if (magic === MAGIC_ENCRYPTED) throw new Error('it is encrypted');
  if (magic !== MAGIC) throw new Error('it does not end as a Parquet file does');
  const lengthBytes = Buffer.from(tail).readUInt32LE(tail.length - 8);
  if (lengthBytes > sizeBytes - 12) throw new Error('its footer claims to be longer than the file');
  if (lengthBytes > FOOTER_BYTES_MAX) throw new Error('its footer is larger than 8 MiB');
  if (lengthBytes + 8 > tail.length) tail = await source.read(sizeBytes - lengthBytes - 8, sizeBytes);
  const footer = tail.subarray(tail.length - lengthBytes - 8);
  endOfStruct(footer, 0);
  const metadata = parquetMetadata(footer, { parsers: PARSERS, geoparquet: false });
  if (metadata.schema.length === 0) throw new Error('it has no columns');
  return metadata;
}

interface GroupRead {
  readonly source: ParquetSource;
  /** With the types that the file declares; `tree` has those that the library decodes. */
  readonly declared: SchemaTree;
  readonly tree: SchemaTree;
  readonly group: Metadata['row_groups'][number];
  readonly columns: readonly SchemaTree[];
  readonly wanted: number;
  readonly budget: PageBudget;
}

/** Reads the shown columns of a group at once if they lie close together: a remote file takes one request. */
async function holdingColumns({ columns, group, source }: GroupRead): Promise<ParquetSource> {
  const names = new Set(columns.map(({ element }) => element.name));
  const places = group.columns.flatMap(({ file_path, meta_data }) => {
    if (file_path || !meta_data || !names.has(meta_data.path_in_schema[0]!)) return [];
    const start = Number(meta_data.dictionary_page_offset || meta_data.data_page_offset);
    return [{ start, end: start + Number(meta_data.total_compressed_size) }];
  });
  const from = Math.min(...places.map(({ start }) => start));
  const to = Math.max(...places.map(({ end }) => end));
  const isClose = from >= 0 && to > from && to <= source.sizeBytes && to - from <= SMALL_BYTES;
  if (source.sizeBytes <= SMALL_BYTES || places.length < 2 || !isClose) return source;
  const held = await source.read(from, to);
  return {
    sizeBytes: source.sizeBytes,
    read: (start, end) =>
      start >= from && end <= to
        ? Promise.resolve(held.subarray(start - from, end - from))
        : source.read(start, end),
  };
}

/** A column that cannot be read is listed in `failures`; the other columns are still read. */
async function readGroup(given: GroupRead) {
  const { budget, columns, declared, group, tree, wanted } = given;
  const source = await holdingColumns(given);
  const failures = new Map<string, string>();
  const values = new Map<SchemaTree, ArrayLike<unknown>>();
  for (const column of columns) {
    const { name } = column.element;
    try {
      const chunks = group.columns.filter(({ meta_data }) => meta_data?.path_in_schema[0] === name);
      if (chunks.length === 0) throw new Error('a column is missing');
      if (chunks.length > LEAVES_MAX) throw new Error('a column is nested too widely');
      const read = chunks.map((chunk) => readLeaf(source, tree, chunk, wanted, budget));
      const asyncColumns = (await Promise.all(read)).map(({ data, pathInSchema }) => {
        const leaf = getTreePath(declared, pathInSchema).at(-1)!.element;
        if (pathInSchema.length === 1) return { pathInSchema, data: Promise.resolve(data) };
        const parts = data.data.map((part) => Array.from(part, (one) => innerValue(one, leaf)));
        return { pathInSchema, data: Promise.resolve({ ...data, data: parts }) };
      });
      const only = {
        ...tree,
        children: tree.children.filter(({ element }) => element.name === name).slice(0, 1),
      };
      const rowGroup = { groupStart: 0, groupRows: wanted, selectStart: 0, selectEnd: wanted, asyncColumns };
      const [assembled] = assembleAsync(rowGroup, only, PARSERS as never).asyncColumns;
      const { data } = await assembled!.data;
      values.set(
        column,
        data.length === 1 ? data[0]! : data.flatMap((part) => Array.from(part as ArrayLike<unknown>)),
      );
    } catch (error) {
      failures.set(name, reasonOf(error));
    }
  }
  const found = Math.min(wanted, ...[...values.values()].map(({ length }) => length));
  const rows = Array.from({ length: values.size === 0 ? 0 : found }, (_, row) =>
    columns.map((column) => {
      const element = column.children.length === 0 ? column.element : undefined;
      return cellText(values.get(column)?.[row], element);
    }),
  );
  return { rows, failures };
}

async function readLeaf(
  source: ParquetSource,
  tree: SchemaTree,
  { crypto_metadata, file_path, meta_data }: GroupRead['group']['columns'][number],
  wanted: number,
  budget: PageBudget,
) {
  // Its `meta_data` is absent, or describes pages that are encrypted too.
  if (crypto_metadata) throw new Error('it is encrypted');
  if (file_path || !meta_data) throw new Error('a column lies in another file or is encrypted');
  const { codec, data_page_offset, dictionary_page_offset, path_in_schema, total_compressed_size } =
    meta_data;
  if (!(codec === 'UNCOMPRESSED' || codec === 'SNAPPY' || codec in DECOMPRESSORS))
    throw new Error(`Dray does not read ${codec ?? 'this'} compression`);
  const schemaPath = getTreePath(tree, path_in_schema);
  const start = countOf(dictionary_page_offset || data_page_offset);
  const isNested = !isFlatColumn(schemaPath);
  const place = {
    start,
    end: start + countOf(total_compressed_size),
    isNested,
    depth: getMaxDefinitionLevel(schemaPath),
  };
  const pages = await readFirstPages(source, place, wanted, budget);
  // The library returns views of the memory, so it gets a copy.
  const view = new DataView(Uint8Array.from(pages).buffer);
  const decoder = {
    ...meta_data,
    pathInSchema: path_in_schema,
    schemaPath,
    element: schemaPath.at(-1)!.element,
    compressors: DECOMPRESSORS,
    parsers: { ...LIBRARY_PARSERS, ...PARSERS },
    utf8: false,
  } as unknown as Parameters<typeof readColumn>[2];
  const selected = { groupStart: 0, selectStart: 0, selectEnd: wanted };
  return { pathInSchema: path_in_schema, data: readColumn({ view, offset: 0 }, selected as never, decoder) };
}

/** Replacements for those of the library's parsers that `storedTypes` leaves in use. */
const LIBRARY_PARSERS = {
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('utf8'),
  uuidFromBytes: (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex'),
};

function countOf(value: bigint | number | undefined): number {
  const count = Number(value ?? -1);
  if (!Number.isSafeInteger(count) || count < 0) throw new Error('a count is wrong');
  return count;
}

/** Dray and the library throw plain Errors. A damaged file also causes RangeErrors and TypeErrors. */
export function reasonOf(error: unknown): string {
  const isPlain = error instanceof Error && error.constructor === Error;
  return isPlain ? shortenCell(error.message.replace(/^parquet /, '')) : 'its content is damaged';
}

function noteOf(failures: ReadonlyMap<string, string>, more: number): Pick<TablePreview, 'note'> {
  const notes = [...failures]
    .slice(0, 3)
    .map(([name, why]) => `Column "${shortenCell(name)}" is not shown: ${why}.`);
  if (more > 0) notes.push(columnsNote(more));
  return notes.length === 0 ? {} : { note: notes.join(' ') };
}
