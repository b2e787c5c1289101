/**
 * The names, bounds and message forms that both ends of the peer protocol share. `engine/peer/PROTOCOL.md` is
 * the specification. Each end checks what it receives.
 */
import * as v from 'valibot';
import { MODE_BITS } from '../model/special-modes.ts';

export const PEER_PROTOCOL = 1;

export const PEER_HEADER = {
  protocol: 'dray-peer',
  /** For a body that begins with JSON: the length of the JSON in bytes. */
  headBytes: 'dray-head-bytes',
  mtimeNs: 'dray-mtime-ns',
  mode: 'dray-mode',
  /** The file is as young as the answer: its etag may stand for other content a moment later. */
  isYoung: 'dray-young',
  /** The file has holes worth keeping. */
  isSparse: 'dray-sparse',
  /** Checksum of the body, 16 lower-case hex digits. */
  crc64: 'dray-crc64nvme',
  /** The error of an answer to HEAD, which has no body: percent-encoded JSON. */
  error: 'dray-error',
} as const;

/** The error of a write to a read-only peer. */
export const READ_ONLY_MESSAGE =
  'The peer is read-only, so nothing can be written or removed there. Only the person who serves it can change that.';

export const PEER_LIMITS = {
  pathBytesMax: 4_096,
  /** Each part costs the server a lookup or a folder: thousands in one path would take it a second. */
  pathPartsMax: 256,
  headerBytesMax: 16 * 1024,
  /** JSON at the start of a body, or a whole JSON body. */
  jsonBytesMax: 4 * 1024 * 1024,
  /** The same for the completion of an object, which lists all its parts. */
  completionBytesMax: 16 * 1024 * 1024,
  /** The body of any request. */
  bodyBytesMax: 64 * 1024 * 1024,
  batchItemsMax: 4_096,
  /** The contents of one batch together. */
  batchBytesMax: 16 * 1024 * 1024,
  entriesInPageMax: 1_000,
  /** Of one listing. */
  partsMax: 1_000,
  uploadsMax: 1_024,
  /** The most of a file that one signature request covers. */
  signedBytesMax: 256 * 1024 * 1024,
} as const;

/**
 * A line of a listing. `d` is an empty folder, `D` one with content. `mtimeMs` is the double from `stat`,
 * which JSON keeps exactly.
 */
export type PeerEntryRow = readonly [
  path: string,
  kind: 'f' | 'l' | 'd' | 'D',
  sizeBytes: number,
  mtimeMs: number,
  mode: number,
  token: string,
  target?: string,
];

const DIGITS = /^-?\d{1,20}$/;
const CRC64 = /^[0-9a-f]{16}$/;
const Digits = v.pipe(v.string(), v.regex(DIGITS));
const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Mode = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MODE_BITS));
const Crc64 = v.pipe(v.string(), v.regex(CRC64));

export const EntryRowSchema = v.union([
  v.strictTuple([v.string(), v.picklist(['f', 'd', 'D']), Size, v.number(), Mode, v.string()]),
  v.strictTuple([v.string(), v.literal('l'), Size, v.number(), Mode, v.string(), v.string()]),
]);

/** A `HeldPart`. */
const PartSchema = v.strictObject({
  folder: v.string(),
  below: v.string(),
  only: v.nullable(v.pipe(v.array(v.string()), v.maxLength(1_000))),
});

/** One line of a listing. The last line is marked: a listing without it was truncated. */
export const EntryPageSchema = v.union([
  v.strictObject({ entries: v.array(v.unknown()) }),
  v.strictObject({
    end: v.literal(true),
    problems: v.optional(v.array(v.string())),
    parts: v.optional(v.pipe(v.array(PartSchema), v.maxLength(PEER_LIMITS.partsMax))),
  }),
]);

export const WriteItemSchema = v.variant('kind', [
  v.strictObject({
    kind: v.literal('file'),
    path: v.string(),
    sizeBytes: Size,
    mtimeNs: Digits,
    mode: v.optional(Mode),
    crc64: Crc64,
  }),
  v.strictObject({ kind: v.literal('link'), path: v.string(), target: v.string() }),
  v.strictObject({
    kind: v.literal('folder'),
    path: v.string(),
    mtimeNs: v.optional(Digits),
    mode: v.optional(Mode),
  }),
]);
export type WriteItem = v.InferOutput<typeof WriteItemSchema>;

/**
 * Whether the schema would accept it as a file. Checked by hand, because a schema check of small files costs
 * as much as writing them.
 */
export function isFileItem(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { crc64, kind, mode, mtimeNs, path, sizeBytes } = value as Readonly<Record<string, unknown>>;
  return (
    kind === 'file' &&
    typeof path === 'string' &&
    Number.isSafeInteger(sizeBytes) &&
    (sizeBytes as number) >= 0 &&
    typeof mtimeNs === 'string' &&
    DIGITS.test(mtimeNs) &&
    typeof crc64 === 'string' &&
    CRC64.test(crc64) &&
    (mode === undefined || isMode(mode)) &&
    Object.keys(value).length === (mode === undefined ? 5 : 6)
  );
}

function isMode(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MODE_BITS;
}

const ErrorRecordSchema = v.strictObject({
  code: v.string(),
  message: v.string(),
  retry: v.picklist(['no', 'retry', 'backoff']),
  data: v.record(v.string(), v.unknown()),
});

/** One file of a batch that was read; its bytes follow those of the previous file. */
export const ReadResultSchema = v.union([
  v.strictObject({ sizeBytes: Size, mtimeNs: Digits, mode: Mode, token: v.string(), crc64: Crc64 }),
  v.strictObject({ error: ErrorRecordSchema }),
]);
export type PeerReadResult = v.InferOutput<typeof ReadResultSchema>;

/** The result for one item of a written batch: its current `lstat`, in its token. */
export const WriteResultSchema = v.union([
  v.strictObject({ token: v.string(), mtimeMs: v.number() }),
  v.strictObject({ error: ErrorRecordSchema }),
]);
export type PeerWriteResult = v.InferOutput<typeof WriteResultSchema>;

/** Whether the schema would accept it as a write result. Checked by hand for speed. */
export function isWritten(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { mtimeMs, token } = value as Readonly<Record<string, unknown>>;
  return typeof token === 'string' && typeof mtimeMs === 'number' && Object.keys(value).length === 2;
}
