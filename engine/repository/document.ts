/**
 * The JSON documents of a repository, and the bytes that they are stored as.
 *
 * Every document is an object with a `format` number. A reader ignores fields that it does not know, except
 * what the document lists under `required`: names of features without which it must not be read. A commit and
 * a segment are named by the SHA-256 of their JSON and stored as one zstd frame (RFC 8878), so that
 * `zstd -d | jq` reads them and their names do not hang on a compressor's version.
 */
import { isUtf8 } from 'node:buffer';
import { hash as hashOf } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type BaseIssue, type BaseSchema, getDotPath, safeParse } from 'valibot';
import { DrayError } from '../api/error.ts';
import type { RemoteKey } from '../remotes/object-store.ts';

/** The only repository format that this version reads and writes. */
export const FORMAT = 1;
/** Of a commit or a segment, uncompressed: what a reader is ready to hold. */
export const DOCUMENT_MAX_BYTES = 256 * 1024 * 1024;
/** Of a commit or a segment as stored. */
export const STORED_DOCUMENT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Of `{`, `[` and `,` outside of strings in a commit or a segment: what a reader is ready to make of it. Each takes some ten times as much memory as
 * its text, and almost nothing as stored. A commit as large as can be stored has less: 8 for a segment, of which no 1.5 million fit.
 */
export const DOCUMENT_VALUES_MAX = 12_000_000;

/** Output is gathered in pieces of this size: 2.2 times as fast as zlib's 16 KiB for a segment of 2,000 entries. */
const DECOMPRESS_CHUNK_BYTES = 128 * 1024;

/** Features that a document may list under `required` and that this version knows. Format 1 began with none. */
const KNOWN_FEATURES: ReadonlySet<string> = new Set();

export type JsonObject = Readonly<Record<string, unknown>>;

/** A document ready to be stored. */
export interface EncodedDocument {
  /** SHA-256 of `raw`: its name. */
  readonly hash: string;
  /** The JSON, UTF-8. */
  readonly raw: Uint8Array;
  /** What is stored: `raw`, compressed. */
  readonly bytes: Uint8Array;
}

/** Stored bytes do not match their name, or do not decode. */
export function damaged(key: RemoteKey, why: string, cause?: unknown): DrayError {
  return new DrayError('damaged', `${key} is damaged: ${why}.`, { data: { key }, cause });
}

/** @throws `unsupported` when the document is larger than a reader would take. */
export function encodeDocument(text: string): EncodedDocument {
  const raw = Buffer.from(text, 'utf8');
  const bytes = zstdCompressSync(raw);
  if (raw.length > DOCUMENT_MAX_BYTES || bytes.length > STORED_DOCUMENT_MAX_BYTES || holdsTooMuch(raw)) {
    const message = `A part of the commit needs ${raw.length} bytes, more than the format allows.`;
    throw new DrayError('unsupported', message, { data: { sizeBytes: raw.length } });
  }
  return { hash: hashOf('sha256', raw, 'hex'), raw, bytes };
}

/**
 * The reverse of `encodeDocument`, up to the `format` and `required` fields.
 * @throws `damaged` naming `key`, `formatTooNew`.
 */
export function decodeDocument(key: RemoteKey, hash: string, stored: Uint8Array): JsonObject {
  let raw: Buffer;
  try {
    raw = zstdDecompressSync(stored, {
      chunkSize: DECOMPRESS_CHUNK_BYTES,
      maxOutputLength: DOCUMENT_MAX_BYTES,
    });
  } catch (cause) {
    throw damaged(key, 'it does not decompress', cause);
  }
  if (hashOf('sha256', raw, 'hex') !== hash) throw damaged(key, 'its content does not match its name');
  return parseDocument(key, raw);
}

/** @throws `damaged` naming `key`, `formatTooNew`. */
export function parseDocument(key: RemoteKey, raw: Uint8Array): JsonObject {
  if (!isUtf8(raw)) throw damaged(key, 'it is not UTF-8');
  if (holdsTooMuch(raw)) throw damaged(key, `it holds more than ${DOCUMENT_VALUES_MAX} values`);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8'));
  } catch (cause) {
    throw damaged(key, 'it is not JSON', cause);
  }
  return checkFormat(key, value);
}

const [QUOTE, COMMA, BACKSLASH, BRACE, BRACKET] = [0x22, 0x2c, 0x5c, 0x7b, 0x5b];

/** Looks at large documents alone: no other can. */
function holdsTooMuch(raw: Uint8Array): boolean {
  if (raw.length <= DOCUMENT_VALUES_MAX) return false;
  let values = 0;
  let isString = false;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at];
    if (byte === QUOTE) isString = !isString;
    else if (byte === BACKSLASH) at += 1;
    else if (!isString && (byte === COMMA || byte === BRACE || byte === BRACKET)) values += 1;
  }
  return values > DOCUMENT_VALUES_MAX;
}

/** What holds for every document, stored by itself or inside another one. */
export function checkFormat(key: RemoteKey, value: unknown): JsonObject {
  if (!isJsonObject(value)) throw damaged(key, 'it is not a JSON object');
  const { format, required } = value;
  if (typeof format !== 'number' || !Number.isSafeInteger(format) || format < 1) {
    throw damaged(key, 'it has no format number');
  }
  if (format > FORMAT) throw tooNew(key, `has format ${format}`, { format });
  if (required === undefined) return value;
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) {
    throw damaged(key, '"required" is not a list of names');
  }
  const unknown = required.filter((name) => !KNOWN_FEATURES.has(name));
  if (unknown.length > 0) throw tooNew(key, `needs ${unknown.join(', ')}`, { features: unknown });
  return value;
}

/** A document of a later version. @param what Such as "has format 2". */
export function tooNew(key: RemoteKey, what: string, data: JsonObject): DrayError {
  const message = `${key} ${what}, which this version of Dray does not know (it knows format ${FORMAT}). Upgrade Dray to use this repository.`;
  return new DrayError('formatTooNew', message, { data: { key, ...data } });
}

/** The document as its schema describes it, without fields that the schema does not name. @throws `damaged` naming `key`. */
export function checkSchema<T>(
  key: RemoteKey,
  schema: BaseSchema<unknown, T, BaseIssue<unknown>>,
  value: JsonObject,
): T {
  const result = safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw damaged(key, `"${getDotPath(issue) ?? '?'}" is not as it should be (${issue.message})`);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
