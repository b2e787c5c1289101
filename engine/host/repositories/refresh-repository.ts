/** Reads the newest commit of one repository, and the older commits that were not read before. */

import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { DEFAULT_BRANCH } from '../../jobs/remotes/init.ts';
import { openRepositoryAt } from '../../jobs/session/opened-remote.ts';
import type { CommitHash } from '../../model/entry.ts';
import { type GrowthSpan, spansFrom, withCommit } from '../../model/growth.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { type Commit, readCommit } from '../../repository/commit.ts';
import { readDescriptor } from '../../repository/descriptor.ts';
import { readOrEnd } from '../../repository/history-end.ts';
import { REFS_PREFIX } from '../../repository/keys.ts';
import { refNameReason } from '../../repository/ref-name.ts';
import { readRef, type StoredRef } from '../../repository/refs.ts';
import type { KnownPlace } from './known-places.ts';
import type { RepositoryRecord } from './repository-file.ts';

const AUTHOR_CHARS_MAX = 200;
/** A long history is recorded in parts, so a closed window loses little of it. */
const COMMITS_PER_RECORD = 100;

export interface RefreshOptions {
  readonly place: KnownPlace;
  readonly known: RepositoryRecord | undefined;
  readonly nowMs: number;
  /** The most commits to read besides the newest. */
  readonly commitsMax: number;
  /** Called with each record to save: after the newest commit, and after each part of the history. */
  readonly onRecord: (record: RepositoryRecord) => Promise<void>;
}

/** Undefined if the place has no repository. @throws the store's error, which loses no saved record */
export async function refreshRepository(
  context: JobContext,
  { commitsMax, known, nowMs, onRecord, place }: RefreshOptions,
): Promise<RepositoryRecord | undefined> {
  // The first push may create the folder of a new repository.
  await using remote = await openRepositoryAt(context, place.url, { mayBeMissing: known === undefined });
  const { store } = remote;
  const ref = await findBranch(store, [known?.branch, DEFAULT_BRANCH, ...place.branches], context.signal);
  const answered = { id: place.id, provider: store.provider, answeredAt: new Date(nowMs).toISOString() };
  if (!ref) {
    if (await readDescriptor(store, context)) {
      const record = { ...answered, growth: [] };
      await onRecord(record);
      return record;
    }
    if (known?.tip === undefined) return undefined;
    throw new DrayError(
      'notARepository',
      `${store.address} no longer has a repository. Check that the address is right, or restore the repository.`,
      { data: { remote: store.address } },
    );
  }
  const isSame = known?.repository === ref.repository;
  const newest = await newestOf(store, ref, isSame ? known : undefined, context);
  let record: RepositoryRecord = {
    ...answered,
    repository: ref.repository,
    branch: ref.name.slice('heads/'.length),
    tip: newest.tip,
    growth: growthFrom(isSame ? known.growth : [], ref.commit, newest.commit, nowMs),
    ...(isSame && known.stored ? { stored: known.stored } : {}),
    ...(isSame && known.garbage ? { garbage: known.garbage } : {}),
  };
  await onRecord(record);
  for (let left = commitsMax; left > 0 && record.growth[0]?.next !== undefined; left -= COMMITS_PER_RECORD) {
    const growth = await readOlder(store, record.growth, Math.min(left, COMMITS_PER_RECORD), nowMs, context);
    record = { ...record, growth };
    await onRecord(record);
  }
  return record;
}

/** The first of the wanted branches that exists, otherwise the repository's first branch. */
async function findBranch(
  store: ObjectStore,
  wanted: readonly (string | undefined)[],
  signal: AbortSignal,
): Promise<StoredRef | undefined> {
  for (const branch of new Set(wanted)) {
    if (branch === undefined || refNameReason(branch) !== undefined) continue;
    const ref = await readRef(store, `heads/${branch}`, { signal });
    if (ref) return ref;
  }
  const prefix = `${REFS_PREFIX}heads/`;
  const { objects } = await store.list({ prefix, limit: 10 }, { signal });
  const name = objects
    .map(({ key }) => key.slice(prefix.length))
    .find((each) => refNameReason(each) === undefined);
  return name === undefined ? undefined : readRef(store, `heads/${name}`, { signal });
}

interface Newest {
  readonly tip: NonNullable<RepositoryRecord['tip']>;
  /** Absent if the branch has not moved since the last refresh. */
  readonly commit?: Commit;
}

async function newestOf(
  store: ObjectStore,
  { commit: hash }: StoredRef,
  known: RepositoryRecord | undefined,
  { signal }: JobContext,
): Promise<Newest> {
  if (known?.tip?.commit === hash) return { tip: known.tip };
  const commit = await readCommit(store, hash, { signal });
  const { author, time, totals } = commit;
  const tip = { commit: hash, time, author: author.slice(0, AUTHOR_CHARS_MAX) };
  return { commit, tip: { ...tip, files: totals.files, bytes: totals.bytes } };
}

/** Adds the newest commit to the growth, without another request. */
function growthFrom(
  known: readonly GrowthSpan[],
  tip: CommitHash,
  commit: Commit | undefined,
  nowMs: number,
): readonly GrowthSpan[] {
  const spans = spansFrom(known, tip);
  const isUnread = spans[0]?.next === tip;
  return commit && isUnread ? withCommit(spans, totalsOf(commit), nowMs) : spans;
}

async function readOlder(
  store: ObjectStore,
  known: readonly GrowthSpan[],
  most: number,
  nowMs: number,
  { signal }: JobContext,
): Promise<readonly GrowthSpan[]> {
  let spans = known;
  for (let left = most; left > 0; left -= 1) {
    const next = spans[0]?.next;
    if (next === undefined) break;
    const commit = await readOrEnd(store, next, () => readCommit(store, next, { signal }), { signal });
    if (!commit) break;
    spans = withCommit(spans, totalsOf(commit), nowMs);
  }
  return spans;
}

function totalsOf({ parents, time, totals }: Commit) {
  return { parent: parents[0], timeMs: Date.parse(time), bytes: totals.bytes, files: totals.files };
}
