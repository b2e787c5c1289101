/**
 * Makes a branch whose newest commit has a million files more than the workspace, by parts of the engine and
 * without writing files.
 */
import { runBudget } from '../../../engine/base/run-budget.fixture.ts';
import { fetchCommit } from '../../../engine/jobs/session/base/base-commit.ts';
import { linkRepository } from '../../../engine/jobs/session/link-repository.ts';
import { openSession } from '../../../engine/jobs/session/open-workspace.ts';
import { openSessionRemote } from '../../../engine/jobs/session/opened-remote.ts';
import type { Entry } from '../../../engine/model/entry.ts';
import { encodeCommit, storeCommit } from '../../../engine/repository/commit.ts';
import { buildManifest } from '../../../engine/repository/manifest/build-manifest.ts';
import type { EntryChange } from '../../../engine/repository/manifest/manifest.ts';
import { readSegment, writeSegment } from '../../../engine/repository/manifest/stored-segment.ts';
import { moveRef } from '../../../engine/repository/refs.ts';
import type { S3Dataset } from '../../s3-dataset.ts';

/** A million files in `npm run test:long`. */
export const FOLDERS = runBudget({ short: 50, long: 1_000 });
export const FILES_EACH = 1_000;

const BRANCH = 'main';

export function millionPath(at: number): string {
  const folder = String(Math.floor(at / FILES_EACH)).padStart(4, '0');
  return `camera-${folder}/frame-${String(at % FILES_EACH).padStart(6, '0')}.jpg`;
}

/** Every new file has the content of the branch's first file. */
export async function commitMillion(
  dataset: S3Dataset,
  workspace: string,
  { folders = FOLDERS }: { readonly folders?: number } = {},
): Promise<void> {
  using session = await openSession(dataset.context(workspace), 'push');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const link = await linkRepository(session, store, BRANCH);
  const tip = link.tip!;
  const base = await fetchCommit(session, store, tip.commit);
  const like = base.manifest.kind === 'inline' ? base.manifest.entries[0] : undefined;
  const { manifest, totals } = await buildManifest({
    base: base.manifest,
    loadBaseEntries: (segment) => readSegment(store, segment, {}),
    changes: millionChanges(like!, folders),
    onSegment: (segment) => writeSegment(store, segment, {}),
  });
  const commit = encodeCommit({
    repository: link.uuid,
    parents: [tip.commit],
    author: 'tester',
    message: 'A million frames',
    time: new Date().toISOString(),
    totals,
    manifest,
  });
  await storeCommit(store, commit, {});
  const value = { commit: commit.hash, epoch: tip.epoch, repository: link.uuid };
  await moveRef(store, `heads/${BRANCH}`, value, { etag: tip.etag }, {});
}

/** Yields a page for each folder, in order of path. */
function* millionChanges(like: Entry, folders: number): Generator<readonly EntryChange[]> {
  for (let folder = 0; folder < folders; folder += 1)
    yield Array.from({ length: FILES_EACH }, (_, file) => {
      const path = millionPath(folder * FILES_EACH + file);
      return { path, entry: { ...like, path } };
    });
}
