/**
 * Refs: the mutable names of commits, and the only objects that are ever overwritten, by compare-and-swap.
 *
 *     refs/heads/<branch>, refs/tags/<tag>   {"format":1,"commit":"<hex>","epoch":0,"repository":"<uuid>"}
 *
 * Each ref repeats `repository` and `epoch`, so that one GET proves whether a workspace's knowledge of the
 * remote is still valid. In a repository that collects garbage a ref also has `"required":["collection"]`,
 * and may have a state: `"state":"pending","nonce":"<uuid>"` while it is being made (with `"again":true`
 * if it was removed before), and `"state":"removed"`
 * for good. For readers both are absent.
 */
import { crc32 } from 'node:zlib';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import { Budget } from '../base/budget.ts';
import { isDamage } from '../base/read-checked.ts';
import type { CommitHash } from '../model/entry.ts';
import type { CallOptions, DeleteOptions, ObjectStore } from '../remotes/object-store.ts';
import { checkSchema, FEATURE_COLLECTION, FORMAT, parseDocument } from './document.ts';
import { isHash, REFS_PREFIX, refKey } from './keys.ts';
import { checkRefName, refNameReason } from './ref-name.ts';

export type RefKind = 'heads' | 'tags';

export interface RefValue {
  readonly commit: CommitHash;
  /** Increases when a collection removes objects. */
  readonly epoch: number;
  /** The repository's id. */
  readonly repository: string;
  /** The repository collects garbage, so versions that do not know it must not read the ref. */
  readonly collects?: true;
}

export type RefState = 'live' | 'pending' | 'removed';

export interface StoredRef extends RefValue {
  /** `heads/<branch>` or `tags/<tag>`. */
  readonly name: string;
  /** The value that `moveRef` compares. */
  readonly etag: string;
}

/** A ref in any state, for those who make, remove or collect. */
export interface AnyRef extends StoredRef {
  readonly state: RefState;
  /** UUID of the process that is making a pending ref, so that no two pending refs are equal. */
  readonly nonce?: string;
  /** A pending ref that was removed before. A pending one without it was absent. */
  readonly again?: true;
}

/** The state that the ref must have for a move. */
export type ExpectedRef = { readonly etag: string } | { readonly absent: true };

const REF_MAX_BYTES = 16 * 1024;
const READS_AT_ONCE = 16;

const refSchema = v.object({
  commit: v.custom<CommitHash>(isHash, 'not a hash'),
  epoch: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  repository: v.pipe(v.string(), v.uuid()),
  required: v.optional(v.array(v.string())),
  state: v.optional(v.picklist(['pending', 'removed']), undefined),
  nonce: v.optional(v.string()),
  again: v.optional(v.boolean(), false),
});

/**
 * One request. Undefined when the ref does not exist.
 * @param name `heads/<branch>` or `tags/<tag>`. @throws `usage` for an invalid name, `damaged`,
 * `formatTooNew`.
 */
export async function readRef(
  store: ObjectStore,
  name: string,
  options: CallOptions = {},
): Promise<StoredRef | undefined> {
  const ref = await readAnyRef(store, name, options);
  return ref && onlyLive(ref);
}

/** Like `readRef`, but also returns a ref that is pending or removed. */
/** @throws `damaged`, with the way to make it again */
function parseRef(name: string, bytes: Uint8Array): v.InferOutput<typeof refSchema> {
  const key = refKey(name);
  try {
    return checkSchema(key, refSchema, parseDocument(key, bytes));
  } catch (error) {
    if (!isDamage(error)) throw error;
    const short = name.slice(name.indexOf('/') + 1);
    const isTag = name.startsWith('tags/');
    const command = isTag ? `dray tag ${short} COMMIT --force` : `dray repair --branch ${short}`;
    const where = isTag ? '' : ' at the newest commit that a workspace knows';
    throw new DrayError('damaged', error.message, {
      data: error.data,
      advice: `"${command}" makes it again${where}.`,
      command: isTag ? 'dray tag' : command,
      cause: error,
    });
  }
}

/** The etag of a ref that cannot be read. One LIST. */
export async function etagOfDamaged(
  store: ObjectStore,
  name: string,
  options: CallOptions = {},
): Promise<string | undefined> {
  // A HEAD would check a ref of an encrypted repository, and fail as well.
  const key = refKey(name);
  const { objects } = await store.list({ prefix: key, limit: 1 }, options);
  return objects.find((object) => object.key === key)?.etag;
}

export async function readAnyRef(
  store: ObjectStore,
  name: string,
  options: CallOptions = {},
): Promise<AnyRef | undefined> {
  checkFullName(name);
  const key = refKey(name);
  const read = await store.read(key, { ...options, maxBytes: REF_MAX_BYTES });
  if (!read) return undefined;
  const document = parseRef(name, read.bytes);
  const { again, commit, epoch, nonce, repository, required, state = 'live' } = document;
  return {
    name,
    etag: read.etag,
    commit,
    epoch,
    repository,
    state,
    ...(required?.includes(FEATURE_COLLECTION) ? { collects: true } : {}),
    ...(nonce === undefined ? {} : { nonce }),
    ...(again && state === 'pending' ? { again } : {}),
  };
}

/** Undefined for a ref that readers take for absent. */
export function onlyLive({ again: _again, nonce: _nonce, state, ...ref }: AnyRef): StoredRef | undefined {
  return state === 'live' ? ref : undefined;
}

/**
 * `moved: false`: the ref was not in the expected state and did not change; `current` is its current value,
 * if it exists.
 */
export type MoveOutcome =
  | { readonly moved: true; readonly etag: string }
  | { readonly moved: false; readonly current: StoredRef | undefined };

/**
 * Compare-and-swap. One request; a second one reads the ref when it was not in the expected state. If it then
 * has the value to be written, it counts as moved: a retried PUT that lost its first answer looks like that.
 * The commit must already be stored.
 */
export async function moveRef(
  store: ObjectStore,
  name: string,
  value: RefValue,
  expected: ExpectedRef,
  options: CallOptions = {},
): Promise<MoveOutcome> {
  const { current, written } = await writeAnyRef(store, name, { ...value, state: 'live' }, expected, options);
  return written
    ? { moved: true, etag: current.etag }
    : { moved: false, current: current && onlyLive(current) };
}

/**
 * Compare-and-swap to any state, as `moveRef`.
 * @returns Whether the ref has the value, and what it is now.
 */
export async function writeAnyRef(
  store: ObjectStore,
  name: string,
  value: Omit<AnyRef, 'name' | 'etag'>,
  expected: ExpectedRef,
  options: CallOptions = {},
): Promise<
  | { readonly written: true; readonly current: AnyRef }
  | { readonly written: false; readonly current: AnyRef | undefined }
> {
  checkFullName(name);
  const { again, collects, commit, epoch, nonce, repository, state } = value;
  const document = {
    format: FORMAT,
    ...(collects ? { required: [FEATURE_COLLECTION] } : {}),
    commit,
    epoch,
    repository,
    ...(state === 'live' ? {} : { state }),
    ...(nonce === undefined ? {} : { nonce }),
    ...(again && state === 'pending' ? { again } : {}),
  };
  const bytes = Buffer.from(`${JSON.stringify(document)}\n`, 'utf8');
  const outcome = await store.put(refKey(name), bytes, {
    ...options,
    condition: expected,
    checksum: { crc32: crc32(bytes) },
    contentType: 'application/json',
  });
  if (outcome.written) return { written: true, current: { ...value, name, etag: outcome.etag } };
  const current = await readAnyRef(store, name, options);
  if (!current) return { written: false, current };
  const isOurs =
    current.commit === commit &&
    current.epoch === epoch &&
    current.repository === repository &&
    current.state === state &&
    current.nonce === nonce;
  return { written: isOurs, current };
}

/**
 * Removes a ref unless it has changed since it was read. In a repository that collects garbage it stays as
 * `removed`, so that neither a late DELETE nor a late repetition of the request that made it can harm.
 * Without an etag of the store's, it is removed in any state. @throws `conflict`
 */
export async function removeRef(
  store: ObjectStore,
  seen: StoredRef,
  options: CallOptions = {},
): Promise<void> {
  const { etag, name, ...value } = seen;
  if (!seen.collects) {
    await deleteRef(store, name, { ...options, ...(etag === '' ? {} : { ifMatch: etag }) });
    return;
  }
  const { written } = await writeAnyRef(store, name, { ...value, state: 'removed' }, { etag }, options);
  if (written) return;
  throw new DrayError('conflict', `${refKey(name)} has changed since it was read.`, { data: { ref: name } });
}

/**
 * Takes one request. Succeeds if the ref does not exist. @throws `conflict` if its etag is not `ifMatch` and
 * the store supports the condition (`DeleteOptions`).
 */
export async function deleteRef(
  store: ObjectStore,
  name: string,
  options: DeleteOptions = {},
): Promise<void> {
  checkFullName(name);
  await store.delete([refKey(name)], options);
}

/**
 * All branches or all tags, in byte order of their names: one LIST for each 1,000 and one GET for each ref,
 * 16 concurrently. Keys that cannot be refs are left out.
 */
export async function listRefs(
  store: ObjectStore,
  kind: RefKind,
  options: CallOptions = {},
): Promise<readonly StoredRef[]> {
  return (await listAnyRefs(store, kind, options)).flatMap((ref) => onlyLive(ref) ?? []);
}

/**
 * Like `listRefs`, with those that are pending or removed.
 * @param known Refs that were read before: those that are listed with the same etag are not read again.
 */
export async function listAnyRefs(
  store: ObjectStore,
  kind: RefKind,
  options: CallOptions = {},
  known: readonly AnyRef[] = [],
): Promise<readonly AnyRef[]> {
  const reads = new Budget(READS_AT_ONCE);
  const byName = new Map(known.map((ref) => [ref.name, ref]));
  const listed = await listNames(store, kind, options);
  const refs = await Promise.all(
    listed.map(({ etag, name }) => {
      const ref = byName.get(name);
      // A store may return no etags.
      return ref && etag !== '' && ref.etag === etag ? ref : readWithin(reads, store, name, options);
    }),
  );
  // Leaves out refs that were deleted between the listing and the read.
  return refs.filter((ref) => ref !== undefined);
}

async function readWithin(reads: Budget, store: ObjectStore, name: string, options: CallOptions) {
  using _permit = await reads.acquire(1, options.signal);
  return await readAnyRef(store, name, options);
}

/** Only the names, in the form of `readRef`: one LIST for each 1,000. */
export async function listRefNames(
  store: ObjectStore,
  kind: RefKind,
  options: CallOptions = {},
): Promise<readonly string[]> {
  return (await listNames(store, kind, options)).map(({ name }) => name);
}

async function listNames(
  store: ObjectStore,
  kind: RefKind,
  options: CallOptions,
): Promise<readonly { readonly name: string; readonly etag: string }[]> {
  const prefix = `${REFS_PREFIX}${kind}/`;
  const names: { readonly name: string; readonly etag: string }[] = [];
  let continuation: string | undefined;
  do {
    const page = await store.list(
      { prefix, ...(continuation === undefined ? {} : { continuation }) },
      options,
    );
    for (const { etag, key } of page.objects) {
      const short = key.slice(prefix.length);
      if (refNameReason(short) === undefined) names.push({ name: `${kind}/${short}`, etag });
    }
    continuation = page.continuation;
  } while (continuation !== undefined);
  return names;
}

function checkFullName(name: string): void {
  const slash = name.indexOf('/');
  const kind = name.slice(0, slash);
  if (kind !== 'heads' && kind !== 'tags') {
    throw new DrayError(
      'internal',
      `The name of a ref starts with heads/ or tags/: ${JSON.stringify(name)}.`,
    );
  }
  checkRefName(name.slice(slash + 1));
}
