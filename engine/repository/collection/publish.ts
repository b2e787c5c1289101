/**
 * Gives a commit to a ref while others push and a collection may run. FORMAT.md has the rules; each of them
 * is here once, for pushes, tags and branches.
 *
 * - A ref that exists moves by compare-and-swap. A collection raises its epoch in between, so the move fails,
 *   and `prepare` stores again what the collection has condemned.
 * - A new ref has nothing that a collection could raise. So it is written as pending, which a collection
 *   counts as a ref, then the collection's state is read again, and then it becomes live. Either the
 *   collector sees the ref, or its maker sees the round.
 */
import { randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { REFS_PREFIX } from '../keys.ts';
import { moveRef, readAnyRef, readRef, type StoredRef, writeAnyRef } from '../refs.ts';
import { lostState } from './collection-state.ts';
import type { CollectionView } from './collection-view.ts';
import { isPresentOrRemoved, refuseGone } from './gone-ref.ts';
import { readLastRecord } from './ref-record.ts';

/** After this many lost races for the ref a writer gives up. */
const RACES_MAX = 100;
const RACE_PAUSE_MS = 50;
/** Few, because the first one usually says it. */
const REFS_ASKED = 10;

export interface PublishOptions extends CallOptions {
  readonly store: ObjectStore;
  /** `heads/<branch>` or `tags/<tag>`. */
  readonly name: string;
  /** The repository's id. */
  readonly repository: string;
  /** The ref as it was last read; undefined: it does not exist. */
  readonly tip: StoredRef | undefined;
  /** The etag of a ref that cannot be read, and that a new one replaces. */
  readonly unreadable?: string | undefined;
  /** Undefined: the repository does not collect garbage. */
  readonly view: CollectionView | undefined;
  readonly clock: Clock;
  /**
   * Stores a commit for the ref, with all that it names, and resolves to it; to the commit of `tip` if there
   * is nothing to do. It is called again when the ref
   * has moved or another round of a collection has begun. What it names must have keys that `view` does not
   * avoid, except for what the commit of `tip` names already.
   */
  prepare(tip: StoredRef | undefined): Promise<CommitHash>;
  /** Somebody chose to make this ref at this commit. Else one that a round has seen is not made again. */
  readonly isChosen?: boolean;
  /** A lost ref is made again: the state may be lost too, and comes after the refs. */
  readonly isRestored?: boolean;
  /** A commit at which the ref was seen before. It must not have gone since, unless somebody removed it. */
  readonly seen?: CommitHash | undefined;
  /** There was no ref when the repository was opened, so there was no round. Saves a request or two. */
  readonly isFirst?: boolean;
  /** Called right before each try to move the ref, and after each that failed. */
  readonly beforeMove?: () => void;
  readonly afterFailure?: () => void;
}

export interface PublishedRef {
  readonly commit: CommitHash;
  /** What the ref had before. */
  readonly before: StoredRef | undefined;
}

/** @throws `conflict` after 100 lost races, `damaged` if the state is lost, and what `prepare` throws */
export async function publish(options: PublishOptions): Promise<PublishedRef> {
  const { clock, name, signal, store } = options;
  const call = signal ? { signal } : {};
  let { seen, tip } = options;
  for (let race = 0; race < RACES_MAX; race += 1) {
    if (tip && options.view && tip.epoch > options.view.round) {
      await options.view.refresh();
      // Without the state nobody knows which keys to avoid.
      if (tip.epoch > options.view.round) throw lostState(store, name);
    }
    const commit = await options.prepare(tip);
    if (tip && commit === tip.commit) return { commit, before: tip };
    checkAborted(signal);
    seen = tip?.commit ?? seen;
    if (!tip) await refuseRecorded(options, seen);
    options.beforeMove?.();
    if (await (tip ? moveExisting(options, tip, commit) : makeNew(options, commit))) {
      return { commit, before: tip };
    }
    options.afterFailure?.();
    await clock.sleep(clock.random() * RACE_PAUSE_MS * Math.min(race + 1, 8), signal);
    tip = await readRef(store, name, call);
  }
  const short = name.slice(name.indexOf('/') + 1);
  throw new DrayError('conflict', `${short} moved ${RACES_MAX} times while Dray tried to update it.`, {
    retry: 'retry',
    data: { branch: short },
    advice: 'Run the command again.',
  });
}

/**
 * A new ref must be new: not one that this writer has seen, nor one that the record of the last round names.
 * No request in a repository without a round, if the writer has not seen the ref.
 * @throws `damaged`
 */
async function refuseRecorded(
  { isChosen, name, signal, store, view }: PublishOptions,
  seen: CommitHash | undefined,
): Promise<void> {
  const call = signal ? { signal } : {};
  if (!view || isChosen) return;
  if (seen) return await refuseGone(store, name, seen, call);
  if (view.round === 0) return;
  const { refs } = await readLastRecord(store, call);
  const recorded = refs.find((ref) => ref.name === name);
  if (recorded) await refuseGone(store, name, recorded.commit, call);
}

/**
 * No state means no round, unless the state is lost: then nobody knows which keys to avoid. A round that was
 * sealed has raised the epoch of every ref. One LIST, and one request for each ref up to the first that is
 * not pending.
 * @returns The name of a ref that knows a round.
 */
async function findMarkedRef(options: PublishOptions): Promise<string | undefined> {
  const { isRestored, name, signal, store } = options;
  if (isRestored) return undefined;
  const call = signal ? { signal } : {};
  for (let continuation: string | undefined; ; ) {
    const from = {
      prefix: REFS_PREFIX,
      limit: REFS_ASKED,
      ...(continuation === undefined ? {} : { continuation }),
    };
    const page = await store.list(from, call);
    for (const { key } of page.objects) {
      const other = key.slice(REFS_PREFIX.length);
      const ref = other === name ? undefined : await readAnyRef(store, other, call);
      // A pending one says nothing: its maker knew no round either, and may have been refused here.
      if (ref && ref.state !== 'pending') return ref.epoch > 0 ? ref.name : undefined;
    }
    continuation = page.continuation;
    if (continuation === undefined) return undefined;
  }
}

async function moveExisting(
  { name, repository, signal, store }: PublishOptions,
  { collects, epoch, etag }: StoredRef,
  commit: CommitHash,
): Promise<boolean> {
  const value = { commit, epoch, repository, ...(collects ? { collects } : {}) };
  return (await moveRef(store, name, value, { etag }, signal ? { signal } : {})).moved;
}

/**
 * @returns False if the ref exists now, or if a round has begun: then what `prepare` stored may be condemned.
 */
async function makeNew(options: PublishOptions, commit: CommitHash): Promise<boolean> {
  const { name, repository, signal, store, unreadable, view } = options;
  const call = signal ? { signal } : {};
  const expected = unreadable === undefined ? { absent: true as const } : { etag: unreadable };
  if (!view) {
    const value = { commit, epoch: 0, repository };
    return (await moveRef(store, name, value, expected, call)).moved;
  }
  const live = { commit, epoch: view.round, repository, collects: true, state: 'live' } as const;
  const pending = { ...live, state: 'pending', nonce: randomUUID() } as const;
  let { current, written } = await writeAnyRef(store, name, pending, expected, call);
  // A removed ref is made again. The maker of a pending one was killed, or loses this race.
  if (!written && current && current.state !== 'live') {
    const over = isPresentOrRemoved(current) ? { ...pending, again: true as const } : pending;
    ({ current, written } = await writeAnyRef(store, name, over, { etag: current.etag }, call));
  }
  if (!written || !current) return false;
  if (await view.refresh()) return false;
  const marked = view.round === 0 && !options.isFirst ? await findMarkedRef(options) : undefined;
  if (marked !== undefined) {
    // The round may have begun since the state was read.
    if (await view.refresh()) return false;
    throw lostState(store, marked);
  }
  return (await writeAnyRef(store, name, live, { etag: current.etag }, call)).written;
}
