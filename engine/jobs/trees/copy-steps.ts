/**
 * Decides for each item what to do, by the cheapest evidence first, and does it beside the walk, with a
 * bounded number of items in flight. Deletions wait until everything else has succeeded (`deletions.ts`).
 */
import { DrayError } from '../../api/error.ts';
import { Budget } from '../../base/budget.ts';
import { createHeapBound } from '../../base/heap-bound.ts';
import type { PairProof } from '../../index/known-pairs.ts';
import { modeToSet } from '../../model/special-modes.ts';
import { type Decision, decideItem, type Evidence, type Recalled } from '../../model/tree-decision.ts';
import { changeTimeOf, isHoldingFolder, isSameSpecial, type TreeItem } from '../../model/tree-item.ts';
import type { MatchedBatch } from '../../query/trees/merge-trees.ts';
import type { FileTouch } from '../../remotes/file-calls.ts';
import { IN_REPOSITORY } from '../places/repository-guard.ts';
import { type CloserComparison, mtimeOf } from './closer-comparison.ts';
import { failItem, reportChange, reportFailure, type TreeRun } from './copy-run.ts';
import type { Backup } from './delete/backup-folder.ts';
import type { DeferredItems } from './delete/deferred-items.ts';
import type { Deletes } from './delete/deletions.ts';
import { hidesWhatStays, refuseChange } from './delete/refuse-change.ts';
import type { TreeFolders } from './folders/folder-attributes.ts';
import type { WalkedFolder } from './folders/open-folders.ts';
import type { Moved, Mover, Pair } from './move/mover.ts';
import type { BelowFiles } from './names/below-files.ts';
import type { NameClashes } from './names/name-clashes.ts';
import { itemState } from './pair-memory.ts';

/** Items in flight. Waiting items cost little memory, and requests are bounded elsewhere. */
const ITEMS_MAX = 1_024;
/**
 * Items in flight of a part. The four parts that a worker runs by default have as many together as a whole
 * copy. With 1,024 in each part, a worker took 1.15 to 1.42 times the CPU time (40,000 files, two parts),
 * because waiting items make garbage collection slower.
 */
const ITEMS_OF_PART_MAX = 256;

export interface TreeWork {
  readonly mover: Mover;
  readonly comparison: CloserComparison;
  readonly deletes: Deletes;
  /** Only in a sync that is not a dry run. */
  readonly deferred: DeferredItems | undefined;
  readonly backup: Backup | undefined;
  readonly folders: TreeFolders | undefined;
  /** Returns why an item may not be written at the destination, as an error of that item. */
  readonly refuse: (item: TreeItem) => DrayError | undefined;
  readonly clashes: NameClashes | undefined;
  readonly belowFiles: BelowFiles | undefined;
}

export async function takeSteps(
  run: TreeRun,
  work: TreeWork,
  batches: AsyncIterable<MatchedBatch>,
): Promise<void> {
  const room = new Budget(itemsMaxOf(run));
  const { counts, filter, guard, tasks } = run;
  const { folders, deferred } = work;
  const heap = createHeapBound();
  try {
    for await (const batch of batches) {
      heap.check();
      folders?.beginBatch();
      for (const { source, destination } of batch.pairs) {
        tasks.check();
        deferred?.meet(source);
        if (source.special?.kind === 'folder') {
          folders?.enter(source, destination);
          if (isHoldingFolder(source)) continue;
        } else if (!filter.isOpen) folders?.keepAbove(source.path);
        counts.files += 1;
        counts.bytes += source.sizeBytes;
        if (destination) {
          counts.destinationFiles += 1;
          guard.listed(source.path);
        }
        const next = firstStep(run, work, source, destination);
        if (next === undefined || (!destination && deferred?.foresee(source))) continue;
        // `takeNow` allocates no permit, so `takeStep` gives the unit back by itself.
        if (!room.takeNow(1)) await room.acquire(1, tasks.signal);
        const pair = { source, destination, holder: folders?.holderOf(source.path) };
        tasks.spawn(() => takeStep(run, work, pair, next, room));
      }
      for (const extra of batch.extras) takeExtra(run, work, extra);
      await run.context.drained?.();
    }
    run.progress.walked();
  } finally {
    work.mover.flush?.();
  }
}

/** `--transfers` requests can be in flight on both sides. */
function itemsMaxOf({ context, part }: TreeRun): number {
  const { transfers = 0 } = context.connection;
  return part ? Math.min(ITEMS_MAX, Math.max(ITEMS_OF_PART_MAX, 2 * transfers)) : ITEMS_MAX;
}

function takeExtra(
  { counts, filter, guard, isSync }: TreeRun,
  { deletes, folders }: TreeWork,
  extra: TreeItem,
): void {
  if (isHoldingFolder(extra)) {
    folders?.enterExtra(extra);
    return;
  }
  guard.listed(extra.path);
  // The ages that a filter needs are read only for a sync.
  if (!isSync || !filter.includes(extra)) return;
  counts.destinationFiles += 1;
  deletes.add(extra);
  folders?.willRemove(extra.path);
}

/** A pair that needs more evidence than the listings have. */
interface OpenDecision {
  readonly decision: Decision;
  readonly decide: (evidence: Evidence) => Decision;
}

type Step = 'copy' | OpenDecision;

/**
 * Takes an item to its end, without waiting before the mover has it: small items share requests in the order
 * of the walk. Reports an error of this item; the others continue.
 */
async function takeStep(
  run: TreeRun,
  work: TreeWork,
  pair: ItemPair,
  step: Step,
  room: Budget,
): Promise<void> {
  const { destination, source } = pair;
  try {
    if (step === 'copy') await copy(run, work, pair);
    else await carryOut(run, work, pair, await compareUntilClear(run, work, pair, step));
  } catch (error) {
    run.tasks.check();
    if (!destination && !isRefusal(error) && work.deferred?.take(source, error)) return;
    failItem(run, source.path, error);
    run.progress.compared(1);
  } finally {
    room.giveBack(1);
  }
}

/** Whether the whole run is refused. */
function isRefusal(error: unknown): boolean {
  return error instanceof DrayError && error.data.reason === IN_REPOSITORY;
}

/**
 * The next step for the pair. Undefined: it is settled, as most are in a second run.
 */
function firstStep(
  run: TreeRun,
  work: TreeWork,
  source: TreeItem,
  destination: TreeItem | undefined,
): Step | undefined {
  const refused = work.refuse(source) ?? work.clashes?.(source.path) ?? work.belowFiles?.(source.path);
  if (refused) {
    reportFailure(run, source.path, refused);
    return undefined;
  }
  if (source.special || destination?.special) return specialStep(run, source, destination);
  if (!destination && hidesWhatStays(run, source)) return undefined;
  let recalled: Recalled = 'unknown';
  const decide = (evidence: Evidence) =>
    decideItem({
      source,
      destination,
      recalled,
      compare: run.request.compare ?? 'sizeAndTime',
      update: run.request.update ?? false,
      immutable: run.request.immutable ?? false,
      isInDoubt: destination !== undefined && isInDoubt(run, destination),
      evidence,
    });
  let decision = decide({});
  // The memory is asked only about pairs that the listings leave open: it never makes equal items differ.
  if (destination && decision.do !== 'same') {
    recalled = run.knowledge.recall(source.path, statesOf(source, destination));
    decision = decide({});
  }
  if (decision.do === 'same' && modeWanted(run, { source, destination }) === undefined) {
    if (recalled === 'equal' || recalled === 'equalByTime') run.counts.decidedByIndex += 1;
    settleSame(run);
    return undefined;
  }
  return decision.do === 'copy' ? 'copy' : { decision, decide };
}

/** Whether an interrupted run may have written the file. */
function isInDoubt({ inDoubtSinceMs }: TreeRun, { kind, token }: TreeItem): boolean {
  if (inDoubtSinceMs === undefined || kind !== 'file') return false;
  const changedMs = changeTimeOf(token);
  return changedMs === undefined || changedMs >= inDoubtSinceMs;
}

/**
 * A link is described by its listing alone, and so is a local folder, whose mode and time are set elsewhere.
 */
function specialStep(run: TreeRun, source: TreeItem, destination: TreeItem | undefined): 'copy' | undefined {
  if (destination && isSameSpecial(source.special, destination.special)) settleSame(run);
  else if (destination && run.request.immutable) refuseChange(run, source);
  else return 'copy';
  return undefined;
}

interface ItemPair {
  readonly source: TreeItem;
  readonly destination: TreeItem | undefined;
  /** The destination's folder of the item. */
  readonly holder: WalkedFolder | undefined;
}

interface Clear {
  readonly decision: Exclude<Decision, { do: 'look' }>;
  readonly evidence: Evidence;
}

async function compareUntilClear(
  { progress }: TreeRun,
  { comparison }: TreeWork,
  { source, destination }: ItemPair,
  open: OpenDecision,
): Promise<Clear> {
  let evidence: Evidence = {};
  let { decision } = open;
  const decided = progress.undecided();
  try {
    while (decision.do === 'look') {
      // Only items on both sides are compared.
      const found = await comparison.compare(decision.at, source, destination!);
      evidence = { ...evidence, ...found, looked: [...(evidence.looked ?? []), decision.at] };
      decision = open.decide(evidence);
    }
    return { decision, evidence };
  } finally {
    decided();
  }
}

async function carryOut(
  run: TreeRun,
  work: TreeWork,
  pair: ItemPair,
  { decision, evidence }: Clear,
): Promise<void> {
  const { source } = pair;
  switch (decision.do) {
    case 'same': {
      const mode = modeWanted(run, pair);
      if (mode !== undefined) return touch(run, work, pair, { to: { mode }, proof: proofOf(run, evidence) });
      noteSame(run, pair, evidence);
      settleSame(run);
      return;
    }
    case 'skip':
      run.counts.skippedFiles += 1;
      run.progress.compared(1);
      return;
    case 'refuse':
      refuseChange(run, source);
      return;
    case 'touch':
      await touch(run, work, pair, {
        to: { ...modeOf(run, pair), ...(await timeOf(run, source, evidence)) },
        proof: 'content',
      });
      return;
    case 'copy':
      await copy(run, work, pair);
  }
}

function noteSame(run: TreeRun, { source, destination }: ItemPair, evidence: Evidence): void {
  const proof = proofOf(run, evidence);
  if (!destination || !proof) return;
  run.knowledge.note(source.path, statesOf(source, destination), proof);
}

function statesOf(source: TreeItem, destination: TreeItem): Pair {
  return { sourceToken: itemState(source), destinationToken: itemState(destination) };
}

/** The proof of this run, for later runs that may need a stronger one. */
function proofOf({ request }: TreeRun, { content }: Evidence): PairProof | undefined {
  const { compare = 'sizeAndTime', immutable = false } = request;
  const isTimeKept = compare === 'sizeAndTime' && !immutable;
  if (content === 'equal') return isTimeKept ? 'content' : 'contentAlone';
  return isTimeKept ? 'time' : undefined;
}

function settleSame(run: TreeRun): void {
  run.counts.unchangedFiles += 1;
  run.progress.compared(1);
}

/** The source's mode if the destination has another one; never with `--immutable`. */
function modeWanted(
  { request }: TreeRun,
  { destination, source }: Omit<ItemPair, 'holder'>,
): number | undefined {
  return request.immutable || !destination ? undefined : modeToSet(source, destination, request);
}

/** Two scans can show that times differ without showing their nanoseconds. */
async function timeOf(run: TreeRun, source: TreeItem, { sourceMtimeNs }: Evidence): Promise<FileTouch> {
  const mtimeNs = sourceMtimeNs ?? (await mtimeOf(run, run.source, source));
  return mtimeNs === undefined ? {} : { mtimeNs };
}

function modeOf(run: TreeRun, pair: ItemPair): FileTouch {
  const mode = modeWanted(run, pair);
  return mode === undefined ? {} : { mode };
}

/** Times differ only if both are known. */
async function touch(
  run: TreeRun,
  { mover }: TreeWork,
  { source, destination }: ItemPair,
  { proof, to }: { readonly to: FileTouch; readonly proof: PairProof | undefined },
): Promise<void> {
  await run.guard.before(source.path);
  run.forecast?.touches();
  if (!run.request.dryRun) {
    const pair = await mover.touch(source, destination!, to);
    if (proof) run.knowledge.note(source.path, asListed(source, pair), proof);
    if (pair.isUnchanged) return settleSame(run);
  }
  run.counts.touchedFiles += 1;
  reportChange(run, 'time', source);
  run.progress.compared(1);
}

async function copy(run: TreeRun, work: TreeWork, { destination, holder, source }: ItemPair): Promise<void> {
  const asking = run.guard.before(source.path);
  if (asking) await asking;
  const opening = holder && work.folders?.beforeWrite(holder);
  if (opening) await opening;
  if (run.request.dryRun) return foreseeCopy(run, work.mover, { destination, source });
  run.progress.found(source.sizeBytes);
  if (destination && work.backup) await work.backup.keep(destination);
  noteMoved(run, source, destination, await work.mover.move(source, destination));
}

async function foreseeCopy(
  run: TreeRun,
  mover: Mover,
  { destination, source }: Omit<ItemPair, 'holder'>,
): Promise<void> {
  run.forecast?.copies(source, await mover.foresee?.(source, destination));
  noteCopied(run, source, destination, source.sizeBytes);
  run.progress.compared(1);
}

/** Copies an item whose destination is free. */
export async function bringNew(run: TreeRun, mover: Mover, item: TreeItem): Promise<void> {
  await run.guard.before(item.path);
  if (run.request.dryRun) return foreseeCopy(run, mover, { source: item, destination: undefined });
  noteMoved(run, item, undefined, await mover.move(item, undefined));
}

function noteMoved(run: TreeRun, source: TreeItem, over: TreeItem | undefined, moved: Moved): void {
  const { confirmation, counts, progress } = run;
  const { inStore, isProgressCounted = false, receivedBytes = 0, sentBytes = 0, sizeBytes } = moved;
  counts.sentBytes += sentBytes;
  counts.receivedBytes += receivedBytes;
  if (inStore) counts.copiedInStore += 1;
  confirmation.moved(source, over, { ...moved, ...asListed(source, moved) });
  noteCopied(run, source, over, sizeBytes);
  progress.add(1, isProgressCounted ? 0 : sizeBytes);
}

/** The pair to remember: the source as the listing had it, unless the file has changed since. */
function asListed(source: TreeItem, { destinationToken, sourceToken }: Pair): Pair {
  return { sourceToken: sourceToken === source.token ? itemState(source) : sourceToken, destinationToken };
}

function noteCopied(run: TreeRun, source: TreeItem, over: TreeItem | undefined, sizeBytes: number): void {
  run.counts.copiedFiles += 1;
  run.counts.copiedBytes += sizeBytes;
  reportChange(run, over ? 'modified' : 'added', source);
}
