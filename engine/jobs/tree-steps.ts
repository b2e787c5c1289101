/**
 * Decides what becomes of each item and has it done: the cheapest evidence first, work beside the walk, at most so many items under
 * way. Deletions wait until everything else has gone well (`tree-deletes.ts`).
 */
import { DrayError } from '../api/error.ts';
import { Budget } from '../base/budget.ts';
import { createYoungGenerationBound } from '../base/young-generation.ts';
import { type Decision, decideItem, type Evidence } from '../model/tree-decision.ts';
import { isSameSpecial, type TreeItem } from '../model/tree-item.ts';
import type { MatchedBatch } from '../query/merge-trees.ts';
import type { FileTouch } from '../remotes/file-face.ts';
import type { Backup } from './tree-backup.ts';
import type { Deletes } from './tree-deletes.ts';
import { type Looks, mtimeOf } from './tree-looks.ts';
import type { Mover } from './tree-mover.ts';
import { failItem, type TreeRun, tellChange, tellFailure } from './tree-run.ts';

/** Items under way: what waits costs some memory, and requests in flight are bounded elsewhere. */
const ITEMS_MAX = 1_024;

export interface TreeWork {
  readonly mover: Mover;
  readonly looks: Looks;
  readonly deletes: Deletes;
  readonly backup: Backup | undefined;
  /** Why an item may not be written at the destination, as an error of that item. */
  readonly refuse: (item: TreeItem) => DrayError | undefined;
}

export async function takeSteps(
  run: TreeRun,
  work: TreeWork,
  batches: AsyncIterable<MatchedBatch>,
): Promise<void> {
  const room = new Budget(ITEMS_MAX);
  const { counts, filter, tasks } = run;
  const youngGeneration = createYoungGenerationBound();
  for await (const batch of batches) {
    youngGeneration.check();
    for (const { source, destination } of batch.pairs) {
      tasks.check();
      counts.files += 1;
      counts.bytes += source.sizeBytes;
      if (destination) counts.destinationFiles += 1;
      const next = firstStep(run, work, source, destination);
      if (next === undefined) continue;
      const permit = await room.acquire(1, tasks.signal);
      tasks.spawn(() => next().finally(() => permit.release()));
    }
    for (const extra of batch.extras) {
      if (!filter.includes(extra)) continue;
      counts.destinationFiles += 1;
      if (run.isSync) work.deletes.add(extra);
    }
  }
}

type Step = () => Promise<void>;

/** What is left to do for the pair; undefined when it is settled at once, as most are in a second run. */
function firstStep(
  run: TreeRun,
  work: TreeWork,
  source: TreeItem,
  destination: TreeItem | undefined,
): Step | undefined {
  const refused = work.refuse(source);
  if (refused) {
    tellFailure(run, source.path, refused);
    return undefined;
  }
  if (source.special || destination?.special) return specialStep(run, work, { source, destination });
  const recalled = destination
    ? run.knowledge.recall(source.path, { sourceToken: source.token, destinationToken: destination.token })
    : 'unknown';
  const decide = (evidence: Evidence) =>
    decideItem({
      source,
      destination,
      recalled,
      compare: run.request.compare ?? 'sizeAndTime',
      update: run.request.update ?? false,
      immutable: run.request.immutable ?? false,
      evidence,
    });
  const decision = decide({});
  if (decision.do === 'same' && modeWanted(run, { source, destination }) === undefined) {
    if (recalled === 'equal' || recalled === 'equalByTime') run.counts.decidedByIndex += 1;
    settleSame(run);
    return undefined;
  }
  return async () => {
    try {
      await carryOut(
        run,
        work,
        { source, destination },
        await lookUntilClear(work, { source, destination }, decision, decide),
      );
    } catch (error) {
      run.tasks.check();
      failItem(run, source.path, error);
      run.progress.looked(1);
    }
  };
}

/** Links and folders are all that there is to know of them. */
function specialStep(run: TreeRun, work: TreeWork, pair: ItemPair): Step | undefined {
  if (pair.destination && isSameSpecial(pair.source.special, pair.destination.special)) {
    settleSame(run);
    return undefined;
  }
  return async () => {
    try {
      await copy(run, work, pair);
    } catch (error) {
      run.tasks.check();
      failItem(run, pair.source.path, error);
      run.progress.looked(1);
    }
  };
}

interface ItemPair {
  readonly source: TreeItem;
  readonly destination: TreeItem | undefined;
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
      if (mode !== undefined)
        return touch(run, work, pair, { to: { mode }, isCompared: evidence.content === 'equal' });
      noteSame(run, pair, evidence);
      settleSame(run);
      return;
    }
    case 'skip':
      run.counts.skippedFiles += 1;
      run.progress.looked(1);
      return;
    case 'refuse':
      tellFailure(
        run,
        source.path,
        new DrayError(
          'conflict',
          `${source.path} differs at the destination, and --immutable forbids to change it.`,
        ),
      );
      return;
    case 'touch':
      await touch(run, work, pair, {
        to: { ...modeOf(run, pair), ...(await timeOf(run, source, evidence)) },
        isCompared: true,
      });
      return;
    case 'copy':
      await copy(run, work, pair);
  }
}

function noteSame(run: TreeRun, { source, destination }: ItemPair, { content }: Evidence): void {
  if (!destination) return;
  const tokens = { sourceToken: source.token, destinationToken: destination.token };
  run.knowledge.note(source.path, tokens, content === 'equal' ? 'content' : 'time');
}

function settleSame(run: TreeRun): void {
  run.counts.unchangedFiles += 1;
  run.progress.looked(1);
}

/** That of the source, where both sides have one and they differ. What must never change keeps its own. */
function modeWanted({ request }: TreeRun, { destination, source }: ItemPair): number | undefined {
  if (request.immutable || destination?.mode === undefined || source.mode === destination.mode)
    return undefined;
  return source.mode;
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
  { isCompared, to }: { readonly to: FileTouch; readonly isCompared: boolean },
): Promise<void> {
  run.forecast?.touches();
  if (!run.request.dryRun) {
    const pair = await mover.touch(source, destination!, to);
    run.knowledge.note(source.path, pair, isCompared ? 'content' : 'time');
  }
  run.counts.touchedFiles += 1;
  tellChange(run, 'time', source);
  run.progress.looked(1);
}

async function copy(run: TreeRun, work: TreeWork, { source, destination }: ItemPair): Promise<void> {
  const { counts, knowledge, progress, request } = run;
  let sizeBytes = source.sizeBytes;
  let isProgressTold = false;
  run.forecast?.copies(source, await work.mover.foresee?.(source, destination));
  if (!request.dryRun) {
    if (destination) await work.backup?.keep(destination);
    const moved = await work.mover.move(source, destination);
    counts.sentBytes += moved.sentBytes;
    counts.receivedBytes += moved.receivedBytes;
    if (moved.inStore) counts.copiedInStore += 1;
    sizeBytes = moved.sizeBytes;
    isProgressTold = moved.isProgressTold ?? false;
    knowledge.note(source.path, moved, 'content');
  }
  counts.copiedFiles += 1;
  counts.copiedBytes += sizeBytes;
  tellChange(run, destination ? 'modified' : 'added', source);
  if (request.dryRun) progress.looked(1);
  else progress.add(1, isProgressTold ? 0 : sizeBytes);
}
