/**
 * One range of a fleet's job: cuts it into parts, runs these at the same time, and adds up what they report.
 * Cutting stays a few parts ahead, so copying starts before the listing ends.
 *
 * A pause stops running parts. They run again later, and find most of their files copied. A history that has
 * grown long ends once no part runs, and the next one begins with the sums.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { addFleetCounts, type FleetCounts, NO_FLEET_COUNTS } from '../../../engine/api/jobs/fleet.ts';
import { FATAL_CODES } from '../failure-types.ts';
import type { RangeEnd, RangeInput, RangeTask } from '../fleet-messages.ts';
import { codeOf, untilWorkersLast } from './call-activities.ts';
import { pauseSignal, rangeStatusQuery, resumeSignal, slowDownSignal } from './fleet-handles.ts';
import { moveLarge } from './move-large.ts';
import { endOf, openRange, type RangeRun, rangeStateOf, statusOf } from './range-run.ts';

/** Parts cut in one step. */
const CUTS_MAX = 8;
/** Parts that wait for each one that may run, before more are cut. */
const AHEAD = 2;
/** A step that was set aside counts as one failure if only the worker knows its number of files. */
const UNCOUNTED_AS_FAILED = 1;

export async function fleetRange(input: RangeInput): Promise<RangeEnd> {
  const run = openRange(input);
  handleMessages(run);
  try {
    for (;;) {
      startWhatCan(run);
      if (run.running.size === 0 && !run.isCutting) {
        if (run.failure !== undefined) throw run.failure;
        if (run.isLast && run.waiting.length === 0) return endOf(run);
        if (isHistoryLong(input)) break;
      }
      const { changes } = run;
      await condition(() => run.changes !== changes);
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => stopped(run));
    return endOf(run);
  }
  await condition(allHandlersFinished);
  return continueAsNew<typeof fleetRange>({ ...input, pace: run.pace.atOnce(), resumed: rangeStateOf(run) });
}

function handleMessages(run: RangeRun): void {
  setHandler(pauseSignal, () => {
    run.isPaused = true;
    for (const scope of run.running) scope.cancel();
    run.changes += 1;
  });
  setHandler(resumeSignal, () => {
    run.isPaused = false;
    run.changes += 1;
  });
  setHandler(slowDownSignal, () => {
    run.pace.slowDown();
    run.changes += 1;
  });
  setHandler(rangeStatusQuery, () => statusOf(run));
}

function startWhatCan(run: RangeRun): void {
  const { input, pace, running } = run;
  if (run.isPaused || run.failure !== undefined || isHistoryLong(input)) return;
  if (!run.isLast && !run.isCutting && run.waiting.length < input.settings.partsAtOnce * AHEAD) startCut(run);
  while (run.waiting.length > 0 && running.size < pace.atOnce()) startTask(run, run.waiting.shift()!);
}

function startCut(run: RangeRun): void {
  const { input, steps } = run;
  run.isCutting = true;
  const request = { range: input.range, first: run.next, cutsMax: CUTS_MAX };
  untilWorkersLast(() => steps.cutRange(input.work, request))
    .then(({ isLast, parts }) => {
      for (const { bytes, files, largeBytes } of parts) {
        const number = run.next;
        run.next += 1;
        run.filesKnown += files;
        run.bytesKnown += bytes;
        run.waiting.push({ type: 'part', number, files, bytes });
        run.waiting.push(
          ...largeBytes.map(
            (size, large) => ({ type: 'large', number, large, files: 1, bytes: size }) as const,
          ),
        );
      }
      run.isLast = isLast;
    })
    // Without its listing, the rest of the range is unknown.
    .catch((error) => {
      run.failure ??= error;
    })
    .finally(() => {
      run.isCutting = false;
      run.changes += 1;
    });
}

function startTask(run: RangeRun, task: RangeTask): void {
  const scope = new CancellationScope();
  run.running.add(scope);
  scope
    .run(() => doTask(run, task))
    .catch((error) => {
      // Stopped by a pause, or with the whole job.
      if (isCancellation(error)) run.waiting.unshift(task);
      else setAside(run, task, error);
    })
    .finally(() => {
      run.running.delete(scope);
      run.changes += 1;
    });
}

async function doTask(run: RangeRun, task: RangeTask): Promise<void> {
  if (task.type === 'large') {
    const counts = await moveLarge(run, task);
    add(run, task.number, task.isAgain ? withoutFiles(counts, task) : counts);
    return;
  }
  await run.pace.during(() => doPart(run, task));
  run.done += 1;
}

async function doPart(run: RangeRun, task: Exclude<RangeTask, { readonly type: 'large' }>): Promise<void> {
  const { input, steps } = run;
  const { range, work } = input;
  const { number } = task;
  const part = { range, number };
  switch (task.type) {
    case 'part':
      add(run, number, await untilWorkersLast(() => steps.runPart(work, part)));
      break;
    case 'again': {
      const counts = await untilWorkersLast(() => steps.runPart(work, part));
      add(run, number, withoutFiles(counts, task));
      break;
    }
    case 'retry': {
      const { counts, retried } = await untilWorkersLast(() => steps.retryFailed(work, part));
      const failed = counts.failed - retried;
      add(run, number, { ...counts, files: 0, bytes: 0, failed });
      break;
    }
    case 'delete': {
      const counts = await untilWorkersLast(() => steps.runPart(work, { ...part, deletes: 'carryOut' }));
      add(run, number, secondRound(counts, task));
      run.deletingParts.delete(number);
      break;
    }
  }
}

function add(run: RangeRun, number: number, counts: FleetCounts): void {
  run.counts = addFleetCounts(run.counts, counts);
  if (Object.keys(counts.failedBy).length > 0) run.failedParts.add(number);
  if (counts.onlyInDestination > 0 || counts.waiting > 0) run.deletingParts.add(number);
}

/** The files were counted when the part was set aside, as failed ones. */
function withoutFiles(counts: FleetCounts, { files }: { readonly files: number }): FleetCounts {
  return { ...counts, files: 0, bytes: 0, failed: counts.failed - files };
}

/** The first round has counted everything else. */
function secondRound(counts: FleetCounts, { isAgain }: RangeTask & { readonly type: 'delete' }): FleetCounts {
  const { copiedBytes, copiedFiles, copiedInStore, deletedFiles, failed, failedBy } = counts;
  const { dollars, receivedBytes, requests, sentBytes } = counts;
  return {
    ...NO_FLEET_COUNTS,
    ...{ copiedBytes, copiedFiles, copiedInStore, deletedFiles, failedBy },
    failed: failed - (isAgain ? UNCOUNTED_AS_FAILED : 0),
    ...{ dollars, receivedBytes, requests, sentBytes },
  };
}

/** The job continues without the part, unless every part would fail like it. */
function setAside(run: RangeRun, task: RangeTask, error: unknown): void {
  const code = codeOf(error);
  if (FATAL_CODES.has(code)) {
    run.failure ??= error;
    return;
  }
  const { number } = task;
  const isAgain = task.type === 'again' || ('isAgain' in task && task.isAgain);
  const { bytes, files } = 'files' in task ? task : { bytes: 0, files: UNCOUNTED_AS_FAILED };
  run.counts = addFleetCounts(run.counts, {
    ...NO_FLEET_COUNTS,
    ...('files' in task && !isAgain ? { files, bytes } : {}),
    ...(task.type !== 'retry' && !isAgain ? { failed: files } : {}),
    failedBy: { [code]: files },
  });
  if (task.type === 'retry') run.failedParts.add(number);
  else {
    const large = task.type === 'large' ? { large: task.large } : {};
    const isDeleting = task.type === 'delete' ? { isDeleting: true as const } : {};
    run.setAside = [...run.setAside, { number, files, bytes, ...large, ...isDeleting }];
  }
  run.done += task.type === 'large' ? 0 : 1;
}

/** Waits for running parts: a workflow that has ended cannot receive their results. */
async function stopped(run: RangeRun): Promise<void> {
  for (const scope of run.running) scope.cancel();
  await condition(() => run.running.size === 0 && !run.isCutting);
}

function isHistoryLong({ settings }: RangeInput): boolean {
  return workflowInfo().historyLength > settings.eventsMax;
}
