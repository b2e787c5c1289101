/** The object store calls of the peer protocol as JSON, followed by bytes where a call has some. */
import * as v from 'valibot';

const Crc64 = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-f]{1,16}$/),
  v.transform((text) => BigInt(text)),
);
const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Uint32 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff));
const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const Range = v.pipe(
  v.strictObject({ start: Size, end: Size }),
  v.check(({ end, start }) => start <= end, 'A range ends before it begins'),
);
const Key = v.string();

/** Big integers are checksums here; JSON has no other form for them. */
export function objectJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'bigint' ? `0x${each.toString(16)}` : each,
  );
}

const Checksum = v.union([
  v.strictObject({ sha256: Sha256 }),
  v.strictObject({ crc32: Uint32 }),
  v.strictObject({ crc64nvme: Crc64 }),
]);
const Condition = v.union([
  v.strictObject({ absent: v.literal(true) }),
  v.strictObject({ etag: v.string() }),
]);

const Put = { checksum: v.optional(Checksum), condition: v.optional(Condition) };
/** At the largest part size that a peer accepts, this many hold 6 TiB. */
const PARTS_MAX = 99_999;
const Upload = { key: Key, uploadId: v.pipe(v.string(), v.maxLength(1_024)) };
const Part = v.object({
  number: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(PARTS_MAX)),
  etag: v.string(),
  sizeBytes: Size,
  sha256: v.optional(v.string()),
  crc32: v.optional(Uint32),
  crc64nvme: v.optional(Crc64),
});

/** The parameters of each call, besides the bytes. */
export const OBJECT_CALLS = {
  head: v.strictObject({ key: Key }),
  get: v.strictObject({ key: Key, range: v.optional(Range), ifMatch: v.optional(v.string()) }),
  put: v.strictObject({ key: Key, ...Put }),
  list: v.strictObject({
    prefix: v.string(),
    startAfter: v.optional(v.string()),
    delimiter: v.optional(v.literal('/')),
    limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000))),
    continuation: v.optional(v.string()),
  }),
  delete: v.strictObject({
    keys: v.pipe(v.array(Key), v.maxLength(1_000)),
    ifMatch: v.optional(v.string()),
  }),
  copy: v.strictObject({
    from: Key,
    to: Key,
    ifMatch: v.optional(v.string()),
    condition: v.optional(Condition),
  }),
  create: v.strictObject({ key: Key, checksum: v.optional(v.picklist(['sha256', 'crc32', 'crc64nvme'])) }),
  uploadPart: v.strictObject({ ...Upload, number: Part.entries.number, checksum: v.optional(Checksum) }),
  uploadPartCopy: v.strictObject({
    ...Upload,
    number: Part.entries.number,
    from: Key,
    range: v.optional(Range),
    ifMatch: v.optional(v.string()),
  }),
  listParts: v.strictObject(Upload),
  complete: v.strictObject({ ...Upload, parts: v.pipe(v.array(Part), v.maxLength(PARTS_MAX)), ...Put }),
  abort: v.strictObject(Upload),
  listUploads: v.strictObject({ prefix: v.string(), continuation: v.optional(v.string()) }),
} as const;

export type ObjectCall = keyof typeof OBJECT_CALLS;
export type ObjectCallInput<K extends ObjectCall> = v.InferOutput<(typeof OBJECT_CALLS)[K]>;

const Checksums = v.object({
  covers: v.picklist(['whole', 'ofParts']),
  crc64nvme: v.optional(Crc64),
  crc32: v.optional(Uint32),
  sha256: v.optional(v.string()),
});
const Info = v.object({
  key: Key,
  sizeBytes: Size,
  etag: v.string(),
  modifiedMs: v.number(),
  checksums: v.optional(Checksums),
  remoteTimeMs: v.optional(v.number()),
});
const Outcome = v.union([
  v.object({ written: v.literal(true), etag: v.string(), checksums: v.optional(Checksums) }),
  v.object({ written: v.literal(false) }),
]);

/** The answer of each call; bytes follow that of `get`. */
export const OBJECT_ANSWERS = {
  head: v.object({ info: v.nullable(Info) }),
  get: v.object({ info: Info, sizeBytes: Size }),
  put: Outcome,
  list: v.object({
    objects: v.array(v.object({ key: Key, sizeBytes: Size, etag: v.string(), modifiedMs: v.number() })),
    folders: v.array(v.string()),
    continuation: v.optional(v.string()),
  }),
  delete: v.object({}),
  copy: Outcome,
  create: v.object({ uploadId: v.string() }),
  uploadPart: Part,
  uploadPartCopy: Part,
  listParts: v.object({ parts: v.array(Part) }),
  complete: Outcome,
  abort: v.object({}),
  listUploads: v.object({
    uploads: v.array(v.object({ key: Key, uploadId: v.string(), startedMs: v.number() })),
    continuation: v.optional(v.string()),
  }),
} as const;
export type ObjectAnswer<K extends ObjectCall> = v.InferOutput<(typeof OBJECT_ANSWERS)[K]>;
