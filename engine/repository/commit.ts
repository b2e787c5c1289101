/**
 * A commit: an immutable record of the whole dataset, named by the SHA-256 of its JSON.
 *
 *     {"format":1,"repository":"<uuid>","parents":["<hex>",...],"author":"...","message":"...",
 *      "time":"2026-01-31T12:00:00.000Z","totals":{"files":2,"links":0,"folders":0,"bytes":24},
 *      "manifest":{a segment, see segment.ts}}
 *
 * A commit with several segments (or none, for an empty dataset) has, instead of `manifest`:
 *
 *      "segments":[
 *      {"hash":"<hex>","first":"path","last":"path","files":2,"links":0,"folders":0,"bytes":24},
 *      ...]
 *
 * So a small dataset is one object, read by one GET. Everything that a commit names is stored before the
 * commit, so a readable commit is complete.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import { readChecked } from '../base/read-checked.ts';
import { type CommitHash, comparePaths, type Entry, type SegmentHash } from '../model/entry.ts';
import type { CallOptions, ObjectStore, RemoteKey } from '../remotes/object-store.ts';
import {
  checkSchema,
  damaged,
  decodeDocument,
  encodeDocument,
  isJsonObject,
  STORED_DOCUMENT_MAX_BYTES,
} from './document.ts';
import { commitKey, isHash } from './keys.ts';
import {
  EMPTY_MANIFEST,
  entryCount,
  type Manifest,
  type SegmentRef,
  sameTotals,
  type Totals,
  totalsOfManifest,
} from './manifest/manifest.ts';
import { parseSegment, segmentToText } from './manifest/segment.ts';

export interface Commit {
  /** The id of the commit's repository. */
  readonly repository: string;
  /** None for the first commit, two for a merge; the first is the branch's own. */
  readonly parents: readonly CommitHash[];
  readonly author: string;
  readonly message: string;
  /** RFC 3339 with milliseconds, UTC, as `Date.toISOString` writes it. */
  readonly time: string;
  readonly totals: Totals;
  readonly manifest: Manifest;
}

export interface EncodedCommit {
  readonly hash: CommitHash;
  /** The JSON, UTF-8. */
  readonly raw: Uint8Array;
  /** The bytes stored under `commitKey(hash)`. */
  readonly bytes: Uint8Array;
}

const PARENTS_MAX = 16;
const AUTHOR_MAX = 1_000;
const MESSAGE_MAX = 65_536;

const hashSchema = v.custom<CommitHash>(isHash, 'not a hash');
const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const totalsSchema = v.object({
  files: countSchema,
  links: countSchema,
  folders: countSchema,
  bytes: countSchema,
});
const commitSchema = v.object({
  repository: v.pipe(v.string(), v.uuid()),
  parents: v.pipe(v.array(hashSchema), v.maxLength(PARENTS_MAX)),
  author: v.pipe(v.string(), v.maxLength(AUTHOR_MAX)),
  message: v.pipe(v.string(), v.maxLength(MESSAGE_MAX)),
  time: v.custom<string>(isTime, 'not a time'),
  totals: totalsSchema,
  manifest: v.optional(v.unknown()),
  segments: v.optional(v.unknown()),
});

/**
 * @param epoch The round of the last collection, 0 without any: written from 1 on, so that the commit has a
 * name that no earlier commit had.
 * @throws `usage` for an author or message that is too long, and the errors of `encodeSegment`.
 */
export function encodeCommit(commit: Commit, epoch = 0): EncodedCommit {
  const { repository, parents, author, message, time, totals, manifest } = commit;
  if (author.length > AUTHOR_MAX || message.length > MESSAGE_MAX) {
    const limits = `${AUTHOR_MAX} and ${MESSAGE_MAX} characters`;
    throw new DrayError('usage', `The author or the message is too long: at most ${limits}.`);
  }
  // Never write what a reader would refuse.
  assert(v.is(commitSchema, commit), 'a commit that does not fit its own schema');
  assert(sameTotals(totalsOfManifest(manifest), totals), 'totals that are not those of the manifest');
  const { files, links, folders, bytes } = totals;
  const head = JSON.stringify({
    format: 1,
    ...(epoch === 0 ? {} : { epoch }),
    repository,
    parents,
    author,
    message,
    time,
    totals: { files, links, folders, bytes },
  });
  const encoded = encodeDocument(`${head.slice(0, -1)},${manifestToText(manifest)}}\n`);
  return { hash: encoded.hash as CommitHash, raw: encoded.raw, bytes: encoded.bytes };
}

/** @param stored The bytes of `commitKey(hash)`. @throws `damaged` naming that key, `formatTooNew`. */
export function decodeCommit(hash: CommitHash, stored: Uint8Array): Commit {
  const key = commitKey(hash);
  const document = checkSchema(key, commitSchema, decodeDocument(key, hash, stored));
  const { manifest: inline, segments, ...head } = document;
  if ((inline === undefined) === (segments === undefined)) {
    throw damaged(key, 'it needs either a manifest or segments');
  }
  const manifest: Manifest =
    inline === undefined
      ? parseSegmentRefs(key, segments)
      : { kind: 'inline', entries: parseSegment(key, inline) };
  if (!sameTotals(totalsOfManifest(manifest), head.totals)) {
    throw damaged(key, 'its totals are not those of its manifest');
  }
  return { ...head, manifest };
}

/**
 * One request, and one more for damaged bytes. @throws `notFound`, `damaged` naming the key, `formatTooNew`.
 */
export async function readCommit(
  store: ObjectStore,
  hash: CommitHash,
  options: CallOptions = {},
): Promise<Commit> {
  const key = commitKey(hash);
  const commit = await readChecked(
    () => store.read(key, { ...options, maxBytes: STORED_DOCUMENT_MAX_BYTES }),
    ({ bytes }) => decodeCommit(hash, bytes),
  );
  if (commit) return commit;
  const stored = store.sealing ? ` (stored as ${store.sealing.storedKey(key)})` : '';
  const message = `${store.address} has no commit ${hash}${stored}.`;
  throw new DrayError('notFound', message, { data: { key, commit: hash } });
}

/** One request. Has no effect when the commit exists. Everything that it names must already be stored. */
export async function storeCommit(
  store: ObjectStore,
  { hash, bytes }: EncodedCommit,
  options: CallOptions = {},
): Promise<void> {
  const checksum = { crc32: crc32(bytes) };
  await store.put(commitKey(hash), bytes, { ...options, condition: { absent: true }, checksum });
}

function manifestToText(manifest: Manifest): string {
  if (manifest.kind === 'inline') return inlineToText(manifest.entries);
  const lines = manifest.segments.map(({ hash, first, last, files, links, folders, bytes }) =>
    JSON.stringify({ hash, first, last, files, links, folders, bytes }),
  );
  return `"segments":[\n${lines.join(',\n')}\n]`;
}

function inlineToText(entries: readonly Entry[]): string {
  return entries.length === 0 ? '"segments":[]' : `"manifest":${segmentToText(entries)}`;
}

/**
 * Without a schema, which takes ten times as long for the tens of thousands of segments of a large dataset.
 */
function parseSegmentRefs(key: RemoteKey, value: unknown): Manifest {
  if (!Array.isArray(value)) throw damaged(key, '"segments" is not a list');
  if (value.length === 0) return EMPTY_MANIFEST;
  const segments: SegmentRef[] = [];
  let previous: string | undefined;
  for (const item of value as unknown[]) {
    const segment = parseSegmentRef(item);
    if (!segment) throw damaged(key, `segment ${segments.length} has a wrong form`);
    if (previous !== undefined && comparePaths(previous, segment.first) >= 0) {
      throw damaged(key, `segment ${segments.length} is out of order`);
    }
    previous = segment.last;
    segments.push(segment);
  }
  return { kind: 'segments', segments };
}

function parseSegmentRef(value: unknown): SegmentRef | undefined {
  if (!isJsonObject(value) || !isHash(value.hash)) return undefined;
  const { first, last, files, links, folders, bytes } = value;
  if (typeof first !== 'string' || typeof last !== 'string' || comparePaths(first, last) > 0)
    return undefined;
  if (!isCount(files) || !isCount(links) || !isCount(folders) || !isCount(bytes)) return undefined;
  const segment = { hash: value.hash as SegmentHash, first, last, files, links, folders, bytes };
  return entryCount(segment) > 0 ? segment : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isTime(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const ms = Date.parse(value);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === value;
}
