/** Writes a commit over another one: first its segments, then the commit. Its content must be stored. */
import { checkAborted } from '../../base/abort.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import { findUnseen, notStored, type WrittenObject } from '../../query/existence/find-unseen.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { CollectionView } from '../../repository/collection/collection-view.ts';
import { type Commit, encodeCommit, storeCommit } from '../../repository/commit.ts';
import { commitKey, segmentKey } from '../../repository/keys.ts';
import { buildManifest } from '../../repository/manifest/build-manifest.ts';
import type { EntryChange, Manifest, SegmentRef } from '../../repository/manifest/manifest.ts';
import { writeSegment } from '../../repository/manifest/stored-segment.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';

export interface CommitTarget {
  readonly store: ObjectStore;
  readonly limit: AdaptiveLimit;
  /** Undefined: the repository does not collect garbage. */
  readonly view: CollectionView | undefined;
  readonly signal: AbortSignal;
}

export interface CommitDraft extends Omit<Commit, 'manifest' | 'totals'> {
  /** Undefined: the changes are the whole dataset. */
  readonly base: Manifest | undefined;
  /** Strictly ascending by path. */
  readonly changes: Iterable<readonly EntryChange[]>;
  /** Reads a segment of the base. */
  readonly loadSegment: (segment: SegmentRef) => Promise<readonly Entry[]>;
}

export interface StoredCommit {
  readonly hash: CommitHash;
  readonly commit: Commit;
  /** As they are stored. */
  readonly bytes: Uint8Array;
}

/** @throws `remoteFailed` if the store lost something that it had reported as stored */
export async function writeCommit(
  { limit, signal, store, view }: CommitTarget,
  { base, changes, loadSegment, ...record }: CommitDraft,
): Promise<StoredCommit> {
  const written: WrittenObject[] = [];
  const { manifest, totals } = await buildManifest({
    ...(base ? { base } : {}),
    loadBaseEntries: loadSegment,
    changes,
    avoid: view,
    onSegment: (segment) =>
      limit.run(
        async () => {
          await writeSegment(store, segment, { signal });
          written.push({ key: segmentKey(segment.hash), sizeBytes: segment.bytes.length });
        },
        { bytes: segment.bytes.length, signal },
      ),
  });
  const commit: Commit = { ...record, totals, manifest };
  const encoded = encodeCommit(commit, view?.round);
  checkAborted(signal);
  await storeCommit(store, encoded, { signal });
  written.push({ key: commitKey(encoded.hash), sizeBytes: encoded.bytes.length });
  // The ref moves next: its readers must find all of these.
  for (const lost of await findUnseen(store, written, { limit, signal })) throw notStored(store, lost);
  return { hash: encoded.hash, bytes: encoded.bytes, commit };
}
