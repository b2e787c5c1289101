/** Adds many commits to a branch by parts of the engine, without writing files. */
import type { JobContext } from '../../../engine/api/jobs/jobs.ts';
import { fetchCommit } from '../../../engine/jobs/session/base/base-commit.ts';
import { linkRepository } from '../../../engine/jobs/session/link-repository.ts';
import { openSession } from '../../../engine/jobs/session/open-workspace.ts';
import { openSessionRemote } from '../../../engine/jobs/session/opened-remote.ts';
import type { BlobHash, Entry, FileEntry } from '../../../engine/model/entry.ts';
import { encodeCommit, storeCommit } from '../../../engine/repository/commit.ts';
import { totalsOfManifest } from '../../../engine/repository/manifest/manifest.ts';
import { moveRef } from '../../../engine/repository/refs.ts';

const BRANCH = 'main';
const AT_ONCE = 200;

/** @param isChanged Whether the commit of this number, counted from 1, changes the file of this path. */
export async function commitMany(
  context: JobContext,
  count: number,
  isChanged: (path: string, at: number) => boolean,
): Promise<void> {
  using session = await openSession(context, 'push');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const { tip, uuid: repository } = await linkRepository(session, store, BRANCH);
  const base = await fetchCommit(session, store, tip!.commit);
  if (base.manifest.kind !== 'inline') throw new Error('The first commit has too many files.');
  let entries: readonly Entry[] = base.manifest.entries;
  let parent = tip!.commit;
  let stored: Promise<void>[] = [];
  for (let at = 1; at <= count; at += 1) {
    entries = entries.map((one) => (isChanged(one.path, at) ? changed(one as FileEntry, at) : one));
    const manifest = { kind: 'inline' as const, entries };
    const time = new Date(Date.parse(base.time) + at).toISOString();
    const commit = encodeCommit({
      ...{ repository, parents: [parent], author: 'tester', message: `Commit ${at}`, time },
      ...{ manifest, totals: totalsOfManifest(manifest) },
    });
    parent = commit.hash;
    stored.push(storeCommit(store, commit, {}));
    if (stored.length < AT_ONCE && at < count) continue;
    await Promise.all(stored);
    stored = [];
  }
  await moveRef(
    store,
    `heads/${BRANCH}`,
    { commit: parent, epoch: tip!.epoch, repository },
    { etag: tip!.etag },
    {},
  );
}

/** Nobody reads its content. */
function changed(entry: FileEntry, at: number): FileEntry {
  return { ...entry, blob: at.toString(16).padStart(64, '0') as BlobHash };
}
