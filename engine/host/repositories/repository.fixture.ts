/** For tests: a repository in a folder whose commits have given times and sizes. */
import { systemClock } from '../../base/clock.ts';
import type { CommitHash, SegmentHash } from '../../model/entry.ts';
import { DEFAULT_LAYOUT } from '../../model/layout.ts';
import { openFileStore } from '../../remotes/file/file-store.ts';
import { encodeCommit, storeCommit } from '../../repository/commit.ts';
import { createDescriptor } from '../../repository/descriptor.ts';
import { moveRef, readRef } from '../../repository/refs.ts';

export interface MadeCommit {
  /** RFC 3339 with milliseconds. */
  readonly time: string;
  readonly bytes: number;
}

/** Adds these commits, oldest first, and moves the branch. Their content is missing, as nothing reads it. */
export async function addCommits(
  root: string,
  commits: readonly MadeCommit[],
  branch = 'main',
): Promise<readonly CommitHash[]> {
  const store = await openFileStore({ root, create: true, mayBeMissing: true, clock: systemClock });
  try {
    const { descriptor } = await createDescriptor(store, { layout: DEFAULT_LAYOUT, clock: systemClock });
    const ref = await readRef(store, `heads/${branch}`);
    let parent = ref?.commit;
    const made: CommitHash[] = [];
    for (const { bytes, time } of commits) {
      const totals = { files: 1, links: 0, folders: 0, bytes };
      const segment = { hash: 'a'.repeat(64) as SegmentHash, first: 'data.bin', last: 'data.bin', ...totals };
      const commit = encodeCommit({
        repository: descriptor.id,
        parents: parent === undefined ? [] : [parent],
        author: 'Ada Okafor',
        message: `${bytes} bytes`,
        time,
        totals,
        manifest: { kind: 'segments', segments: [segment] },
      });
      await storeCommit(store, commit);
      parent = commit.hash;
      made.push(parent);
    }
    const value = { commit: parent!, epoch: 0, repository: descriptor.id };
    await moveRef(store, `heads/${branch}`, value, ref ? { etag: ref.etag } : { absent: true });
    return made;
  } finally {
    await store.close();
  }
}
