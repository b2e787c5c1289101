/** A repository of many paths with few contents, by the engine's own writer, without files on disk. */
import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { systemClock } from '../../engine/base/clock.ts';
import type { BlobHash, FileEntry } from '../../engine/model/entry.ts';
import { OBJECTS_LAYOUT } from '../../engine/model/layout.ts';
import type { ObjectStore } from '../../engine/remotes/object-store.ts';
import { encodeCommit, storeCommit } from '../../engine/repository/commit.ts';
import { createDescriptor } from '../../engine/repository/descriptor.ts';
import { objectKey } from '../../engine/repository/keys.ts';
import { buildManifest } from '../../engine/repository/manifest/build-manifest.ts';
import type { EntryChange } from '../../engine/repository/manifest/manifest.ts';
import { readSegment, writeSegment } from '../../engine/repository/manifest/stored-segment.ts';
import { moveRef } from '../../engine/repository/refs.ts';

export interface SyntheticRepository {
  readonly files: number;
  /** Paths with the same content, which follow each other. */
  readonly pathsOfContent: number;
}

const FILES_IN_FOLDER = 1_000;
const BATCH = 1_000;
const PUTS_AT_ONCE = 32;
const MTIME_NS = 1_700_000_000_000_000_000n;

export async function writeSyntheticRepository(
  store: ObjectStore,
  { files, pathsOfContent }: SyntheticRepository,
): Promise<void> {
  const { descriptor } = await createDescriptor(store, { layout: OBJECTS_LAYOUT, clock: systemClock });
  const put = pLimit(PUTS_AT_ONCE);
  const contents = Math.ceil(files / pathsOfContent);
  for (let first = 0; first < contents; first += BATCH)
    await Promise.all(
      Array.from({ length: Math.min(BATCH, contents - first) }, (_, at) => {
        const bytes = contentOf(first + at);
        return put(() => store.put(objectKey(hashOf(bytes)), bytes));
      }),
    );
  const { manifest, totals } = await buildManifest({
    loadBaseEntries: (segment) => readSegment(store, segment),
    changes: batches(files, pathsOfContent),
    onSegment: (segment) => writeSegment(store, segment),
  });
  const commit = encodeCommit({
    repository: descriptor.id,
    ...{ parents: [], author: 'bench', message: 'Synthetic', manifest, totals },
    time: new Date(systemClock.nowMs()).toISOString(),
  });
  await storeCommit(store, commit);
  const value = { commit: commit.hash, epoch: 0, repository: descriptor.id };
  await moveRef(store, 'heads/main', value, { absent: true });
}

function* batches(files: number, pathsOfContent: number): Generator<readonly EntryChange[]> {
  let content = -1;
  let shared: Pick<FileEntry, 'blob' | 'sizeBytes'> | undefined;
  for (let first = 0; first < files; first += BATCH) {
    const batch: EntryChange[] = [];
    for (let at = first; at < Math.min(files, first + BATCH); at += 1) {
      if (Math.floor(at / pathsOfContent) !== content || !shared) {
        content = Math.floor(at / pathsOfContent);
        const bytes = contentOf(content);
        shared = { blob: hashOf(bytes), sizeBytes: bytes.byteLength };
      }
      const path = pathOf(at);
      const entry: FileEntry = {
        ...{ kind: 'file', path, ...shared, mtimeNs: MTIME_NS, executable: false },
        location: { in: 'object' },
      };
      batch.push({ path, entry });
    }
    yield batch;
  }
}

/** Ascending. */
function pathOf(index: number): string {
  const folder = String(Math.floor(index / FILES_IN_FOLDER)).padStart(7, '0');
  return `${folder}/${String(index % FILES_IN_FOLDER).padStart(4, '0')}.bin`;
}

function contentOf(number: number): Uint8Array {
  return Buffer.from(`content ${number}\n`);
}

function hashOf(bytes: Uint8Array): BlobHash {
  return createHash('sha256').update(bytes).digest('hex') as BlobHash;
}
