/**
 * The keys of a repository of format 1, relative to the remote's prefix. A name of 64 hexadecimal digits is
 * split after two of them, so that a listing can be divided over 256 prefixes.
 */
import type { BlobHash, CommitHash, PackHash, SegmentHash } from '../model/entry.ts';
import type { RemoteKey } from '../remotes/object-store.ts';

export const DESCRIPTOR_KEY: RemoteKey = 'dray.json';
export const REFS_PREFIX = 'refs/';
export const COMMITS_PREFIX = 'commits/';
export const MANIFESTS_PREFIX = 'manifests/';
export const OBJECTS_PREFIX = 'objects/';
export const PACKS_PREFIX = 'packs/';
/** Where blobs of packs are that a collection has written anew. */
export const RELOCATIONS_PREFIX = 'relocations/';
/** The state of the collection of garbage. */
export const COLLECTION_KEY: RemoteKey = 'collection.json';
/** The lists of a collection. */
export const COLLECTION_PREFIX = 'collection/';
/** The forgotten commits. */
export const RETENTION_KEY: RemoteKey = 'retention.json';

/** The slots of an encrypted repository's master key. */
export const KEY_SLOTS_PREFIX = 'keys/';

/** What tests of a store write, each below a prefix of its own. */
export const TEST_PREFIX = '.dray-test-';

const HASH = /^[0-9a-f]{64}$/;
const OBJECT_KEY = /^objects\/([0-9a-f]{2})\/([0-9a-f]{62})$/;
const LATER_OBJECT_KEY = /^objects\/([0-9a-f]{2})\/([0-9a-f]{62})\.[1-9][0-9]{0,14}$/;
const MANIFEST_KEY = /^manifests\/([0-9a-f]{2})\/([0-9a-f]{62})$/;
const PACK_KEY = /^packs\/([0-9a-f]{2})\/([0-9a-f]{62})$/;
const RELOCATION_KEY = /^relocations\/([0-9a-f]{2})\/([0-9a-f]{62})$/;
/** With a UUID. No key of a repository begins with a dot. */
const TEST_KEY = /^\.dray-test-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/./;
const COMMIT_KEY = /^commits\/([0-9a-f]{2})\/([0-9a-f]{62})$/;

/** Whether the text is SHA-256 in 64 lower-case hexadecimal digits, the form of every name here. */
export function isHash(text: unknown): text is string {
  return typeof text === 'string' && HASH.test(text);
}

/** @param generation 0: the first, whose key is the hash alone. */
export function objectKey(hash: BlobHash, generation = 0): RemoteKey {
  const first = splitKey(OBJECTS_PREFIX, hash);
  return generation === 0 ? first : `${first}.${generation}`;
}

export function packKey(hash: PackHash): RemoteKey {
  return splitKey(PACKS_PREFIX, hash);
}

/** @param hash The old pack's. */
export function relocationKey(hash: PackHash): RemoteKey {
  return splitKey(RELOCATIONS_PREFIX, hash);
}

export function segmentKey(hash: SegmentHash): RemoteKey {
  return splitKey(MANIFESTS_PREFIX, hash);
}

/** @param name SHA-256 of the list's uncompressed bytes. */
export function collectionListKey(name: string): RemoteKey {
  return splitKey(COLLECTION_PREFIX, name);
}

export function commitKey(hash: CommitHash): RemoteKey {
  return splitKey(COMMITS_PREFIX, hash);
}

/** @param name `heads/<branch>` or `tags/<tag>`. */
export function refKey(name: string): RemoteKey {
  return REFS_PREFIX + name;
}

const REF_KEY = /^refs\/(?:heads|tags)\/./;
const LIST_KEY = /^(?:collection\/[0-9a-f]{2}\/[0-9a-f]{62}|keys\/[0-9a-f]{64})$/;

const CONTENT_KEYS = [OBJECT_KEY, LATER_OBJECT_KEY, PACK_KEY, MANIFEST_KEY, COMMIT_KEY, RELOCATION_KEY];

/**
 * Whether the key may be collected: that of an object of any generation, a pack, a relocation, a segment or a
 * commit. A listing may contain foreign keys, which are nobody's to remove.
 */
export function isContentKey(key: RemoteKey): boolean {
  return CONTENT_KEYS.some((form) => form.test(key));
}

/** Whether a repository gives such a key to what it stores, encrypted or not. */
export function isRepositoryKey(key: RemoteKey): boolean {
  if (key === DESCRIPTOR_KEY || key === COLLECTION_KEY || key === RETENTION_KEY) return true;
  return isContentKey(key) || REF_KEY.test(key) || LIST_KEY.test(key);
}

/** Whether a test of the store has written it. */
export function isTestKey(key: RemoteKey): boolean {
  return TEST_KEY.test(key);
}

/** Undefined for a key that is not that of an object's first generation. */
export function hashFromObjectKey(key: RemoteKey): BlobHash | undefined {
  return hashFromKey(OBJECT_KEY, key) as BlobHash | undefined;
}

/** Like `hashFromObjectKey`, of any generation. */
export function hashFromAnyObjectKey(key: RemoteKey): BlobHash | undefined {
  return hashFromObjectKey(key) ?? (hashFromKey(LATER_OBJECT_KEY, key) as BlobHash | undefined);
}

/** Undefined for a key that is not a pack's. */
export function hashFromPackKey(key: RemoteKey): PackHash | undefined {
  return hashFromKey(PACK_KEY, key) as PackHash | undefined;
}

/** The old pack; undefined for a key that is not a relocation's. */
export function packFromRelocationKey(key: RemoteKey): PackHash | undefined {
  return hashFromKey(RELOCATION_KEY, key) as PackHash | undefined;
}

/** Undefined for a key that is not a commit's. */
export function hashFromCommitKey(key: RemoteKey): CommitHash | undefined {
  return hashFromKey(COMMIT_KEY, key) as CommitHash | undefined;
}

function splitKey(prefix: string, hash: string): RemoteKey {
  return `${prefix}${hash.slice(0, 2)}/${hash.slice(2)}`;
}

function hashFromKey(pattern: RegExp, key: RemoteKey): string | undefined {
  const match = pattern.exec(key);
  return match ? `${match[1]}${match[2]}` : undefined;
}
