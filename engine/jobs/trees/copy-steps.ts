/**
 * Decides what becomes of each item and has it done: the cheapest evidence first, work beside the walk, at most so many items under
 * way. Deletions wait until everything else has gone well (`deletions.ts`).
 */
import type { DrayError } from '../../api/error.ts';
import { Budget } from '../../base/budget.ts';
import { createHeapBound } from '../../base/heap-bound.ts';
import type { PairProof } from '../../index/known-pairs.ts';
import { modeToSet } from '../../model/special-modes.ts';
import { type Decision, decideItem, type Evidence, type Recalled } from '../../model/tree-decision.ts';
import { changeTimeOf, isHoldingFolder, isSameSpecial, type TreeItem } from '../../model/tree-item.ts';
import type { MatchedBatch } from '../../query/trees/merge-trees.ts';
import type { FileTouch } from '../../remotes/file-face.ts';
import { type Looks, mtimeOf } from './closer-comparison.ts';
import { failItem, type TreeRun, tellChange, tellFailure } from './copy-run.ts';
import type { Backup } from './delete/backup-folder.ts';
import type { LateItems } from './delete/deferred-items.ts';
import type { Deletes } from './delete/deletions.ts';
import { hidesWhatStays, refuseChange } from './delete/protection.ts';
import type { TreeFolders } from './folders/folder-attributes.ts';
import type { FolderMet } from './folders/open-folders.ts';
import type { Moved, Mover, Pair, SmallMove } from './move/mover.ts';
import { createSmallMoves } from './move/small-moves.ts';
import type { NameClashes } from './names/name-clashes.ts';
import { stateOf } from './pair-memory.ts';

/** Items under way: what waits costs some memory, and requests in flight are bounded elsewhere. */
const ITEMS_MAX = 1_024;

export interface TreeWork {
  readonly mover: Mover;
  readonly looks: Looks;
  readonly deletes: Deletes;
  /** Of a sync that is no dry run. */
  readonly late: LateItems | undefined;
  readonly backup: Backup | undefined;
  readonly folders: TreeFolders | undefined;
  /** Why an item may not be written at the destination, as an error of that item. */
  readonly refuse: (item: TreeItem) => DrayError | undefined;
  readonly clashes: NameClashes | undefined;
}

export async function takeSteps(
  run: TreeRun,
  work: TreeWork,
  batches: AsyncIterable<MatchedBatch>,
): Promise<void> {
  const room = new Budget(ITEMS_MAX);
  const { counts, filter, tasks } = run;
  const { folders, late } = work;
  const { small: mover } = work.mover;
  const onMoved = ({ item, over }: SmallMove, moved: Moved) => noteMoved(run, item, over, moved);
  const small = mover && createSmallMoves(run, { mover, room, onMoved, late });
  const heap = createHeapBound();
  try {
    for await (const batch of batches) {
      heap.check();
      folders?.beginBatch();
      for (const { source, destination } of batch.pairs) {
        tasks.check();
        late?.meet(source);
        if (source.special?.kind === 'folder') {
          folders?.enter(source, destination);
          if (isHoldingFolder(source)) continue;
        } else if (!filter.isOpen) folders?.keepAbove(source.path);
        counts.files += 1;
        counts.bytes += source.sizeBytes;
        if (destination) counts.destinationFiles += 1;
        const next = firstStep(run, work, source, destination);
        if (next === undefined || (!destination && late?.foresee(source))) continue;
        // What it took is given back by its number of units: a permit for each would be one more thing to make.
        if (!room.takeNow(1)) await room.acquire(1, tasks.signal);
        if (next !== 'copy') {
          spawnStep(run, next, room);
          continue;
        }
        const pair = pairOf(work, source, destination);
        const isShut = pair.holder !== undefined && folders!.beforeWrite(pair.holder) !== undefined;
        if (!isShut && mayBeSmall(work, destination) && small?.takes(source)) {
          run.progress.found(source.sizeBytes);
          small.start(source, destination);
        } else spawnStep(run, () => failing(run, work, pair, () => copy(run, work, pair)), room);
      }
      for (const extra of batch.extras) takeExtra(run, work, extra);
      await run.context.drained?.();
    }
    run.progress.walked();
  } finally {
    await small?.settle();
  }
}

function takeExtra(
  { counts, filter, isSync }: TreeRun,
  { deletes, folders }: TreeWork,
  extra: TreeItem,
): void {
  if (isHoldingFolder(extra)) {
    folders?.enterExtra(extra);
    return;
  }
  // Only of a sync has it been found out how old they are.
  if (!isSync || !filter.includes(extra)) return;
  counts.destinationFiles += 1;
  deletes.add(extra);
  folders?.willRemove(extra.path);
}

/** What lies there may have to be kept first. */
function mayBeSmall({ backup }: TreeWork, destination: TreeItem | undefined): boolean {
  return !backup || !destination;
}

type Step = () => Promise<void>;

function spawnStep(run: TreeRun, step: Step, room: Budget): void {
  run.tasks.spawn(() => step().finally(() => room.giveBack(1)));
}

/** An item's own failure is told of, and the others go on. */
async function failing(
  run: TreeRun,
  { late }: TreeWork,
  { destination, source }: ItemPair,
  step: Step,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    run.tasks.check();
    if (!destination && late?.take(source, error)) return;
    failItem(run, source.path, error);
    run.progress.looked(1);
  }
}

/** What is left to do for the pair: undefined when it is settled at once, as most are in a second run, `copy` when no more is to be found out. */
function firstStep(
  run: TreeRun,
  work: TreeWork,
  source: TreeItem,
  destination: TreeItem | undefined,
): Step | 'copy' | undefined {
  const refused = work.refuse(source) ?? work.clashes?.(source.path);
  if (refused) {
    tellFailure(run, source.path, refused);
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
  // Only what the listings leave open is worth a look at what is remembered: it never makes two that are the same differ.
  if (destination && decision.do !== 'same') {
    recalled = run.knowledge.recall(source.path, statesOf(source, destination));
    decision = decide({});
  }
  if (decision.do === 'same' && modeWanted(run, { source, destination }) === undefined) {
    if (recalled === 'equal' || recalled === 'equalByTime') run.counts.decidedByIndex += 1;
    settleSame(run);
    return undefined;
  }
  if (decision.do === 'copy') return 'copy';
  const pair = pairOf(work, source, destination);
  return () =>
    failing(run, work, pair, async () => {
      const decided = run.progress.undecided();
      const clear = await lookUntilClear(work, pair, decision, decide).finally(decided);
      await carryOut(run, work, pair, clear);
    });
}

/** Whether the file may have been written by a run that was cut off. */
function isInDoubt({ inDoubtSinceMs }: TreeRun, { kind, token }: TreeItem): boolean {
  if (inDoubtSinceMs === undefined || kind !== 'file') return false;
  const changedMs = changeTimeOf(token);
  return changedMs === undefined || changedMs >= inDoubtSinceMs;
}

/** Links are all that there is to know of them, and so are folders here: their modes and times are seen to elsewhere. */
function specialStep(run: TreeRun, source: TreeItem, destination: TreeItem | undefined): 'copy' | undefined {
  if (destination && isSameSpecial(source.special, destination.special)) settleSame(run);
  else if (destination && run.request.immutable) refuseChange(run, source);
  else return 'copy';
  return undefined;
}

interface ItemPair {
  readonly source: TreeItem;
  readonly destination: TreeItem | undefined;
  /** Where it lies at the destination. */
  readonly holder: FolderMet | undefined;
}

/** To be made while the walk is where the item lies. */
function pairOf({ folders }: TreeWork, source: TreeItem, destination: TreeItem | undefined): ItemPair {
  return { source, destination, holder: folders?.holderOf(source.path) };
}

interface Clear {
  readonly decision: Exclude<Decision, { do: 'look' }>;
  readonly evidence: Evidence;
}

async function lookUntilClear(
  { looks }: TreeWork,
  { source, destination }: ItemPair,
  first: Decision,
  decide: (evidence: Evidence) => Decision,
): Promise<Clear> {
  let evidence: Evidence = {};
  let decision = first;
  while (decision.do === 'look') {
    // Only what is there on both sides is ever looked at.
    const found = await looks.look(decision.at, source, destination!);
    evidence = { ...evidence, ...found, looked: [...(evidence.looked ?? []), decision.at] };
    decision = decide(evidence);
  }
  return { decision, evidence };
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
      run.progress.looked(1);
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
  return { sourceToken: stateOf(source), destinationToken: stateOf(destination) };
}

/** What this run has proved, for later runs that may need stronger proof. */
function proofOf({ request }: TreeRun, { content }: Evidence): PairProof | undefined {
  const { compare = 'sizeAndTime', immutable = false } = request;
  const isTimeKept = compare === 'sizeAndTime' && !immutable;
  if (content === 'equal') return isTimeKept ? 'content' : 'contentAlone';
  return isTimeKept ? 'time' : undefined;
}

function settleSame(run: TreeRun): void {
  run.counts.unchangedFiles += 1;
  run.progress.looked(1);
}

/** The source's mode, where the destination has another one. With `--immutable` none. */
function modeWanted(
  { request }: TreeRun,
  { destination, source }: Omit<ItemPair, 'holder'>,
): number | undefined {
  return request.immutable || !destination ? undefined : modeToSet(source, destination, request);
}

/** Two scans may have told that the times differ, and not what they are to the nanosecond. */
async function timeOf(run: TreeRun, source: TreeItem, { sourceMtimeNs }: Evidence): Promise<FileTouch> {
  const mtimeNs = sourceMtimeNs ?? (await mtimeOf(run, run.source, source));
  return mtimeNs === undefined ? {} : { mtimeNs };
}

function modeOf(run: TreeRun, pair: ItemPair): FileTouch {
  const mode = modeWanted(run, pair);
  return mode === undefined ? {} : { mode };
}

/** Only where both times are known is one said to differ. */
async function touch(
  run: TreeRun,
  { mover }: TreeWork,
  { source, destination }: ItemPair,
  { proof, to }: { readonly to: FileTouch; readonly proof: PairProof | undefined },
): Promise<void> {
  run.forecast?.touches();
  if (!run.request.dryRun) {
    const pair = await mover.touch(source, destination!, to);
    if (proof) run.knowledge.note(source.path, asListed(source, pair), proof);
  }
  run.counts.touchedFiles += 1;
  tellChange(run, 'time', source);
  run.progress.looked(1);
}

async function copy(run: TreeRun, work: TreeWork, { destination, holder, source }: ItemPair): Promise<void> {
  if (holder) await work.folders?.beforeWrite(holder);
  if (run.request.dryRun) return foreseeCopy(run, work.mover, { destination, source });
  run.progress.found(source.sizeBytes);
  if (destination) await work.backup?.keep(destination);
  noteMoved(run, source, destination, await work.mover.move(source, destination));
}

async function foreseeCopy(
  run: TreeRun,
  mover: Mover,
  { destination, source }: Omit<ItemPair, 'holder'>,
): Promise<void> {
  run.forecast?.copies(source, await mover.foresee?.(source, destination));
  noteCopied(run, source, destination, source.sizeBytes);
  run.progress.looked(1);
}

/** To where nothing lies any more. */
export async function bringNew(run: TreeRun, mover: Mover, item: TreeItem): Promise<void> {
  if (run.request.dryRun) return foreseeCopy(run, mover, { source: item, destination: undefined });
  noteMoved(run, item, undefined, await mover.move(item, undefined));
}

function noteMoved(run: TreeRun, source: TreeItem, over: TreeItem | undefined, moved: Moved): void {
  const { confirmation, counts, progress } = run;
  const { inStore, isProgressTold = false, receivedBytes, sentBytes, sizeBytes } = moved;
  counts.sentBytes += sentBytes;
  counts.receivedBytes += receivedBytes;
  if (inStore) counts.copiedInStore += 1;
  confirmation.moved(source, over, { ...moved, ...asListed(source, moved) });
  noteCopied(run, source, over, sizeBytes);
  progress.add(1, isProgressTold ? 0 : sizeBytes);
}

/** The pair to remember: the source by its state in the listing, unless the file has changed since. */
function asListed(source: TreeItem, { destinationToken, sourceToken }: Pair): Pair {
  return { sourceToken: sourceToken === source.token ? stateOf(source) : sourceToken, destinationToken };
}

function noteCopied(run: TreeRun, source: TreeItem, over: TreeItem | undefined, sizeBytes: number): void {
  run.counts.copiedFiles += 1;
  run.counts.copiedBytes += sizeBytes;
  tellChange(run, over ? 'modified' : 'added', source);
}
