/**
 * `dray forget`: decides by a policy which commits stay. Those that go are added to the repository's list,
 * and from then on nothing reads their content; a collection removes what only they need.
 *
 * The list is written before a tag is removed: a tag protects its commit, so a run that stops in between has
 * lost nothing, and the same command again completes it.
 */
import { DrayError, quotedExcerpt } from '../../api/error.ts';
import type { RetentionEvent } from '../../api/events.ts';
import type { ForgetRequest, ForgetSummary, JobContext, RetentionPolicy } from '../../api/jobs/jobs.ts';
import { formatCount, formatPlural } from '../../api/text/numbers.ts';
import { checkAborted } from '../../base/abort.ts';
import type { CommitHash } from '../../model/entry.ts';
import { type KnownCommit, type NamedCommit, planRetention } from '../../model/retention-plan.ts';
import { isEmptyPolicy, parseKeepWithin, tagMatcher } from '../../model/retention-policy.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { lostState, readCollectionState } from '../../repository/collection/collection-state.ts';
import { listRefs, type StoredRef } from '../../repository/refs.ts';
import {
  checkLength,
  type Retention,
  readRetention,
  type StoredRetention,
  writeRetention,
} from '../../repository/retention.ts';
import { walkHistory, warnOfEnd } from '../history/log.ts';
import { removeSeen } from '../history/refs.ts';
import { readCommitsAhead } from '../history/verify/commits-ahead.ts';
import { checkSameRepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';

/** After this many lost races for the list a run gives up. */
const RACES_MAX = 20;

export async function forget(context: JobContext, request: ForgetRequest): Promise<ForgetSummary> {
  using session = await openSession(context, 'forget', 'shared');
  await using remote = await openSessionRemote(session);
  const { meter, store } = remote;
  const found = await findRefs(session, store, request);
  const { policy, removed } = found;
  const { gone, stay } = await decide(session, remote, found);
  if (request.expected !== undefined && request.expected !== gone.length)
    throw otherCommits(request.expected, gone.length);
  const isSaved = request.save === true && !request.dryRun;
  if (!request.dryRun) {
    if (gone.length > 0 || isSaved) await addToList(session, store, found, { gone, isSaved });
    for (const ref of removed) {
      checkAborted(context.signal);
      await removeSeen(session, store, 'tags', ref);
    }
  }
  const isNothing = gone.length === 0 && removed.length === 0;
  return {
    result: isNothing ? 'nothingToForget' : request.dryRun ? 'wouldForget' : 'forgot',
    policy,
    saved: isSaved,
    stay,
    forgotten: gone.length,
    removedTags: removed.map((ref) => shortName(ref)),
    requests: meter.totals(),
  };
}

interface Found {
  readonly policy: RetentionPolicy;
  readonly repository: string;
  readonly retention: StoredRetention | undefined;
  readonly refs: readonly StoredRef[];
  /** Tags that this run removes. */
  readonly removed: readonly StoredRef[];
}

/** @throws `usage` without a policy, `notFound` in a repository without a commit */
async function findRefs(session: Session, store: ObjectStore, request: ForgetRequest): Promise<Found> {
  const { signal } = session.context;
  const isNamed = tagMatcher(request.tags ?? []);
  if (request.policy) checkPolicy(request.policy);
  const [branches, tags] = await Promise.all([
    listRefs(store, 'heads', { signal }),
    listRefs(store, 'tags', { signal }),
  ]);
  const repository = branches[0]?.repository;
  if (repository === undefined)
    throw new DrayError(
      'notFound',
      `The repository at ${store.address} has no branch, so there is nothing to forget.`,
    );
  if (!branches[0]?.collects) throw tooOld(store);
  checkSameRepository(store, session.config.remotes[session.remoteName]?.repository, repository);
  const retention = await readWholeList(store, [...branches, ...tags], signal);
  checkSameRepository(store, retention?.repository, repository);
  const policy = request.policy ?? retention?.policy;
  if (!policy) throw noPolicy();
  const isExcepted = tagMatcher(policy.keepTags ?? []);
  const removed = tags.filter((ref) => isNamed(shortName(ref)) && !isExcepted(shortName(ref)));
  warnOfUnmatched(session.context, request.tags ?? [], tags);
  const refs = [...branches, ...tags].filter((ref) => !removed.includes(ref));
  return { policy, repository, retention, refs, removed };
}

/**
 * A list that is written after the earlier one was lost would take forgotten commits for kept ones. So the
 * refs are read first, then the state, then the list.
 * @throws `damaged` if the state or the list is lost
 */
async function readWholeList(store: ObjectStore, refs: readonly StoredRef[], signal: AbortSignal) {
  const { round = 0, forgotten = 0 } = (await readCollectionState(store, { signal }))?.state ?? {};
  const ahead = refs.find(({ epoch }) => epoch > round);
  if (ahead) throw lostState(store, ahead.name);
  const retention = await readRetention(store, { signal });
  checkLength(store, retention, forgotten);
  return retention;
}

function warnOfUnmatched({ emit }: JobContext, globs: readonly string[], tags: readonly StoredRef[]): void {
  for (const glob of globs) {
    if (tags.some((ref) => tagMatcher([glob])(shortName(ref)))) continue;
    emit({ type: 'warning', warning: 'noSuchTag', message: `No tag matches ${quotedExcerpt(glob)}.` });
  }
}

/** @throws `usage` */
function checkPolicy(policy: RetentionPolicy): void {
  if (isEmptyPolicy(policy)) throw noPolicy();
  tagMatcher(policy.keepTags ?? []);
  if (policy.keepWithin !== undefined) parseKeepWithin(policy.keepWithin);
}

/** An older Dray would take missing content for damage. */
function tooOld({ address }: ObjectStore): DrayError {
  const message = `The repository at ${address} was made by a Dray that cannot forget commits.`;
  return new DrayError('unsupported', message, {
    data: { remote: address, reason: 'notUpgraded' },
    advice: 'Update Dray everywhere, then run "dray upgrade" once.',
    command: 'dray upgrade',
  });
}

function noPolicy(): DrayError {
  const message = 'Nothing says which commits to keep: the repository has no retention policy.';
  return new DrayError('usage', message, {
    data: { reason: 'noPolicy' },
    advice: 'Give one, such as --keep-last 5; --save keeps it with the repository.',
  });
}

function otherCommits(expected: number, forgotten: number): DrayError {
  const message = `The history has changed: ${formatPlural(forgotten, 'commit')} would be forgotten now, not ${formatCount(expected)}. Nothing was forgotten.`;
  return new DrayError('conflict', message, { data: { reason: 'historyChanged', forgotten } });
}

/** Emits an event for each commit, newest first. */
async function decide(
  session: Session,
  { limit, store }: OpenedRemote,
  { policy, refs, removed, retention }: Found,
): Promise<{ readonly gone: readonly CommitHash[]; readonly stay: number }> {
  const commits = new Map<CommitHash, KnownCommit>();
  const shown = new Map<CommitHash, Pick<RetentionEvent, 'message' | 'time' | 'files' | 'bytes'>>();
  const starts = [...new Set([...refs, ...removed].map(({ commit }) => commit))];
  await using ahead = readCommitsAhead({ context: session.context, limit, store });
  const onEnd = (hash: CommitHash) => warnOfEnd(session.context, hash);
  for await (const [hash, commit] of walkHistory(session, ahead.store, starts, onEnd)) {
    commits.set(hash, { parents: commit.parents, timeMs: Date.parse(commit.time) });
    const { message, time, totals } = commit;
    shown.set(hash, { message, time, files: totals.files, bytes: totals.bytes });
  }
  const plan = planRetention({
    commits,
    refs: refs.map(toNamed),
    removed: removed.map(toNamed),
    policy,
    forgotten: new Set(retention?.forgotten),
    nowMs: session.clock.nowMs(),
  });
  for (const [hash, keptBy] of plan) {
    session.context.emit({ type: 'retention', commit: hash, ...shown.get(hash)!, keptBy });
  }
  const gone = [...plan].flatMap(([hash, keptBy]) => (keptBy.length === 0 ? [hash] : []));
  return { gone, stay: plan.size - gone.length };
}

interface Addition {
  readonly gone: readonly CommitHash[];
  /** Keep the policy. */
  readonly isSaved: boolean;
}

/** The oldest first, at the end of the list as it is now: another machine may have added to it. */
async function addToList(
  session: Session,
  store: ObjectStore,
  { policy, repository, retention }: Found,
  { gone, isSaved }: Addition,
): Promise<void> {
  const { signal } = session.context;
  let current = retention;
  for (let race = 0; race < RACES_MAX; race += 1) {
    const known = new Set(current?.forgotten);
    const added = gone.toReversed().filter((hash) => !known.has(hash));
    const next: Retention = {
      repository,
      policy: isSaved ? policy : current?.policy,
      forgotten: [...known, ...added],
      lost: current?.lost,
    };
    checkAborted(signal);
    if (await writeRetention(store, next, current, { signal })) return;
    const length = current?.forgotten.length ?? 0;
    current = await readRetention(store, { signal });
    checkLength(store, current, length);
  }
  throw new DrayError('conflict', 'Other machines changed the list of forgotten commits again and again.', {
    retry: 'retry',
    advice: 'Run the command again.',
  });
}

function toNamed({ commit, name }: StoredRef): NamedCommit {
  return { kind: name.startsWith('tags/') ? 'tag' : 'branch', name: shortName({ name }), commit };
}

function shortName({ name }: Pick<StoredRef, 'name'>): string {
  return name.slice(name.indexOf('/') + 1);
}
