/**
 * What both ends of the peer protocol share: names, bounds and the forms of what travels. `engine/peer/PROTOCOL.md` is the
 * specification. What comes from the other end is checked where it is read, never here trusted.
 */
import * as v from 'valibot';

export const PEER_PROTOCOL = 1;

export const PEER_HEADER = {
  protocol: 'dray-peer',
  /** Of a body that begins with JSON: how many bytes of it are that. */
  headBytes: 'dray-head-bytes',
  mtimeNs: 'dray-mtime-ns',
  mode: 'dray-mode',
  /** The file is as young as the answer: its etag may stand for other content a moment later. */
  isYoung: 'dray-young',
  /** The file has holes that are worth keeping. */
  isSparse: 'dray-sparse',
  /** Of the body, 16 lower-case hex digits. */
  crc64: 'dray-crc64nvme',
  /** The error of an answer to HEAD, which has no body: percent-encoded JSON. */
  error: 'dray-error',
} as const;

/** What a peer that is read-only says to a write. */
export const READ_ONLY_MESSAGE =
  'The peer is read-only, so nothing can be written or removed there. Its server was started with --read-only.';

export const PEER_LIMITS = {
  pathBytesMax: 4_096,
  /** Each part costs the server a look or a folder: thousands of them in one path, a second of its time. */
  pathPartsMax: 256,
  headerBytesMax: 16 * 1024,
  /** JSON at the beginning of a body, or all of it. */
  jsonBytesMax: 4 * 1024 * 1024,
  /** The same of the completion of an object, which tells of each of its parts. */
  completionBytesMax: 16 * 1024 * 1024,
  /** Of any request. */
  bodyBytesMax: 64 * 1024 * 1024,
  batchItemsMax: 4_096,
  /** Contents of one batch together. */
  batchBytesMax: 16 * 1024 * 1024,
  entriesInPageMax: 1_000,
  uploadsMax: 1_024,
  /** One request for signatures covers so much of a file at most. */
  signedBytesMax: 256 * 1024 * 1024,
  blockBytesMin: 512,
} as const;

export type PeerEntryKind = 'file' | 'link' | 'folder';

/**
 * As a line of a listing holds it. `d` is a folder with nothing in it, `D` one that holds something. `mtimeMs` is the double that `stat`
 * gives, which JSON keeps to the last bit.
 */
export type EntryRow = readonly [
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
const Mode = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0o7777));
const Crc64 = v.pipe(v.string(), v.regex(CRC64));

export const EntryRowSchema = v.union([
  v.strictTuple([v.string(), v.picklist(['f', 'd', 'D']), Size, v.number(), Mode, v.string()]),
  v.strictTuple([v.string(), v.literal('l'), Size, v.number(), Mode, v.string(), v.string()]),
]);

/** One line of a listing. The last one says that it is the last: a listing without it was cut short. */
export const EntryPageSchema = v.union([
  v.strictObject({ entries: v.array(v.unknown()) }),
  v.strictObject({ end: v.literal(true), problems: v.optional(v.array(v.string())) }),
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

/** Whether the schema would take it as a file, found out by hand: of small files, checking them all by a schema costs as much as a write. */
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
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0o7777;
}

const ErrorRecordSchema = v.strictObject({
  code: v.string(),
  message: v.string(),
  retry: v.picklist(['no', 'retry', 'backoff']),
  data: v.record(v.string(), v.unknown()),
});

/** One file of a batch that was read; its bytes follow those of the one before. */
export const ReadResultSchema = v.union([
  v.strictObject({ sizeBytes: Size, mtimeNs: Digits, mode: Mode, token: v.string(), crc64: Crc64 }),
  v.strictObject({ error: ErrorRecordSchema }),
]);
export type ReadResult = v.InferOutput<typeof ReadResultSchema>;

/** What became of one item of a batch that was written: what `lstat` says of it now, in its token. */
export const WriteResultSchema = v.union([
  v.strictObject({ token: v.string(), mtimeMs: v.number() }),
  v.strictObject({ error: ErrorRecordSchema }),
]);
export type PeerWriteResult = v.InferOutput<typeof WriteResultSchema>;

/** Whether the schema would take it as that of a file that was written, found out by hand. */
export function isWritten(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { mtimeMs, token } = value as Readonly<Record<string, unknown>>;
  return typeof token === 'string' && typeof mtimeMs === 'number' && Object.keys(value).length === 2;
}
