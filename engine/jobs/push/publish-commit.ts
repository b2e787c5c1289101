/**
 * A push ends with the segments, then the commit, then the ref: who reads a later one finds the earlier.
 *
 * The workspace's own commit is always made against its own base. When the branch has moved and both sides
 * changed different paths, a merge commit is put on top, with the branch's commit and the own one as parents.
 * The workspace's new base is its own commit, an ancestor of the branch, so that a later pull brings the
 * others' changes.
 */
import { DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import { toEntry } from '../../index/file-row.ts';
import { type Change, kindOfChange } from '../../model/diff.ts';
import { diffSorted } from '../../model/diff-sorted.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import { mergeChanges } from '../../model/merge.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { findAvoided, findAvoidedCommit } from '../../repository/collection/find-avoided.ts';
import { publish } from '../../repository/collection/publish.ts';
import type { Commit } from '../../repository/commit.ts';
import { commitKey, segmentKey } from '../../repository/keys.ts';
import {
  type EntryChange,
  type SegmentRef,
  sameTotals,
  totalsOfEntries,
} from '../../repository/manifest/manifest.ts';
import { isSegmentOf, type KeysToAvoid } from '../../repository/manifest/segment.ts';
import { readSegment } from '../../repository/manifest/stored-segment.ts';
import type { StoredRef } from '../../repository/refs.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { savePending } from '../merge/pending-merge.ts';
import { changesOutside, checkMergedWhole, mergedCommit, refuseMergeOntoTip } from '../merge/record-merge.ts';
import { isForgotten } from '../retention/forgotten.ts';
import { arrivalOf } from '../session/base/arrivals.ts';
import { changesFromBase } from '../session/base/base-changes.ts';
import {
  acceptCommit,
  acceptOntoArrivals,
  type BaseCommit,
  fetchCommit,
  saveBase,
} from '../session/base/base-commit.ts';
import { refuseDetached } from '../session/branch/detached.ts';
import { isBelow, rememberLeadingTo } from '../session/branch/known-history.ts';
import { refuseReplaced } from '../session/branch/replaced-history.ts';
import { fetchLinks } from '../session/fetch-links.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { type StoredCommit, writeCommit } from '../versions/write-commit.ts';
import { collectChanges, reportConflicts } from '../working-copy/conflicts.ts';
import { hashFiles, isUnread, unreadAmong } from '../working-copy/hash-files.ts';
import { toChange } from '../working-copy/working-changes.ts';
import { authorOf } from './author.ts';
import { confirmUploads } from './confirm-uploads.ts';
import { type CommitAbove, fillFoldersAbove } from './folders-above.ts';
import { movedOn, type Restoration } from './recheck-base.ts';
import { forgetUnconfirmedPush, recordUnconfirmedPush } from './unconfirmed-push.ts';

export interface PublishContext {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly link: LinkedRepository;
  readonly base: BaseCommit;
  readonly limit: AdaptiveLimit;
  readonly branch: string;
  /** A repair: the commit has no change of the working copy. */
  readonly restoration?: Restoration | undefined;
}

export interface CommitRecord {
  readonly message: string;
  /** Unchanged entries whose content has a new place, in order. */
  readonly relocated: readonly EntryChange[];
  /**
   * Stores again what a collection has condemned since, and resolves to the relocated entries of now. Called
   * when another round has begun.
   */
  readonly storeAgain: () => Promise<readonly EntryChange[]>;
}

export interface Published {
  /** The commit that the branch names now. */
  readonly commit: CommitHash;
  /** The other side's commit, if this push merged one. */
  readonly mergedWith?: CommitHash;
}

/** @throws `conflict` naming the paths: nothing was changed then, and the next push reuses what was sent */
export async function publishChanges(context: PublishContext, record: CommitRecord): Promise<Published> {
  const { session, store, link, base } = context;
  const { view } = link;
  let storedIn = view?.round;
  let { relocated } = record;
  let own: WrittenCommit | undefined;
  let mergedWith: CommitHash | undefined;
  const write = (tip: StoredRef) => writeOverTip(context, tip, { message: record.message });
  const writeOwn = (above: CommitAbove['of']) =>
    writeOwnCommit(context, { message: record.message, relocated, above });
  const prepare = async (tip: StoredRef | undefined): Promise<CommitHash> => {
    // The move has happened, and its answer was lost.
    if (own && tip?.commit === own.hash) return own.hash;
    if (view?.round !== storedIn) {
      const round = view?.round;
      own = undefined;
      relocated = await record.storeAgain();
      storedIn = round;
    }
    if (base.isMixed) {
      await refuseReplaced(session, context, { tip, collects: view !== undefined });
      if (!tip) throw branchGone(context.branch);
      own = await write(tip);
      return own.hash;
    }
    if (tip?.commit !== base.hash) {
      if (context.restoration) throw movedOn(context.branch);
      await refuseReplaced(session, context, { tip, collects: view !== undefined });
      await refuseDetached(session, store, tip);
      if (tip) await refuseMergeOntoTip(context, tip);
      await refuseCollectedBase(context, tip);
    }
    refusePartAlone(context, tip);
    // A removed branch is created again, like a new one.
    const isOnBase = tip === undefined || tip.commit === base.hash;
    own ??= await writeOwn(isOnBase ? 'branch' : 'earlier');
    mergedWith = isOnBase ? undefined : tip.commit;
    return isOnBase ? own.hash : await writeMergeCommit(context, own, tip);
  };
  const published = await publish({
    store,
    name: `heads/${context.branch}`,
    repository: link.uuid,
    tip: link.tip,
    view,
    isFirst: link.isEmpty,
    clock: session.clock,
    signal: session.context.signal,
    prepare: async (tip) => {
      for (;;) {
        try {
          return await prepare(tip);
        } catch (error) {
          // A collection may have removed what this push relied on. It writes its state before it does so.
          if (!isMissing(error) || !(await view?.refresh())) throw error;
        }
      }
    },
    beforeMove: () => recordUnconfirmedPush(session, link, own!.hash),
    afterFailure: () => forgetUnconfirmedPush(session),
  });
  if (context.restoration) acceptRestored(context, own!.hash, relocated);
  else accept(context, own!.hash);
  if (mergedWith) rememberLeadingTo(session, own!.hash, published.commit);
  forgetUnconfirmedPush(session);
  return { commit: published.commit, ...(mergedWith === undefined ? {} : { mergedWith }) };
}

/**
 * The commit of a part without a base would have that part alone. As a branch, or as a commit from which one
 * is made, it would count all else as deleted. An empty repository has nothing else.
 * @throws `conflict`
 */
export function refusePartAlone(
  { base, branch, link, session }: Pick<PublishContext, 'base' | 'branch' | 'link' | 'session'>,
  tip: StoredRef | undefined,
): void {
  const { remoteName } = session;
  // Over what is arriving the commit is made on the branch's own, which has the rest.
  if (!scopeOf(session) || base.hash || base.isMixed || (!tip && link.isEmpty)) return;
  const what = 'This workspace holds a part of a dataset, and has nothing in common yet with';
  const data = { branch, reason: 'noBase' };
  if (tip)
    throw new DrayError('conflict', `${what} the branch ${branch} on ${remoteName}.`, {
      data,
      advice: 'Pull first, then push.',
      command: 'dray pull',
    });
  throw new DrayError('conflict', `${what} ${remoteName}, which has no branch ${branch}.`, {
    data,
    advice: `Pull a branch that has the rest with "dray pull BRANCH", then "dray switch -c ${branch}".`,
    command: 'dray pull',
  });
}

function isMissing(error: unknown): boolean {
  return isDamage(error) || (error instanceof DrayError && error.data.reason === 'notStored');
}

/**
 * A collection protects what the branch's commit names, and the commits below it that are kept. A base that
 * is neither may have lost content, and its entries would be in the new commit. The base itself, or a commit
 * before it, may be gone as well, and would be in the history of the new one.
 * @throws `conflict`
 */
async function refuseCollectedBase(context: PublishContext, tip: StoredRef | undefined): Promise<void> {
  const { base, branch, link, session, store } = context;
  const { view } = link;
  if (!view || view.round === 0 || !base.commit || !base.hash) return;
  const { manifest } = base.commit;
  const read = (hash: CommitHash) => fetchLinks(session, store, hash);
  const isBelowTip = tip && (await isBelow(session, store, { tip: tip.commit, own: base.hash }));
  // The index knows only the content of the scope. A commit of the branch that is not forgotten has all.
  const isPartUnknown =
    scopeOf(session) !== undefined &&
    (!isBelowTip || (await isForgotten(store, base.hash, { signal: session.context.signal })));
  const isUnplaced = isPartUnknown || session.index.files.hasUnplacedBase(link.known.id);
  const isCondemned =
    (manifest.kind === 'segments' && manifest.segments.some(({ hash }) => view.avoids(segmentKey(hash)))) ||
    // The index has no location that the collection condemned; the blobs may have moved.
    (isUnplaced && (await hasLostContent(context, base.hash, view)));
  if (!isCondemned && (isBelowTip || !(await findAvoidedCommit(base.hash, view, read)))) return;
  const message = 'A collection may have removed content of the commit that this workspace is based on, and';
  if (tip)
    throw new DrayError('conflict', `${message} the branch ${branch} has moved on.`, {
      data: { branch, reason: 'baseCollected' },
      advice: 'Pull first, then push.',
      command: 'dray pull',
    });
  throw new DrayError('conflict', `${message} the branch ${branch} was removed.`, {
    data: { branch, reason: 'baseCollected' },
    advice: 'Switch to another branch with "dray switch", then push.',
    command: 'dray switch',
  });
}

async function hasLostContent(
  { base, session, store }: PublishContext,
  hash: CommitHash,
  view: KeysToAvoid,
): Promise<boolean> {
  try {
    const { signal } = session.context;
    return (await findAvoided(store, { commit: base.commit!, hash }, view, { signal })) !== undefined;
  } catch (error) {
    // A segment is gone.
    if (!isDamage(error)) throw error;
    return true;
  }
}

export interface MergedOntoTip {
  /** The changes to apply to the branch's commit. */
  readonly changes: readonly Change[];
  /** From the base to the branch's commit. */
  readonly theirs: readonly Change[];
  /**
   * The branch already has everything that this workspace would push, for example after a push that was
   * killed late.
   */
  readonly hasOurs: boolean;
  /** The branch's commit equals this workspace's content. */
  readonly isOurs: boolean;
}

/**
 * Computes this workspace's changes on top of the branch's commit. Reads only the segments that differ, and
 * files that both sides changed and whose content is unknown.
 * @throws `conflict` when both sides changed a path differently; an event names each path
 */
export async function mergeOntoTip(context: PublishContext, tip: StoredRef): Promise<MergedOntoTip> {
  const { session, store, base, link } = context;
  const tipCommit = await fetchCommit(session, store, tip.commit);
  const theirs = await collectChanges(changesFromBase(session, store, base, tipCommit));
  const theirPaths = new Set(theirs.map((change) => change.path));
  await hashFiles(session, unreadAmong(session, theirPaths));
  const ours: Change[] = [];
  let unread = 0;
  for (const page of session.index.files.changes(link.known.id)) {
    // A file not read yet is either none of their paths or unreadable, and then not part of this push.
    for (const change of page) {
      if (isUnread(change)) unread += 1;
      else if (kindOfChange(toChange(change))) ours.push(toChange(change));
    }
  }
  const { takeTheirs, conflicts } = mergeChanges(theirs, ours);
  if (conflicts.length > 0) {
    const swapped = conflicts.map((conflict) => ({
      ...conflict,
      ours: conflict.theirs,
      theirs: conflict.ours,
    }));
    throw reportConflicts(session, swapped, { ref: { kind: 'branch', name: context.branch }, words: 'pull' });
  }
  const hasOurs = takeTheirs.length === 0 && unread === 0;
  // If `hasOurs`, each of our changes is one of theirs, so equal counts mean equal changes.
  return {
    changes: takeTheirs,
    theirs,
    hasOurs,
    isOurs: hasOurs && ours.length === theirs.filter(kindOfChange).length,
  };
}

type WrittenCommit = Pick<StoredCommit, 'commit' | 'hash'>;

/** Writes the base with this workspace's changes. */
async function writeOwnCommit(
  context: PublishContext,
  {
    above,
    message,
    relocated,
  }: Pick<CommitRecord, 'message' | 'relocated'> & { readonly above: CommitAbove['of'] },
): Promise<WrittenCommit> {
  const { base, restoration, session, store } = context;
  const own = restoration ? [] : ownChanges(context);
  const filled = restoration
    ? []
    : await fillFoldersAbove(session, store, { commit: base.commit, of: above });
  const filling = filled.length === 0 ? relocated : [withRelocated([filled], relocated)].flat();
  // A commit that nobody can read would end the history of the branch.
  const merged = restoration ? undefined : await mergedCommit(context);
  if (merged) await checkMergedWhole(context, merged);
  const outside = restoration ? [] : await changesOutside(context, merged);
  const based = isCommitReplaced(context) ? base.commit!.parents : base.hash ? [base.hash] : [];
  const parents = merged ? [...based, merged] : based;
  const others = outside.length === 0 ? filling : withRelocated([outside], filling);
  return writeCommitOver(context, base.commit, {
    confirmContent: () => confirmUploads(context),
    parents,
    message,
    changes: others.length === 0 ? own : [withRelocated(own, others)],
    loadSegment: (segment) => loadBaseSegment(context, segment),
  });
}

/** Merges the workspace's own commit with the branch's. @throws `conflict` */
async function writeMergeCommit(
  context: PublishContext,
  own: WrittenCommit,
  tip: StoredRef,
): Promise<CommitHash> {
  const written = await writeOverTip(context, tip, {
    message: `Merge: ${own.commit.message}`,
    merged: own.hash,
  });
  return written.hash;
}

interface OverTip {
  readonly message: string;
  /** The workspace's own commit, which the store has with its content. */
  readonly merged?: CommitHash;
}

/**
 * Writes the branch's commit with this workspace's changes. While another commit arrives, no commit has the
 * files that are here, so the workspace has none of its own to merge: its edits are made on the branch's.
 * @throws `conflict`
 */
async function writeOverTip(
  context: PublishContext,
  tip: StoredRef,
  { merged, message }: OverTip,
): Promise<WrittenCommit> {
  const { session, store } = context;
  const { changes } = await mergeOntoTip(context, tip);
  const tipCommit = await fetchCommit(session, store, tip.commit);
  const ours = changes.map(({ path, after }) => ({ path, ...(after ? { entry: placedEntry(after) } : {}) }));
  const filled = await fillFoldersAbove(session, store, { commit: tipCommit, of: 'branch' });
  return writeCommitOver(context, tipCommit, {
    parents: merged === undefined ? [tip.commit] : [tip.commit, merged],
    message,
    changes: [filled.length === 0 ? ours : withRelocated([ours], filled)],
    loadSegment: (segment) => readSegment(store, segment, { signal: session.context.signal }),
    ...(merged === undefined ? { confirmContent: () => confirmUploads(context) } : {}),
  });
}

/** Guards the commit, as in `ownChanges`. */
function placedEntry(entry: Entry): Entry {
  const isUnplaced = entry.kind === 'file' && entry.location.in === 'nowhere' && entry.sizeBytes > 0;
  if (isUnplaced) throw unplaced(entry.path);
  return entry;
}

function branchGone(branch: string): DrayError {
  return new DrayError('conflict', `The branch ${branch} was removed while its files were arriving here.`, {
    data: { branch, reason: 'halfArrived' },
    advice: 'Switch to another branch with "dray switch", then push.',
    command: 'dray switch',
  });
}

interface CommitPlan {
  readonly parents: readonly CommitHash[];
  readonly message: string;
  readonly changes: Iterable<readonly EntryChange[]>;
  readonly loadSegment: (segment: SegmentRef) => Promise<readonly Entry[]>;
  /** Makes sure that the store has the new content. */
  readonly confirmContent?: () => Promise<void>;
}

/** Confirms the content while it writes segments and commit: nothing reads these before a ref names them. */
async function writeCommitOver(
  context: PublishContext,
  base: Commit | undefined,
  plan: CommitPlan,
): Promise<WrittenCommit> {
  const { limit, link, session, store } = context;
  const { signal } = session.context;
  const writing = writeCommit(
    { store, limit, view: link.view, signal },
    {
      repository: link.uuid,
      base: base?.manifest,
      changes: plan.changes,
      loadSegment: plan.loadSegment,
      parents: plan.parents,
      author: authorOf(session),
      message: plan.message,
      time: new Date(session.clock.nowMs()).toISOString(),
    },
  );
  const [confirmed] = await Promise.allSettled([plan.confirmContent?.(), writing]);
  // Content that the store lost has left the index too, so the manifest may have failed because of it.
  if (confirmed.status === 'rejected') throw confirmed.reason;
  const { bytes, ...written } = await writing;
  session.index.settings.cacheCommit(written.hash, bytes);
  return written;
}

/** This workspace's changes in the manifest's form. A file that could not be read keeps its base entry. */
function* ownChanges(context: PublishContext): Generator<readonly EntryChange[]> {
  for (const page of context.session.index.files.changes(context.link.known.id)) {
    const changes: EntryChange[] = [];
    for (const { path, after, location } of page) {
      if (!after) {
        changes.push({ path });
        continue;
      }
      const entry = toEntry(path, after, location);
      if (entry) changes.push({ path, entry });
      else if (after.hash !== undefined) throw unplaced(path);
    }
    yield changes;
  }
}

/** Whether a repair leaves the base commit out of the history, because its object is damaged. */
export function isCommitReplaced({ base, restoration }: PublishContext): boolean {
  return base.hash !== undefined && restoration?.replaced.has(commitKey(base.hash)) === true;
}

/** A change in the working copy overrides a mere change of place. */
function withRelocated(
  own: Iterable<readonly EntryChange[]>,
  relocated: readonly EntryChange[],
): readonly EntryChange[] {
  const merged: EntryChange[] = [];
  for (const { path, left, right } of diffSorted([...own].flat(), relocated, () => false)) {
    merged.push(left ?? right ?? { path });
  }
  return merged;
}

/** Guards the commit: after the data phase every file that was read has a place. */
function unplaced(path: string): DrayError {
  return new DrayError('internal', `${path} was read but is not on the remote, and nothing was recorded.`, {
    data: { path },
    advice: 'Push again with --no-index.',
    command: 'dray push --no-index',
  });
}

/**
 * From the index if its rows give exactly this segment, else from the store. What a commit takes over from
 * the one before must be what that one says, whatever happened to the index.
 */
async function loadBaseSegment(context: PublishContext, segment: SegmentRef): Promise<readonly Entry[]> {
  const { session, store, link } = context;
  const known = session.index.files.baseEntries(segment.first, segment.last, link.known.id);
  // The index lacks what lies outside of the workspace's scope.
  const isWhole = known && sameTotals(totalsOfEntries(known), segment);
  const isExact = isWhole && isSegmentOf(segment.hash, known, link.view?.round);
  return isExact ? known : readSegment(store, segment, { signal: session.context.signal });
}

function acceptRestored(
  { link, session }: PublishContext,
  own: CommitHash,
  relocated: readonly EntryChange[],
): void {
  const changes = relocated.map(({ entry, path }) => ({ path, before: entry, after: entry }));
  acceptCommit(session, link, { hash: own, changes });
}

function accept(context: PublishContext, own: CommitHash): void {
  const { base, session, link } = context;
  savePending(session, undefined);
  if (base.isMixed) {
    acceptOntoArrivals(session, link, arrivalOf(session, own, 'pull'));
    return;
  }
  session.index.transaction(() => {
    session.index.settings.base = undefined;
    session.index.files.acceptChanges();
  });
  saveBase(session, link.uuid, own, 'branch');
}
