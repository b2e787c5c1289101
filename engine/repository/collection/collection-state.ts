/**
 * `collection.json`: the state of the collection of garbage, overwritten by compare-and-swap only.
 *
 *     {"format":1,"required":["collection"],"repository":"<uuid>","round":k,"run":"<uuid>",
 *      "phase":"marked"|"sealed"|"done","started":"<time>","grace":seconds,"forgotten":n,
 *      "candidates":["<list>",...],"rescued":["<list>",...],"avoid":["<list>",...],"refs":"<list>",
 *      "removed":{"objects":n,"bytes":n},"sha256":"<hex>"}
 *
 * `sha256` is the digest of the rest: a state that was altered may still be one, and whoever believed it
 * would remove lists that the true one names. Older versions write none.
 *
 * A repository without it has had no collection: round 0. FORMAT.md says what each phase means.
 */
import { hash as hashOf } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { checkSchema, damaged, FEATURE_COLLECTION, FORMAT, parseDocument } from '../document.ts';
import { COLLECTION_KEY, isHash } from '../keys.ts';

const STATE_MAX_BYTES = 16 * 1024 * 1024;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const listNames = v.array(v.custom<string>(isHash, 'not a hash'));
const stateSchema = v.object({
  /** The repository's id. */
  repository: v.pipe(v.string(), v.uuid()),
  /** From 1. Refs repeat it as their epoch. */
  round: v.pipe(count, v.minValue(1)),
  /** UUID of this round, so that no two states are equal. */
  run: v.pipe(v.string(), v.uuid()),
  /**
   * `marked`: candidates are known, refs are fenced next. `sealed`: candidates that are not rescued are
   * condemned. `done`: they are removed.
   */
  phase: v.picklist(['marked', 'sealed', 'done']),
  started: v.pipe(v.string(), v.isoTimestamp()),
  /** Seconds: younger objects were no candidates. */
  grace: count,
  /** How many commits of the retention's list count as forgotten in this round. */
  forgotten: count,
  /** Key lists, in order. */
  candidates: listNames,
  /** Key lists of candidates that a ref has come to need. */
  rescued: listNames,
  /** Avoid lists of this and all earlier rounds. */
  avoid: listNames,
  /** The list of the refs that were live when the round marked. Absent in states of older versions. */
  refs: v.optional(v.custom<string>(isHash, 'not a hash')),
  removed: v.object({ objects: count, bytes: count }),
});
export type CollectionState = v.InferOutput<typeof stateSchema>;

const MADE_AGAIN = {
  advice: 'Run "dray repair": it makes the state again from the lists that are stored.',
  command: 'dray repair',
};

export interface StoredState {
  readonly state: CollectionState;
  /** The value that `writeCollectionState` compares. */
  readonly etag: string;
}

export interface ReadStateOptions extends CallOptions {
  /** The id that the state must have: another repository's candidates may be content that this one needs. */
  readonly repository?: string | undefined;
}

/** One request. Undefined before the first round. @throws `damaged`, `formatTooNew` */
export async function readCollectionState(
  store: ObjectStore,
  { repository, ...options }: ReadStateOptions = {},
): Promise<StoredState | undefined> {
  const read = await store.read(COLLECTION_KEY, { ...options, maxBytes: STATE_MAX_BYTES });
  if (!read) return undefined;
  const state = decodeState(read.bytes);
  if (repository !== undefined && state.repository !== repository)
    throw otherRepository(state.repository, repository);
  return { state, etag: read.etag };
}

function decodeState(bytes: Uint8Array): CollectionState {
  try {
    const raw = parseDocument(COLLECTION_KEY, bytes);
    const state = checkSchema(COLLECTION_KEY, stateSchema, raw);
    if (raw.sha256 === undefined || raw.sha256 === digestOf(raw)) return state;
    throw damaged(COLLECTION_KEY, 'its content is not that of its digest');
  } catch (error) {
    if (!isDamage(error)) throw error;
    const { data, message } = error;
    throw new DrayError('damaged', message, { data, cause: error, ...MADE_AGAIN });
  }
}

/** In the order of the stored text: fields that this version does not know count too. */
function digestOf({ sha256: _, ...rest }: Readonly<Record<string, unknown>>): string {
  return hashOf('sha256', JSON.stringify(rest));
}

function otherRepository(found: string, repository: string): DrayError {
  const message = `${COLLECTION_KEY} is damaged: it belongs to the repository ${found}, and this one is ${repository}.`;
  return new DrayError('damaged', message, { data: { key: COLLECTION_KEY, reason: 'otherRepository' } });
}

/**
 * Refs get the number of a round only once the state has it, and the state never goes back.
 * @param ref A ref that knows a later round than the state.
 */
export function lostState(store: ObjectStore, ref: string): DrayError {
  const message = `${COLLECTION_KEY} at ${store.address} is missing, or older than refs/${ref} says.`;
  return new DrayError('damaged', message, {
    data: { key: COLLECTION_KEY, ref },
    ...MADE_AGAIN,
  });
}

/**
 * Compare-and-swap. One request, or two when the state was not the expected one.
 * @param expected The state that is there now; undefined: none.
 * @returns What is stored now. It is another collector's if its `run` or its phase is not the one given.
 */
export async function writeCollectionState(
  store: ObjectStore,
  state: CollectionState,
  expected: StoredState | undefined,
  options: CallOptions = {},
): Promise<StoredState | undefined> {
  const document = { format: FORMAT, required: [FEATURE_COLLECTION], ...state };
  const text = JSON.stringify({ ...document, sha256: digestOf(document) });
  const bytes = Buffer.from(`${text}\n`, 'utf8');
  const outcome = await store.put(COLLECTION_KEY, bytes, {
    ...options,
    condition: expected ? { etag: expected.etag } : { absent: true },
    checksum: { crc32: crc32(bytes) },
    contentType: 'application/json',
  });
  if (outcome.written && outcome.etag !== '') return { state, etag: outcome.etag };
  return readCollectionState(store, options);
}
