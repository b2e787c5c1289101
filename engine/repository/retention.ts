/**
 * `retention.json`: which commits the repository has forgotten, and the policy that is kept with it.
 *
 *     {"format":1,"repository":"<uuid>","policy":{"keepLast":5,"keepTags":["v*"]},"forgotten":["<hex>",...],
 *      "lost":["<hex>",...],"sha256":"<hex>"}
 *
 * `sha256` is the digest of the rest: an altered list may still be one, of other commits. Older versions
 * write none.
 *
 * One zstd frame, overwritten by compare-and-swap only. `policy` may be absent. The list only grows, at its
 * end: a collection notes how much of it it has seen.
 *
 * `lost` may be absent: commits that cannot be read and at which history ends (`history-end.ts`).
 *
 * A commit of the list keeps its record, because it is part of the history. What only it names may be gone.
 * A commit that a branch or a tag names is never forgotten, whatever the list says: `isForgotten`.
 */
import { hash as hashOf } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import type { RetentionPolicy } from '../api/jobs/jobs.ts';
import { formatPlural } from '../api/text/numbers.ts';
import { isDamage } from '../base/read-checked.ts';
import type { CommitHash } from '../model/entry.ts';
import type { CallOptions, ObjectStore } from '../remotes/object-store.ts';
import {
  checkSchema,
  damaged,
  decodeUnnamed,
  encodeDocument,
  FORMAT,
  STORED_DOCUMENT_MAX_BYTES,
} from './document.ts';
import { isHash, RETENTION_KEY } from './keys.ts';

export interface Retention {
  readonly repository: string;
  readonly policy?: RetentionPolicy | undefined;
  /** In the order in which they were forgotten. */
  readonly forgotten: readonly CommitHash[];
  /** Commits whose record is lost: history ends there. */
  readonly lost?: readonly CommitHash[] | undefined;
}

export interface StoredRetention extends Retention {
  /** The value that `writeRetention` compares. */
  readonly etag: string;
}

const COUNT_MAX = 1_000_000;
const TAGS_MAX = 100;
const TEXT_MAX = 1_000;

const countSchema = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(COUNT_MAX)));
const textSchema = v.pipe(v.string(), v.maxLength(TEXT_MAX));
const policySchema = v.object({
  keepLast: countSchema,
  keepDaily: countSchema,
  keepWeekly: countSchema,
  keepMonthly: countSchema,
  keepWithin: v.optional(textSchema),
  keepTags: v.optional(v.pipe(v.array(textSchema), v.maxLength(TAGS_MAX))),
});
const retentionSchema = v.object({
  repository: v.pipe(v.string(), v.uuid()),
  policy: v.optional(policySchema),
  forgotten: v.array(v.custom<CommitHash>(isHash, 'not a hash')),
  lost: v.optional(v.array(v.custom<CommitHash>(isHash, 'not a hash'))),
});

/** One request. Undefined without a policy and a forgotten commit. @throws `damaged`, `formatTooNew` */
export async function readRetention(
  store: ObjectStore,
  options: CallOptions = {},
): Promise<StoredRetention | undefined> {
  const read = await store.read(RETENTION_KEY, { ...options, maxBytes: STORED_DOCUMENT_MAX_BYTES });
  if (!read) return undefined;
  try {
    const raw = decodeUnnamed(RETENTION_KEY, read.bytes);
    const document = checkSchema(RETENTION_KEY, retentionSchema, raw);
    if (raw.sha256 !== undefined && raw.sha256 !== digestOf(raw))
      throw damaged(RETENTION_KEY, 'its content is not that of its digest');
    return { ...document, etag: read.etag } as StoredRetention;
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw unusableRetention(error.message, error);
  }
}

/** As `JSON.stringify` writes them: fields of the policy that this version does not know count too. */
function digestOf({ forgotten, lost, policy, repository }: Readonly<Record<string, unknown>>): string {
  return hashOf('sha256', JSON.stringify({ repository, policy, forgotten, lost }));
}

/**
 * The list only grows, so it has at least as many commits as a collection has counted before.
 * @param known As `collection.json` said before the list was read.
 * @throws `damaged` if it is lost, or was replaced by an older one
 */
export function checkLength(
  { address }: ObjectStore,
  retention: Pick<Retention, 'forgotten'> | undefined,
  known: number,
): void {
  const found = retention?.forgotten.length ?? 0;
  if (found >= known) return;
  const holds = retention ? `lists ${found}` : 'is missing';
  const counted = `a collection has counted ${formatPlural(known, 'forgotten commit')}`;
  throw unusableRetention(`${RETENTION_KEY} at ${address} ${holds}, but ${counted}.`);
}

function unusableRetention(message: string, cause?: DrayError): DrayError {
  return new DrayError('damaged', message, {
    data: { ...cause?.data, key: RETENTION_KEY },
    advice: 'Run "dray repair": it makes the list again from the commits whose content was removed.',
    command: 'dray repair',
    cause,
  });
}

/**
 * One request. False if the document is not the expected one any more, or exists although it was expected to
 * be absent.
 * @param expected The list must begin with the one of this document.
 */
export async function writeRetention(
  store: ObjectStore,
  { forgotten, lost: ends = [], policy, repository }: Retention,
  expected: StoredRetention | undefined,
  options: CallOptions = {},
): Promise<boolean> {
  const head = JSON.stringify({ format: FORMAT, repository, ...(policy ? { policy } : {}) });
  const listOf = (hashes: readonly CommitHash[]) => `[${hashes.map((hash) => `"${hash}"`).join(',\n')}]`;
  const lost = ends.length > 0 ? ends : undefined;
  const lists = `"forgotten":${listOf(forgotten)}${lost ? `,\n"lost":${listOf(lost)}` : ''}`;
  const sha256 = digestOf({ repository, policy, forgotten, lost });
  const { bytes } = encodeDocument(`${head.slice(0, -1)},${lists},\n"sha256":"${sha256}"}\n`);
  const outcome = await store.put(RETENTION_KEY, bytes, {
    ...options,
    condition: expected ? { etag: expected.etag } : { absent: true },
    checksum: { crc32: crc32(bytes) },
  });
  return outcome.written;
}
