/**
 * `dray check`: whether two places have the same files with the same content, and for each file how that was
 * found out. It asks stores for their checksums and reads local files. It downloads nothing unless asked to,
 * changes nothing, and does not use the index, which would prove nothing to anyone else.
 */
import { tmpdir } from 'node:os';
import { DrayError, messageWithoutAdvice } from '../../../api/error.ts';
import type { ComparedBy, ComparedEvent } from '../../../api/events.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import type { CheckTreesRequest, CheckTreesSummary } from '../../../api/jobs/trees.ts';
import { Budget } from '../../../base/budget.ts';
import { systemClock } from '../../../base/clock.ts';
import { TaskSet } from '../../../base/task-set.ts';
import { loadCrc64 } from '../../../checksums/crc64-nvme.ts';
import { localPlaceKind } from '../../../files/scan/local-place.ts';
import { createSpills, type Spills } from '../../../index/tree-spill.ts';
import { createTreeFilter, type TreeFilter, withoutBounds } from '../../../model/tree-filter.ts';
import { isSameSpecial, type TreeItem } from '../../../model/tree-item.ts';
import { mergeTrees } from '../../../query/trees/merge-trees.ts';
import { UnorderedListing } from '../../../query/trees/object-pages.ts';
import { type KeyRange, listsInNoOrder } from '../../../remotes/wrappers/within-range.ts';
import { nothingThere } from '../../places/open-side.ts';
import { holdsSomething, isEmptyFolder } from '../../places/source-presence.ts';
import { createProgress, type Progress } from '../../session/progress.ts';
import { addTotals, trafficOf } from '../../session/traffic.ts';
import { createTreeCounts, failItem, reportFailure, type TreeCounts } from '../copy-run.ts';
import { withinBounds } from '../filter-bounds.ts';
import { createTreeMemory } from '../move/movers.ts';
import { openTreePair, type TreePair } from '../open-pair.ts';
import { isObjectStore, type TreeSide } from '../sides.ts';
import { itemsOf, sortedItems } from '../source-items.ts';
import { warnOfUnmatchedRules } from '../unmatched-rules.ts';
import { type CompareSides, compareContent } from './check-content.ts';
import { checkFilter } from './check-filter.ts';
import { type CheckReport, openCheckReport } from './check-report.ts';

/** Pairs compared at once. */
const PAIRS_MAX = 256;

/** @param range Of the keys; default: all. */
export async function checkTrees(
  context: JobContext,
  request: CheckTreesRequest,
  range?: KeyRange,
): Promise<CheckTreesSummary> {
  createTreeFilter(request.filter ?? {});
  await using pair = await openTreePair(context, request, { links: request.links, range });
  checkDestination(pair);
  await loadCrc64();
  const report = request.reportPath === undefined ? undefined : openCheckReport(request.reportPath, pair);
  try {
    const check = createCheck({ context, request, pair, range, report });
    await check.run();
    const summary = check.summary();
    report?.finish(summary);
    return summary;
  } finally {
    report?.close();
  }
}

/** @throws `notFound`, because a mistyped name is not a difference */
function checkDestination({ destination, only }: TreePair): void {
  if (only || destination.kind === 'remote' || localPlaceKind(destination.root) === 'folder') return;
  const { root: path, text } = destination;
  throw new DrayError('notFound', `There is no folder ${text} to compare with.`, { data: { path } });
}

interface CheckParts extends Pick<Check, 'context' | 'pair' | 'range' | 'request'> {
  readonly report: CheckReport | undefined;
}

interface CheckTotals {
  same: number;
  differing: number;
  onlyInSource: number;
  onlyInDestination: number;
  uncertain: number;
  readBytes: number;
}

function createCheck({ context, pair, range, report, request }: CheckParts) {
  const tasks = new TaskSet(context.signal);
  const counts: TreeCounts = createTreeCounts();
  const totals: CheckTotals = {
    same: 0,
    differing: 0,
    onlyInSource: 0,
    onlyInDestination: 0,
    uncertain: 0,
    readBytes: 0,
  };
  const progress = createProgress(
    { context, clock: systemClock },
    { phase: 'verify', traffic: trafficOf(pair) },
  );
  const check: Check = {
    context,
    request,
    pair,
    range,
    tasks,
    counts,
    totals,
    progress,
    filter: checkFilter(request, pair),
    names: checkFilter({ ...request, filter: withoutBounds(request.filter ?? {}) }, pair),
    sides: {
      source: pair.source,
      destination: pair.destination,
      memory: createTreeMemory({}),
      signal: tasks.signal,
    },
    report(event) {
      totals[TOTAL_OF[event.result]] += 1;
      context.emit(event);
      report?.add(event);
    },
  };
  return {
    async run() {
      try {
        await walkInOrder(check);
      } catch (error) {
        tasks.fail(error);
      }
      await tasks.settle();
      progress.end();
      if (!range && !pair.only) warnOfUnmatchedRules(context, check.names, pair.source.text);
    },
    summary: (): CheckTreesSummary => ({
      source: pair.source.text,
      destination: pair.destination.text,
      files: counts.files,
      ...totals,
      failed: counts.failed,
      requests: addTotals(pair.meters),
    }),
  };
}

interface Check {
  readonly context: JobContext;
  readonly request: CheckTreesRequest;
  readonly pair: TreePair;
  readonly range: KeyRange | undefined;
  readonly tasks: TaskSet;
  readonly counts: TreeCounts;
  readonly totals: CheckTotals;
  readonly progress: Progress;
  readonly sides: CompareSides;
  readonly filter: TreeFilter;
  /** The filter without its bounds of size and age, which apply once both sides are known. */
  readonly names: TreeFilter;
  report(event: ComparedEvent): void;
}

const TOTAL_OF = {
  same: 'same',
  differs: 'differing',
  onlyInSource: 'onlyInSource',
  onlyInDestination: 'onlyInDestination',
  uncertain: 'uncertain',
} as const;

/**
 * A store that lists in no order usually shows it on its first page, before anything was reported: then both
 * sides go through a sort on disk. A later page out of order ends the check.
 */
async function walkInOrder(check: Check): Promise<void> {
  try {
    await walk(check, undefined);
  } catch (error) {
    if (!(error instanceof UnorderedListing)) throw error;
    if (check.range) throw listsInNoOrder(check.pair.source.text);
    if (check.counts.files > 0) throw disordered(error);
    using spills = createSpills(tmpdir());
    await walk(check, spills);
  }
}

function disordered(cause: UnorderedListing): DrayError {
  const message = `${messageWithoutAdvice(cause)} It did so only after a while; run the check again.`;
  return new DrayError('remoteFailed', message, { cause });
}

async function walk(check: Check, spills: Spills | undefined): Promise<void> {
  const { counts, filter, pair, request, tasks } = check;
  const room = new Budget(PAIRS_MAX);
  const source = pair.only ? one(pair.only) : somethingOf(check, items(check, pair.source, spills));
  const destination = pair.only ? await theOther(check, pair.only) : items(check, pair.destination, spills);
  const onFailed = (path: string, error: unknown) => failItem(check, path, error);
  // A single file is compared whatever its size and age.
  const bounds = pair.only ? undefined : { ...pair, filter, signal: tasks.signal, onFailed };
  for await (const batch of mergeTrees(source, destination)) {
    const { extras, pairs } = bounds ? await withinBounds(batch, bounds) : batch;
    for (const { source: left, destination: right } of pairs) {
      tasks.check();
      counts.files += 1;
      if (right && (left.special || right.special)) {
        reportPlain(check, left, isSameSpecial(left.special, right.special) ? 'same' : 'differs');
        continue;
      }
      if (right === undefined || left.sizeBytes !== right.sizeBytes) {
        reportPlain(check, left, right === undefined ? 'onlyInSource' : 'differs');
        continue;
      }
      const permit = await room.acquire(1, tasks.signal);
      const work = () => compare(check, left, right);
      tasks.spawn(() => check.progress.during(left, work).finally(() => permit.release()));
    }
    await check.context.drained?.();
    if (request.oneWay) continue;
    for (const extra of extras) reportPlain(check, extra, 'onlyInDestination');
  }
}

function reportPlain(
  check: Check,
  { path, sizeBytes, special }: TreeItem,
  result: ComparedEvent['result'],
): void {
  // A link's target is its content, and an empty folder has nothing but its presence.
  const by: ComparedBy = special?.kind === 'link' ? 'content' : result === 'differs' ? 'sizes' : 'presence';
  check.report({ type: 'compared', path, result, by, sizeBytes });
  check.progress.add(1, 0);
}

async function compare(check: Check, left: TreeItem, right: TreeItem): Promise<void> {
  const { compare: mode, download } = check.request;
  const { path, sizeBytes } = left;
  try {
    if (mode === 'sizeOnly') {
      check.report({ type: 'compared', path, result: 'same', by: 'sizes', sizeBytes });
    } else {
      const { by, differsAt, readBytes, result } = await compareContent(check.sides, left, right, {
        byReading: download ?? false,
      });
      check.totals.readBytes += readBytes;
      const where = differsAt === undefined ? {} : { differsAt };
      check.report({ type: 'compared', path, result, by, sizeBytes, ...where });
    }
  } catch (error) {
    check.tasks.check();
    failItem(check, path, error);
  }
  check.progress.add(1, sizeBytes);
}

async function* one(item: TreeItem): AsyncGenerator<readonly TreeItem[]> {
  yield [item];
}

/** The item of the destination with the single file's name. */
async function theOther(check: Check, only: TreeItem): Promise<AsyncIterable<readonly TreeItem[]>> {
  const paths = [check.pair.destination.pathOf(only.path)];
  const filter = { ...createTreeFilter({}), paths };
  return itemsOf(check.pair.destination, { ...itemOptions(check), filter, onFailed: () => {} });
}

function items(check: Check, side: TreeSide, spills: Spills | undefined): AsyncIterable<readonly TreeItem[]> {
  const isSorted = spills !== undefined && side.kind === 'remote';
  const options = itemOptions(check);
  const found = itemsOf(side, {
    ...options,
    filter: check.names,
    isUnordered: isSorted,
    // A file of --files-from that the destination lacks is a difference.
    onFailed: (path, error) => {
      if (side === check.pair.source || error.code !== 'notFound') options.onFailed(path, error);
    },
  });
  return isSorted ? sortedItems(found, spills.sorter()) : found;
}

/** Refuses a source without items, which is probably mistyped: finding no difference would prove nothing. */
async function* somethingOf(
  { counts, filter, pair, tasks }: Check,
  found: AsyncIterable<readonly TreeItem[]>,
): AsyncGenerator<readonly TreeItem[]> {
  let isEmpty = true;
  for await (const items of found) {
    if (items.length > 0) isEmpty = false;
    yield items;
  }
  const { mayBeEmpty, source } = pair;
  if (!isEmpty || counts.failed > 0 || source.kind === 'local' || mayBeEmpty || filter.paths) return;
  // The filter may be what leaves nothing.
  if (!filter.isOpen && (await holdsSomething(source, tasks.signal))) return;
  if (!(await isEmptyFolder(source, tasks.signal))) throw nothingThere(source.text);
}

function itemOptions(check: Check) {
  return {
    nowMs: systemClock.nowMs(),
    signal: check.tasks.signal,
    links: check.request.links ?? false,
    keepsFolderNames: isObjectStore(check.pair.source) && isObjectStore(check.pair.destination),
    onSkipped: (path: string, problem: { readonly message: string; readonly advice?: string }) =>
      check.context.emit({ type: 'warning', warning: 'skippedSpecialFile', ...problem, path }),
    onFailed: (path: string, error: Parameters<typeof reportFailure>[2]) => reportFailure(check, path, error),
  };
}
