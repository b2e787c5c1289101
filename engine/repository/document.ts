/**
 * The JSON documents of a repository, and their stored bytes.
 *
 * Every document is an object with a `format` number. A reader ignores unknown fields, except that `required`
 * lists features without which the document must not be read. A commit and a segment are named by the SHA-256
 * of their JSON and stored as one zstd frame (RFC 8878), so `zstd -d | jq` reads them and their names do not
 * depend on the compressor.
 */
import { isUtf8 } from 'node:buffer';
import { hash as hashOf } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type BaseIssue, type BaseSchema, getDotPath, safeParse } from 'valibot';
import { DrayError, excerpt } from '../api/error.ts';
import type { ObjectStore, RemoteKey } from '../remotes/object-store.ts';
import { nameOnStore } from './name-on-store.ts';

/** The only repository format that this version reads and writes. */
export const FORMAT = 1;
/** The largest commit or segment, uncompressed, that a reader accepts (`documentBounds` decides when). */
export const DOCUMENT_MAX_BYTES = 256 * 1024 * 1024;
/** The stored size of a commit or a segment. */
export const STORED_DOCUMENT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * The most `{`, `[` and `,` outside of strings in a commit or a segment: a value takes about ten times the
 * memory of its text.
 */
export const DOCUMENT_VALUES_MAX = 12_000_000;
/** The deepest nesting of lists and objects; format 1 needs 6. */
export const DOCUMENT_DEPTH_MAX = 64;
/** The longest JSON string: a message of 65,536 units takes at most six bytes for each. */
export const DOCUMENT_TEXT_MAX_BYTES = 512 * 1024;

/** Enough for a segment of 8,192 entries with paths of 4,096 bytes each, however well they compress. */
const RAW_BYTES_FREE = 32 * 1024 * 1024;
/** Three times what 8,192 entries and 65,536 chunks need. */
const VALUES_FREE = 1_000_000;
/** More values than these contain hashes, which do not compress, so the bound grows with the stored bytes. */
const RAW_BYTES_PER_STORED = 64;
const VALUES_PER_STORED = 1 / 4;

/**
 * How much a reader unpacks from a number of stored bytes. So a large document takes many stored bytes;
 * without this bound, 8 KB of zstd expanded to 256 MiB and took 1.1 GiB of memory.
 */
export function documentBounds(storedBytes: number): { readonly rawBytes: number; readonly values: number } {
  return {
    rawBytes: Math.min(DOCUMENT_MAX_BYTES, RAW_BYTES_FREE + storedBytes * RAW_BYTES_PER_STORED),
    values: Math.min(DOCUMENT_VALUES_MAX, VALUES_FREE + Math.floor(storedBytes * VALUES_PER_STORED)),
  };
}

/**
 * Output is collected in pieces of this size: 2.2 times as fast as zlib's 16 KiB for a segment of 2,000
 * entries.
 */
const DECOMPRESS_CHUNK_BYTES = 128 * 1024;

/** Collection of garbage: generations of keys, refs that are pending or removed, forgotten commits. */
export const FEATURE_COLLECTION = 'collection';
/** Compressed blobs. */
export const FEATURE_ZSTD = 'zstd';
/** Encryption: sealed content, keyed names. Only the descriptor lists it. */
export const FEATURE_ENCRYPTION = 'encryption';
/** The features that a document may list under `required`. Format 1 began with none. */
const KNOWN_FEATURES: ReadonlySet<string> = new Set([FEATURE_COLLECTION, FEATURE_ZSTD, FEATURE_ENCRYPTION]);

/** The most features that an error names. */
const FEATURES_NAMED = 20;

export type JsonObject = Readonly<Record<string, unknown>>;

/** A document ready to be stored. */
export interface EncodedDocument {
  /** SHA-256 of `raw`: its name. */
  readonly hash: string;
  /** The JSON, UTF-8. */
  readonly raw: Uint8Array;
  /** The stored bytes: `raw`, compressed. */
  readonly bytes: Uint8Array;
}

/** Stored bytes do not match their name, or do not decode. */
export function damaged(key: RemoteKey, why: string, cause?: unknown): DrayError {
  return new DrayError('damaged', `${key} is damaged: ${why}.`, { data: { key }, cause });
}

/** A document that others name is not on the store. */
export function absent(store: Pick<ObjectStore, 'address' | 'sealing'>, key: RemoteKey): DrayError {
  const message = `${nameOnStore(store, key)} is damaged: ${store.address} does not have it.`;
  return new DrayError('damaged', message, { data: { key } });
}

/** @throws `unsupported` when the document exceeds a reader's bounds. */
export function encodeDocument(text: string): EncodedDocument {
  const raw = Buffer.from(text, 'utf8');
  const bytes = zstdCompressSync(raw);
  const isTooLarge = raw.length > documentBounds(bytes.length).rawBytes;
  if (isTooLarge || bytes.length > STORED_DOCUMENT_MAX_BYTES || excessOf(raw, bytes.length) !== undefined) {
    const message = `A document of the commit has ${raw.length} bytes, more than the format allows.`;
    throw new DrayError('unsupported', message, { data: { sizeBytes: raw.length } });
  }
  return { hash: hashOf('sha256', raw, 'hex'), raw, bytes };
}

/**
 * The reverse of `encodeDocument`, up to the `format` and `required` fields.
 * @throws `damaged` naming `key`, `formatTooNew`.
 */
export function decodeDocument(key: RemoteKey, hash: string, stored: Uint8Array): JsonObject {
  const raw = unpack(key, stored);
  if (hashOf('sha256', raw, 'hex') !== hash) throw damaged(key, 'its content does not match its name');
  return parseDocument(key, raw, stored.byteLength);
}

/** For a document that is overwritten, so that its key says nothing about its content. */
export function decodeUnnamed(key: RemoteKey, stored: Uint8Array): JsonObject {
  return parseDocument(key, unpack(key, stored), stored.byteLength);
}

function unpack(key: RemoteKey, stored: Uint8Array): Buffer {
  const { rawBytes } = documentBounds(stored.byteLength);
  // Checked twice: the size that the frame declares, before decompression, and the actual size.
  if ((declaredSizeOf(stored) ?? 0) > rawBytes) throw damaged(key, 'it is larger than a document may be');
  try {
    return zstdDecompressSync(stored, { chunkSize: DECOMPRESS_CHUNK_BYTES, maxOutputLength: rawBytes });
  } catch (cause) {
    throw damaged(key, 'it does not decompress', cause);
  }
}

/**
 * The content size that the first frame declares (RFC 8878, section 3.1.1.1); undefined if it declares none.
 */
export function declaredSizeOf(stored: Uint8Array): number | undefined {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  if (stored.byteLength < 18 || view.getUint32(0, true) !== ZSTD_MAGIC) return undefined;
  const descriptor = view.getUint8(4);
  const isSingle = (descriptor & 0x20) !== 0;
  const at = 5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] as number);
  switch (descriptor >> 6) {
    case 0:
      return isSingle ? view.getUint8(at) : undefined;
    case 1:
      return view.getUint16(at, true) + 256;
    case 2:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}

const ZSTD_MAGIC = 0xfd2fb528;

/** @param storedBytes The stored size. @throws `damaged` naming `key`, `formatTooNew`. */
export function parseDocument(key: RemoteKey, raw: Uint8Array, storedBytes = raw.byteLength): JsonObject {
  if (!isUtf8(raw)) throw damaged(key, 'it is not UTF-8');
  const excess = excessOf(raw, storedBytes);
  if (excess !== undefined) throw damaged(key, excess);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8'));
  } catch (cause) {
    throw damaged(key, 'it is not JSON', cause);
  }
  return checkFormat(key, value);
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
/** `[` and `{` have the same lower bits, as do `]` and `}`. */
const [OPENING, CLOSING, BRACKET_BITS] = [0x5b, 0x5d, 0xdf];
/** Smaller documents are not checked: they cannot take much memory, and checking takes as long as parsing. */
const SCANNED_ABOVE_BYTES = 2 * 1024 * 1024;

/** The bound that the document exceeds; undefined if none. One pass, before parsing. */
function excessOf(raw: Uint8Array, storedBytes: number): string | undefined {
  if (raw.length <= SCANNED_ABOVE_BYTES) return undefined;
  const { values: valuesMax } = documentBounds(storedBytes);
  let values = 0;
  let depth = 0;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at] as number;
    if (byte === QUOTE) {
      const start = at;
      for (at += 1; at < raw.length && raw[at] !== QUOTE; at += 1) if (raw[at] === BACKSLASH) at += 1;
      if (at - start > DOCUMENT_TEXT_MAX_BYTES)
        return `it has a text of more than ${DOCUMENT_TEXT_MAX_BYTES} bytes`;
    } else if (byte === COMMA) values += 1;
    else if ((byte & BRACKET_BITS) === OPENING) {
      values += 1;
      depth += 1;
      if (depth > DOCUMENT_DEPTH_MAX) return `it is nested more than ${DOCUMENT_DEPTH_MAX} levels deep`;
    } else if ((byte & BRACKET_BITS) === CLOSING) depth -= 1;
    if (values > valuesMax) return `it has more than ${valuesMax} values`;
  }
  return undefined;
}

/** Checks the fields that every document has, stored by itself or inside another one. */
export function checkFormat(key: RemoteKey, value: unknown): JsonObject {
  if (!isJsonObject(value)) throw damaged(key, 'it is not a JSON object');
  const { format, required, since } = value;
  if (typeof format !== 'number' || !Number.isSafeInteger(format) || format < 1) {
    throw damaged(key, 'it has no format number');
  }
  if (format > FORMAT) throw tooNew(key, `has format ${format}`, { format, ...sinceOf(since) });
  if (required === undefined) return value;
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) {
    throw damaged(key, '"required" is not a list of names');
  }
  const unknown = required.filter((name) => !KNOWN_FEATURES.has(name));
  if (unknown.length > 0) {
    const needs = `needs the feature ${excerpt(unknown.join(', '))}`;
    throw tooNew(key, needs, { features: unknown.slice(0, FEATURES_NAMED), ...sinceOf(since) });
  }
  return value;
}

/** The version that wrote the document, and so reads it, if it says one. */
function sinceOf(since: unknown): { readonly since?: string } {
  return typeof since === 'string' && SINCE.test(since) ? { since } : {};
}

const SINCE = /^\d{1,6}\.\d{1,6}\.\d{1,6}(-[\w.]{1,20})?$/;

/** For a document of a later version. @param what Such as "has format 2". */
export function tooNew(
  key: RemoteKey,
  what: string,
  data: JsonObject & { readonly since?: string },
): DrayError {
  const reader = data.since === undefined ? '' : `Dray ${data.since} reads it. `;
  const message =
    `${key} ${what}, which this version of Dray does not support (it supports format ${FORMAT}). ` +
    `${reader}Upgrade Dray to use this repository.`;
  return new DrayError('formatTooNew', message, { data: { key, ...data } });
}

/** The document with only the fields of its schema. @throws `damaged` naming `key`. */
export function checkSchema<T>(
  key: RemoteKey,
  schema: BaseSchema<unknown, T, BaseIssue<unknown>>,
  value: JsonObject,
): T {
  const result = safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw damaged(key, `"${excerpt(getDotPath(issue) ?? '?')}" is invalid (${excerpt(issue.message)})`);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
