/** `dray gc`: removes from the repository what no commit that is kept needs, while others push and pull. */
import { DrayError } from '../../api/error.ts';
import type { CollectRequest, CollectSummary, JobContext } from '../../api/jobs/jobs.ts';
import { dollarsFor, storageDollarsFor } from '../../model/prices.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { KEY_LIST_KEYS_MAX } from '../../repository/collection/key-list.ts';
import { collectsGarbage, type Descriptor, readDescriptor } from '../../repository/descriptor.ts';
import { adviceOnLost } from '../../repository/history-end.ts';
import { hashFromCommitKey } from '../../repository/keys.ts';
import { isFinding } from '../history/verify/findings.ts';
import { followedBase } from '../session/branch/replaced-history.ts';
import { testConditionalWrites } from '../session/conditional-writes.ts';
import { checkSameRepository, notARepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { createProgress, type Progress } from '../session/progress.ts';
import { createTraffic } from '../session/traffic.ts';
import { type RoundOptions, type RoundProgress, type RoundsOutcome, runRounds } from './rounds.ts';
import { sweepTests } from './sweep-tests.ts';

const GRACE_SECONDS = 24 * 60 * 60;
const KEYS_PER_DELETE = 1_000;
/** The state in each of its three phases, the list of what writers must avoid, and the record of the refs. */
const STATES_AND_LISTS = 5;
/** The relocations once more, and the lists of collections. */
const RELOCATIONS_AND_LISTS = 2;
/** Branches and tags are listed apart. */
const REF_KINDS = 2;

export async function collectGarbage(context: JobContext, request: CollectRequest): Promise<CollectSummary> {
  using session = await openSession(context, 'gc', 'shared');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const { dryRun = false, graceSeconds = GRACE_SECONDS } = request;
  const { id: repository, layout } = await requireCollecting(session, store);
  if (!dryRun) await requireConditions(session, store, repository);
  const progress = createRoundProgress(session, remote);
  const base = followedBase(session);
  const seen = base && { name: `heads/${session.state.branch}`, commit: base };
  const tools = { context, clock: session.clock, limit: remote.limit, store, progress, seen };
  const options = { repository, graceSeconds, packTarget: layout.packTarget, dryRun };
  const outcome = await runRounds(tools, options).catch(adviseRepair);
  await sweepTests(tools, options);
  progress.end();
  return summaryOf(remote, outcome, options);
}

/** @throws `notARepository`, `unsupported` */
async function requireCollecting(session: Session, store: ObjectStore): Promise<Descriptor> {
  const bound = session.config.remotes[session.remoteName]?.repository;
  const descriptor = await readDescriptor(store, { signal: session.context.signal });
  if (!descriptor) throw notARepository(store, { isUnmet: bound === undefined });
  checkSameRepository(store, bound, descriptor.id);
  if (collectsGarbage(descriptor)) return descriptor;
  const message = `The repository at ${store.address} was made before Dray could collect garbage, so older versions may write to it.`;
  throw new DrayError('unsupported', message, {
    data: { remote: store.address, reason: 'notUpgraded' },
    advice: 'Update Dray everywhere, then run "dray upgrade" once.',
    command: 'dray upgrade',
  });
}

/** @throws `unsupported` */
async function requireConditions(session: Session, store: ObjectStore, repository: string): Promise<void> {
  const known = session.index.repositories.bind(repository);
  if (known.conditionalWrites ?? (await testConditionalWrites(session, store, known.id))) return;
  const message = `${store.address} does not honour conditional writes, so a collection could remove what somebody pushes at the same moment.`;
  throw new DrayError('unsupported', `${message} Nothing was removed.`, {
    data: { remote: store.address, reason: 'noConditions' },
    advice: '"dray remote test" shows the details.',
    command: 'dray remote test',
  });
}

/** @param error Of something that a branch or a tag needs, or that collections keep. */
function adviseRepair(error: unknown): never {
  if (!isFinding(error) || error.data.advice !== undefined) throw error;
  // Nobody can tell what a commit needed whose record is lost, nor which commits come before it.
  const commit = typeof error.data.key === 'string' ? hashFromCommitKey(error.data.key) : undefined;
  throw new DrayError(error.code, `${error.message} Until it can be read, nothing is removed.`, {
    data: error.data,
    cause: error,
    advice: commit
      ? adviceOnLost(commit)
      : '"dray verify" shows all damage. "dray repair" puts back what a workspace still has, in a new commit; then "dray forget" gives up the older commits that need what is lost.',
    command: 'dray repair',
  });
}

function createRoundProgress(
  session: Session,
  { limit, meter }: OpenedRemote,
): RoundProgress & { end(): void } {
  const traffic = createTraffic([meter], [limit]);
  let current: Progress | undefined;
  return {
    phase: (phase) => {
      current?.end();
      // The first mark counts nothing, and may take long.
      session.context.emit({ type: 'phase', phase });
      current = createProgress(session, { phase, traffic });
    },
    add: (objects, bytes) => current?.add(objects, bytes),
    end: () => current?.end(),
  };
}

function summaryOf(
  { meter, store }: OpenedRemote,
  outcome: RoundsOutcome,
  { dryRun, packTarget }: Pick<RoundOptions, 'dryRun' | 'packTarget'>,
): CollectSummary {
  const { commits, forgottenCommits, isContinued, listed, removed, repacked, round, young } = outcome;
  const isNothing = removed.objects === 0 && repacked.packs === 0;
  const done = isNothing ? 'nothingToCollect' : dryRun ? 'wouldCollect' : 'collected';
  const requests = meter.totals();
  const saved = storageDollarsFor(store.provider, removed.bytes);
  return {
    result: done,
    round,
    commits,
    forgottenCommits,
    objects: listed.objects,
    bytes: listed.bytes,
    removedObjects: removed.objects,
    removedBytes: removed.bytes,
    youngObjects: young.objects,
    youngBytes: young.bytes,
    repackedPacks: repacked.packs,
    repackedBytes: repacked.bytes,
    continued: isContinued,
    ...(saved === undefined ? {} : { savedDollarsPerMonth: saved }),
    requests,
    ...(done === 'wouldCollect' ? { forecast: forecastOf(store, requests, outcome, packTarget) } : {}),
  };
}

/** Reads and lists the same again; raises epochs; writes, reads and removes the lists; writes packs anew. */
function forecastOf(
  { provider }: ObjectStore,
  sofar: CollectSummary['requests'],
  { avoidLists, refs, removed: { objects }, repacked }: RoundsOutcome,
  packTarget: number,
): CollectSummary['requests'] {
  const lists = Math.ceil(objects / KEY_LIST_KEYS_MAX);
  const newPacks = Math.ceil(repacked.writtenBytes / packTarget);
  // The state, the avoid lists before and after, each old pack and its relocation; a new pack three times.
  const repackReads = repacked.packs === 0 ? 0 : 2 * (1 + avoidLists + repacked.packs + newPacks) + newPacks;
  const counts = {
    // The last avoid list is looked at, since the new one may be joined to it, and the last record is swept.
    reads: sofar.reads + lists + repackReads + 2 * Math.min(1, avoidLists),
    writes: refs + lists + STATES_AND_LISTS + repacked.packs + newPacks,
    lists: sofar.lists + 2 * REF_KINDS + RELOCATIONS_AND_LISTS,
    deletes: Math.ceil(objects / KEYS_PER_DELETE) + 1,
  };
  return {
    ...counts,
    total: counts.reads + counts.writes + counts.lists + counts.deletes,
    sentBytes: 0,
    receivedBytes: sofar.receivedBytes,
    dollars: dollarsFor(provider, counts),
  };
}
