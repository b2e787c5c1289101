/**
 * Reads the first pages of a column chunk. Each page header is checked before memory is allocated for its
 * page, because a page of ten bytes may claim a billion values.
 */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parquetHeader } from 'hyparquet/src/column.js';
import { unpackHadoopLz4, unpackLz4 } from './lz4.ts';
import type { ParquetSource } from './parquet-source.ts';
import { endOfStruct } from './thrift-bounds.ts';

/** The memory that all pages of a preview may take together. */
export interface PageBudget {
  /** Decoded values; each takes at least one byte. */
  values: number;
  /** Bytes after decompression. */
  bytes: number;
}

export const VALUES_MAX = 2_000_000;
export const UNPACKED_BYTES_MAX = 48 * 1024 * 1024;
const PAGE_VALUES_MAX = 1_000_000;
const PAGE_BYTES_MAX = 16 * 1024 * 1024;
/** The rows of a nested column can only be counted by decoding it, so its values are counted instead. */
const NESTED_VALUES_MAX = 20_000;
const HEADER_BYTES_MAX = 64 * 1024;
const FIRST_READ_BYTES = 128 * 1024;
/** DELTA_BYTE_ARRAY repeats prefixes of the previous value, so a small page may decode to gigabytes. */
const PREFIXED_BYTES_MAX = 256 * 1024 * 1024;

/** The library itself decompresses Snappy. */
export const DECOMPRESSORS = {
  GZIP: (input: Uint8Array, maxOutputLength: number) => gunzipSync(input, { maxOutputLength }),
  BROTLI: (input: Uint8Array, maxOutputLength: number) => brotliDecompressSync(input, { maxOutputLength }),
  ZSTD: (input: Uint8Array, maxOutputLength: number) => zstdDecompressSync(input, { maxOutputLength }),
  LZ4: unpackHadoopLz4,
  LZ4_RAW: unpackLz4,
};

export interface ChunkPlace {
  readonly start: number;
  readonly end: number;
  readonly isNested: boolean;
  /** Array levels around each value. */
  readonly depth: number;
}

/** @returns The bytes of the first pages, which hold at least `rows` rows unless the chunk has fewer. */
export async function readFirstPages(
  source: ParquetSource,
  { depth, end, isNested, start }: ChunkPlace,
  rows: number,
  budget: PageBudget,
): Promise<Uint8Array> {
  if (!(start >= 0 && start < end && end <= source.sizeBytes))
    throw new Error('a column lies outside the file');
  let bytes = new Uint8Array(0);
  const hold = async (wanted: number): Promise<void> => {
    if (wanted <= bytes.length) return;
    const from = start + bytes.length;
    const more = await source.read(from, Math.min(end, Math.max(start + wanted, from + FIRST_READ_BYTES)));
    bytes = Buffer.concat([bytes, more]);
    if (bytes.length < wanted) throw new Error('the file ends too early');
  };
  let at = 0;
  let foundRows = 0;
  let nestedValues = 0;
  while (at < end - start && foundRows < rows && nestedValues < NESTED_VALUES_MAX) {
    await hold(Math.min(at + HEADER_BYTES_MAX, end - start));
    const headerEnd = endOfStruct(bytes.subarray(0, at + HEADER_BYTES_MAX), at);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const page = checkPage(parquetHeader({ view, offset: at }));
    budget.values -= page.values * Math.max(1, depth);
    budget.bytes -= page.unpackedBytes;
    if (budget.values < 0 || budget.bytes < 0) throw new Error('its first rows take too much memory');
    at = headerEnd + page.packedBytes;
    if (at > end - start) throw new Error('a page lies outside its column');
    await hold(at);
    if (page.isDictionary) continue;
    if (isNested && page.rows === undefined) nestedValues += page.values;
    else foundRows += page.rows ?? page.values;
  }
  return bytes.subarray(0, at);
}

type Header = ReturnType<typeof parquetHeader>;

function checkPage(header: Header) {
  const v2 = header.data_page_header_v2;
  const data = header.data_page_header ?? v2;
  const values = (header.dictionary_page_header ?? data)?.num_values ?? 0;
  const { compressed_page_size: packedBytes, uncompressed_page_size: unpackedBytes } = header;
  const within = (value: number, most: number) => Number.isInteger(value) && value >= 0 && value <= most;
  if (!within(packedBytes, PAGE_BYTES_MAX) || !within(unpackedBytes, PAGE_BYTES_MAX))
    throw new Error('a page is larger than 16 MiB');
  if (!within(values, PAGE_VALUES_MAX)) throw new Error('a page has more than 1,000,000 values');
  if (v2) {
    const { definition_levels_byte_length: defined, num_nulls, num_rows, repetition_levels_byte_length } = v2;
    const levels = [defined, repetition_levels_byte_length];
    const isRight =
      within(num_nulls, values) &&
      within(num_rows, values) &&
      levels.every((one) => within(one, packedBytes));
    if (!isRight || defined + repetition_levels_byte_length > Math.min(packedBytes, unpackedBytes))
      throw new Error('a page has wrong counts');
  }
  if (data?.encoding === 'DELTA_BYTE_ARRAY' && values * unpackedBytes > PREFIXED_BYTES_MAX)
    throw new Error('its encoding DELTA_BYTE_ARRAY is read in small pages only');
  const isDictionary = header.dictionary_page_header !== undefined;
  return { packedBytes, unpackedBytes, values, isDictionary, rows: v2?.num_rows };
}
