/** The repository and the branch that a fleet pushes to, as they were when the job began. */
import * as v from 'valibot';
import { DrayError } from '../../../api/error.ts';
import type { FleetRequest } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { systemClock } from '../../../base/clock.ts';
import type { CommitHash, Entry } from '../../../model/entry.ts';
import type { Layout } from '../../../model/layout.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import { type CollectionView, createCollectionView } from '../../../repository/collection/collection-view.ts';
import { type Commit, readCommit } from '../../../repository/commit.ts';
import { collectsGarbage, readDescriptor } from '../../../repository/descriptor.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import { readRef } from '../../../repository/refs.ts';
import { checkBelongs, notARepository } from '../../session/link-repository.ts';
import type { FleetFolder } from '../fleet-folder.ts';

const DEFAULT_BRANCH = 'main';

const NAME = 'base.json';
const pinned = v.object({
  /** Absent: the branch is new. */
  commit: v.optional(v.string()),
  repository: v.string(),
  round: v.number(),
  /** The time of the commit, so that a repeated step writes the same one. */
  time: v.string(),
});

export interface PushTarget {
  readonly repository: string;
  readonly layout: Layout;
  readonly branch: string;
  /** The round of the last collection when the job began. */
  readonly round: number;
  /** What this step knows of the collection; undefined: the repository does not collect garbage. */
  readonly view: CollectionView | undefined;
  readonly time: string;
  /** '' or the folder of the dataset that is replaced, with a slash. */
  readonly prefix: string;
  readonly base: { readonly hash: CommitHash; readonly commit: Commit } | undefined;
}

/** Pins the branch's commit the first time. */
export async function readTarget(
  { signal }: Pick<JobContext, 'signal'>,
  folder: FleetFolder,
  request: FleetRequest,
): Promise<PushTarget> {
  const { store } = folder;
  const branch = request.branch ?? DEFAULT_BRANCH;
  const descriptor = await readDescriptor(store, { signal });
  if (!descriptor) throw notARepository(store, { isUnmet: false });
  const view = collectsGarbage(descriptor)
    ? createCollectionView(store, { repository: descriptor.id, signal })
    : undefined;
  await view?.refresh();
  const { commit, repository, round, time } =
    (await folder.read(NAME, pinned)) ??
    (await pin({ signal }, folder, { branch, repository: descriptor.id, round: view?.round ?? 0 }));
  if (repository !== descriptor.id) throw notARepository(store, { isUnmet: false });
  const hash = commit as CommitHash | undefined;
  return {
    ...{ repository, layout: descriptor.layout, branch, round, view, time },
    prefix: prefixOf(request),
    base: hash && { hash, commit: await readCommit(store, hash, { signal }) },
  };
}

async function pin(
  { signal }: Pick<JobContext, 'signal'>,
  folder: FleetFolder,
  { branch, repository, round }: Pick<PushTarget, 'branch' | 'repository' | 'round'>,
): Promise<v.InferOutput<typeof pinned>> {
  const tip = await readRef(folder.store, `heads/${branch}`, { signal });
  checkBelongs(folder.store, tip, repository);
  const made = {
    ...(tip ? { commit: tip.commit } : {}),
    ...{ repository, round, time: new Date(systemClock.nowMs()).toISOString() },
  };
  if (await folder.writeNew(NAME, made)) return made;
  return (await folder.read(NAME, pinned))!;
}

/** The folder of the dataset below which the paths of a range lie. */
export function prefixOfRange(
  { prefix }: Pick<PushTarget, 'prefix'>,
  { byWorker, workers }: Pick<FleetRequest, 'byWorker' | 'workers'>,
  range: number,
): string {
  return byWorker ? `${prefix}${workers![range]}/` : prefix;
}

function prefixOf({ into }: Pick<FleetRequest, 'into'>): string {
  return into === undefined ? '' : `${into}/`;
}

/** The folders above a prefix: `a`, `a/b` for `a/b/`. */
export function foldersOf(prefix: string): string[] {
  const parts = prefix.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** @throws `usage` when a file of the branch lies where the objects need a folder */
export async function checkPrefix(
  { signal }: Pick<JobContext, 'signal'>,
  store: ObjectStore,
  { base, branch, prefix }: Pick<PushTarget, 'base' | 'branch' | 'prefix'>,
): Promise<void> {
  if (!base) return;
  for (const folder of foldersOf(prefix)) {
    const found = await entryAt(store, base.commit, folder, signal);
    if (found)
      throw new DrayError(
        'usage',
        `${folder} is no folder on the branch ${branch}, so nothing can lie in it.`,
        {
          data: { path: folder, branch },
        },
      );
  }
}

async function entryAt(
  store: ObjectStore,
  commit: Commit,
  path: string,
  signal: AbortSignal,
): Promise<Entry | undefined> {
  for await (const [entry] of readEntries(store, commit, { from: path, signal }))
    return entry?.path === path ? entry : undefined;
  return undefined;
}
