/**
 * `dray rm URL`: removes an object, or with `recursive` everything below a prefix. The first object is
 * removed when all are listed: the listing shows whether a repository is among them.
 */
import { advised, DrayError, type ErrorCode, toErrorRecord } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { RemovePlaceRequest, RemovePlaceSummary } from '../../api/jobs/trees.ts';
import { Budget } from '../../base/budget.ts';
import { systemClock } from '../../base/clock.ts';
import { TaskSet } from '../../base/task-set.ts';
import { createTreeFilter } from '../../model/tree-filter.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { headItemOf } from '../../query/trees/head-item.ts';
import { listTreeItems } from '../../query/trees/object-pages.ts';
import { readTimes } from '../../query/trees/read-times.ts';
import type { Meter } from '../../remotes/wrappers/with-meter.ts';
import { nothingThere, openSingle, parseNamedPlace } from '../places/open-side.ts';
import { openPlace, type RemotePlace } from '../places/places.ts';
import {
  allowsRepository,
  createFoundRepositories,
  refusalFrom,
  refuseRepositoryAbove,
  repositoryName,
  repositoryRefusal,
} from '../places/repository-guard.ts';
import { holdsSomething, isEmptyFolder } from '../places/source-presence.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { createProgress } from '../session/progress.ts';
import { readOnlyErrorOf } from '../session/read-only-peer.ts';
import { addTotals, createTraffic } from '../session/traffic.ts';
import { userCacheFolder } from '../session/user-remotes.ts';
import { isFileError, stopRun } from '../trees/copy-run.ts';
import { removeEach } from '../trees/remove-each.ts';
import { gatherItems } from './gathered-items.ts';

export async function removePlace(
  context: JobContext,
  request: RemovePlaceRequest,
): Promise<RemovePlaceSummary> {
  const place = parseNamedPlace(context, request);
  if (place.kind === 'local')
    throw new DrayError('usage', `${place.text} is a local path.`, {
      advice: '"dray rm" removes objects; use your system\'s own rm for files.',
    });
  const single = await openSingle(context, place);
  if (single) {
    await using remote = single.remote;
    const removal = createRemoval(context, remote, request);
    const guard = createRemovalGuard(context, place, request);
    await guard.refuseAbove(false);
    await removal.remove([headItemOf(single.key, single.info)]);
    if (request.recursive) await warnOfFolder(context, place, guard.meters);
    return await summaryOf(context, place, { remote, request, guard, totals: removal.totals });
  }
  if (!request.recursive) {
    const message = place.isFolderForm
      ? `${place.text} does not name a single object.`
      : `There is no object ${place.text}.`;
    throw new DrayError(place.isFolderForm ? 'usage' : 'notFound', message, {
      data: { place: place.text },
      advice: `To remove everything below ${place.text.replace(/\/$/, '')}/, add --recursive.`,
    });
  }
  await using remote = await openPlace(context, place, { at: 'place' });
  const removal = createRemoval(context, remote, request);
  const guard = createRemovalGuard(context, place, request);
  const isEmpty = await removal.removeAll(guard);
  if (isEmpty && place.url.prefix !== '' && !(await isEmptyFolder(remote, context.signal)))
    throw nothingThere(place.text);
  return await summaryOf(context, place, { remote, request, guard, totals: removal.totals });
}

/** A bucket can hold an object and a folder of one name; without a slash the object is meant. */
async function warnOfFolder(context: JobContext, place: RemotePlace, meters: Meter[]): Promise<void> {
  await using remote = await openPlace(context, place, { at: 'place' });
  meters.push(remote.meter);
  if (remote.store.files || !(await holdsSomething(remote, context.signal))) return;
  const message = `${place.text} is an object, and there are objects below ${place.text}/ too, which stay.`;
  const told = advised(message, 'To remove those, write the place with a slash at its end.');
  context.emit({ type: 'warning', warning: 'alsoFolder', ...told });
}

/** A dry run asks a peer whether it would refuse. */
async function summaryOf(
  { emit, signal }: JobContext,
  { text }: RemotePlace,
  { guard, remote, request, totals }: Removal & { readonly guard: RemovalGuard },
): Promise<RemovePlaceSummary> {
  const refusal =
    request.dryRun && totals.removed > 0
      ? await readOnlyErrorOf({ store: remote.store, text }, signal)
      : undefined;
  if (refusal) emit({ type: 'warning', warning: 'readOnlyPeer', message: refusal.message });
  const wouldStop = guard.stops[0] ?? refusal?.code;
  return {
    place: text,
    ...totals,
    requests: addTotals([remote.meter, ...guard.meters]),
    ...(wouldStop ? { wouldStop } : {}),
  };
}

/** Refuses to remove what a repository stores. A dry run gets a warning. */
interface RemovalGuard {
  readonly meters: Meter[];
  readonly stops: ErrorCode[];
  /** @param isFolder Whether everything below the place is to go. @throws `conflict` */
  refuseAbove(isFolder: boolean): Promise<void>;
  /** Call for each item of the listing. */
  listed(path: string): void;
  /** @throws `conflict` if one of the items lies in a repository that was listed; true in a dry run */
  refuseBelow(items: Iterable<TreeItem>): boolean;
}

function createRemovalGuard(
  context: JobContext,
  place: RemotePlace,
  request: RemovePlaceRequest,
): RemovalGuard {
  const meters: Meter[] = [];
  const stops: ErrorCode[] = [];
  const allowed = request.allowRepositories;
  const found = createFoundRepositories();
  const stop = (error: unknown) =>
    stopRun({ context, request, stops }, 'changesRepository', refusalFrom(error));
  return {
    meters,
    stops,
    refuseAbove: (isFolder) =>
      refuseRepositoryAbove(context, place, { allowed, isFolder, meters }).catch(stop),
    listed: (path) => found.listed(path),
    refuseBelow(items) {
      for (const { path } of items) {
        const holder = found.holderOf(path);
        if (holder === undefined) continue;
        const name = repositoryName(place, holder);
        if (allowsRepository(allowed, name)) continue;
        stop(repositoryRefusal(name));
        return true;
      }
      return false;
    },
  };
}

interface Removal {
  readonly remote: OpenedRemote;
  readonly request: RemovePlaceRequest;
  readonly totals: Pick<RemovePlaceSummary, 'bytes' | 'failed' | 'removed'>;
}

const PAGES_UNDER_WAY_MAX = 8;

/** Errors of one object; the others can still be removed. */
function isItemError(error: unknown): error is DrayError {
  return error instanceof DrayError && error.retry === 'no' && isFileError(error);
}

function createRemoval(
  context: JobContext,
  { limit, meter, store }: OpenedRemote,
  { dryRun = false, filter }: RemovePlaceRequest,
) {
  const totals = { removed: 0, bytes: 0, failed: 0 };
  const chosen = createTreeFilter(filter ?? {});
  const tasks = new TaskSet(context.signal);
  const { signal } = tasks;
  const room = new Budget(PAGES_UNDER_WAY_MAX);
  const traffic = createTraffic([meter], [limit]);
  const progress = createProgress(
    { context, clock: systemClock },
    { phase: dryRun ? 'scan' : 'remove', traffic },
  );

  const done = (item: TreeItem) => {
    totals.removed += 1;
    totals.bytes += item.sizeBytes;
    progress.add(1, 0);
    const { path, sizeBytes } = item;
    context.emit({ type: 'change', change: 'deleted', path, kind: 'file', sizeBytes });
  };
  const fail = (path: string, error: unknown) => {
    if (!isItemError(error)) throw error;
    totals.failed += 1;
    context.emit({ type: 'fileFailed', path, error: toErrorRecord(error) });
  };
  const removeKeys = (keys: readonly string[]) =>
    limit.run(() => store.delete(keys, { signal }), { bytes: 0, signal });

  const remove = async (listed: readonly TreeItem[]) => {
    const timed = await readTimes(listed, { filter: chosen, store, limit, signal, onFailed: fail });
    const items = timed.filter((item) => chosen.includes(item));
    if (items.length === 0) return;
    if (dryRun) return items.forEach(done);
    try {
      await removeKeys(items.map(({ path }) => path));
    } catch (error) {
      if (!isItemError(error)) throw error;
      const byKey = new Map(items.map((item) => [item.path, item]));
      const onRemoved = (key: string) => done(byKey.get(key)!);
      return removeEach([...byKey.keys()], error, { store, limit, signal, onRemoved, onFailed: fail });
    }
    items.forEach(done);
  };
  return {
    totals,
    remove,
    /** Resolves to whether there was nothing. @throws `conflict` before the first removal */
    async removeAll(guard: RemovalGuard): Promise<boolean> {
      using listed = gatherItems(`${userCacheFolder(context)}/trees`);
      let isEmpty = true;
      for await (const page of listTreeItems({ store, limit, signal, isUnordered: true })) {
        for (const { path } of page) guard.listed(path);
        listed.add(page);
        isEmpty = false;
      }
      // What a filter by age leaves of them is not known yet.
      const isMeant = (item: TreeItem) => chosen.needsTime(item) || chosen.includes(item);
      if (!isEmpty) await guard.refuseAbove(true);
      for (const page of guard.stops.length > 0 ? [] : listed.pages())
        if (guard.refuseBelow(page.filter(isMeant))) break;
      try {
        for (const page of listed.pages()) {
          const permit = await room.acquire(1, signal);
          tasks.spawn(() => remove(page).finally(() => permit.release()));
          await context.drained?.();
        }
      } catch (error) {
        tasks.fail(error);
      }
      await tasks.settle();
      progress.end();
      return isEmpty;
    },
  };
}
