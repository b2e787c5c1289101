/**
 * Refs: the mutable names of commits, and the only objects that are ever overwritten, by compare-and-swap.
 *
 *     refs/heads/<branch>, refs/tags/<tag>   {"format":1,"commit":"<hex>","epoch":0,"repository":"<uuid>"}
 *
 * `repository` and `epoch` are repeated in each ref so that one GET proves whether what a workspace remembers of the
 * remote still holds.
 */
import { crc32 } from 'node:zlib';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import { Budget } from '../base/budget.ts';
import type { CommitHash } from '../model/entry.ts';
import type { CallOptions, ObjectStore } from '../remotes/object-store.ts';
import { checkSchema, FORMAT, parseDocument } from './document.ts';
import { isHash, REFS_PREFIX, refKey } from './keys.ts';
import { checkRefName, refNameReason } from './ref-name.ts';

export type RefKind = 'heads' | 'tags';

export interface RefValue {
  readonly commit: CommitHash;
  /** Rises when a collection removes objects. */
  readonly epoch: number;
  /** The repository's id. */
  readonly repository: string;
}

export interface StoredRef extends RefValue {
  /** `heads/<branch>` or `tags/<tag>`. */
  readonly name: string;
  /** What `moveRef` compares. */
  readonly etag: string;
}

/** What the ref must be for a move to happen. */
export type ExpectedRef = { readonly etag: string } | { readonly absent: true };

const REF_MAX_BYTES = 16 * 1024;
const READS_AT_ONCE = 16;

const refSchema = v.object({
  commit: v.custom<CommitHash>(isHash, 'not a hash'),
  epoch: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  repository: v.pipe(v.string(), v.uuid()),
});

/**
 * One request. Undefined when there is no such ref.
 * @param name `heads/<branch>` or `tags/<tag>`. @throws `usage` for an impossible name, `damaged`, `formatTooNew`.
 */
export async function readRef(
  store: ObjectStore,
  name: string,
  options: CallOptions = {},
): Promise<StoredRef | undefined> {
  checkFullName(name);
  const key = refKey(name);
  const read = await store.read(key, { ...options, maxBytes: REF_MAX_BYTES });
  if (!read) return undefined;
  return { name, etag: read.etag, ...checkSchema(key, refSchema, parseDocument(key, read.bytes)) };
}

/** `moved: false`: the ref was not as expected and nothing changed; `current` is what it is now, if it is at all. */
export type MoveOutcome =
  | { readonly moved: true; readonly etag: string }
  | { readonly moved: false; readonly current: StoredRef | undefined };

/**
 * Compare-and-swap. One request; a second one reads the ref when it was not as expected. If it then holds the very
 * value that was to be written, it counts as moved: a retried PUT whose first answer was lost looks like that.
 * The commit must be stored by now.
 */
export async function moveRef(
  store: ObjectStore,
  name: string,
  value: RefValue,
  expected: ExpectedRef,
  options: CallOptions = {},
): Promise<MoveOutcome> {
  checkFullName(name);
  const { commit, epoch, repository } = value;
  const bytes = Buffer.from(`${JSON.stringify({ format: FORMAT, commit, epoch, repository })}\n`, 'utf8');
  const outcome = await store.put(refKey(name), bytes, {
    ...options,
    condition: expected,
    checksum: { crc32: crc32(bytes) },
    contentType: 'application/json',
  });
  if (outcome.written) return { moved: true, etag: outcome.etag };
  const current = await readRef(store, name, options);
  const isOurs = current?.commit === commit && current.epoch === epoch && current.repository === repository;
  return isOurs ? { moved: true, etag: current.etag } : { moved: false, current };
}

/** One request. Unconditional; no error when there is no such ref. */
export async function deleteRef(store: ObjectStore, name: string, options: CallOptions = {}): Promise<void> {
  checkFullName(name);
  await store.delete([refKey(name)], options);
}

/**
 * All branches or all tags, in byte order of their names: one LIST for each 1,000 and one GET for each ref, 16 at once.
 * Keys that cannot be refs are not ours and left out.
 */
export async function listRefs(
  store: ObjectStore,
  kind: RefKind,
  options: CallOptions = {},
): Promise<readonly StoredRef[]> {
  const reads = new Budget(READS_AT_ONCE);
  const found: Promise<StoredRef | undefined>[] = [];
  for (const name of await listRefNames(store, kind, options)) {
    found.push(readWithin(reads, store, name, options));
  }
  const refs = await Promise.all(found);
  // One that was deleted between the listing and its reading is gone.
  return refs.filter((ref) => ref !== undefined);
}

async function readWithin(reads: Budget, store: ObjectStore, name: string, options: CallOptions) {
  const permit = await reads.acquire(1, options.signal);
  try {
    return await readRef(store, name, options);
  } finally {
    permit.release();
  }
}

/** The names alone, as `readRef` takes them: one LIST for each 1,000. */
export async function listRefNames(
  store: ObjectStore,
  kind: RefKind,
  options: CallOptions = {},
): Promise<readonly string[]> {
  const prefix = `${REFS_PREFIX}${kind}/`;
  const names: string[] = [];
  let continuation: string | undefined;
  do {
    const page = await store.list(
      { prefix, ...(continuation === undefined ? {} : { continuation }) },
      options,
    );
    for (const { key } of page.objects) {
      const short = key.slice(prefix.length);
      if (refNameReason(short) === undefined) names.push(`${kind}/${short}`);
    }
    continuation = page.continuation;
  } while (continuation !== undefined);
  return names;
}

function checkFullName(name: string): void {
  const slash = name.indexOf('/');
  const kind = name.slice(0, slash);
  if (kind !== 'heads' && kind !== 'tags') {
    throw new DrayError('internal', `A ref is called heads/... or tags/..., not ${JSON.stringify(name)}.`);
  }
  checkRefName(name.slice(slash + 1));
}
