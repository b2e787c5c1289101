/**
 * The bytes of commits, segments and avoid lists that the workspace's index still has. A document's name is
 * the hash of its text, so equal names prove equal bytes.
 */
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { wrapStore } from '../../remotes/wrappers/wrap-store.ts';
import { encodeList } from '../../repository/collection/stored-list.ts';
import { hashFromCommitKey, segmentKey } from '../../repository/keys.ts';
import type { SegmentRef } from '../../repository/manifest/manifest.ts';
import { encodeSegment } from '../../repository/manifest/segment.ts';
import { baseMark } from '../session/base/base-commit.ts';
import { findCachedCommit } from '../session/base/cached-commit.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';

/** @returns The bytes to store, by key: those of the given keys that are known. */
export function findKnownDocuments(
  session: Session,
  { known, uuid, view }: LinkedRepository,
  keys: ReadonlySet<RemoteKey>,
): ReadonlyMap<RemoteKey, Uint8Array> {
  const found = new Map<RemoteKey, Uint8Array>();
  const { files, repositories, settings } = session.index;
  for (const key of keys) {
    const hash = hashFromCommitKey(key);
    const cached = hash && findCachedCommit(session.index, hash);
    if (cached) found.set(key, cached.bytes);
  }
  for (const [name, raw] of repositories.avoidLists(known.id)) {
    const list = encodeList(raw);
    if (list.name === name && keys.has(list.key)) found.set(list.key, list.bytes);
  }
  const base = session.state.bases[session.remoteName] as CommitHash | undefined;
  const cached = base && findCachedCommit(session.index, base);
  // The rows are those of the base commit only under its mark.
  if (!cached || settings.base !== baseMark(session, uuid, base)) return found;
  const { manifest } = cached.commit;
  if (manifest.kind === 'inline') return found;
  for (const segment of manifest.segments) {
    const key = segmentKey(segment.hash);
    if (!keys.has(key)) continue;
    const entries = files.baseEntries(segment.first, segment.last, known.id);
    const bytes = entries && bytesNamed(segment, entries, view?.round ?? 0);
    if (bytes) found.set(key, bytes);
  }
  return found;
}

/** A segment may have the number of a round in its text. */
function bytesNamed(
  { hash }: SegmentRef,
  entries: Parameters<typeof encodeSegment>[0],
  rounds: number,
): Uint8Array | undefined {
  for (let round = 0; round <= rounds; round += 1) {
    const segment = encodeSegment(entries, round === 0 ? undefined : { round, avoids: () => true });
    if (segment.hash === hash) return segment.bytes;
  }
  return undefined;
}

/** The store, as if it had these documents whole. */
export function withDocuments(
  store: ObjectStore,
  documents: ReadonlyMap<RemoteKey, Uint8Array>,
): ObjectStore {
  const plain = wrapStore(store, (_name, _signal, send) => send());
  return {
    ...plain,
    ...(store.sealing && { sealing: store.sealing }),
    async read(key, options) {
      const bytes = documents.get(key);
      if (!bytes) return await plain.read(key, options);
      return { bytes, etag: '', info: { key, sizeBytes: bytes.length, etag: '', modifiedMs: 0 } };
    },
  };
}
