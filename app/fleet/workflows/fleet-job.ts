/**
 * A fleet's job: plans the ranges, runs each as a workflow of its own, a few at a time, and adds up. A sync
 * deletes in a second round, after every part has succeeded and the sums allow it. On request it tries failed
 * files and parts once more.
 *
 * The ranges' histories hold the parts, so this one stays short.
 */
import {
  allHandlersFinished,
  CancellationScope,
  type ChildWorkflowHandle,
  condition,
  continueAsNew,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  startChild,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { addFleetCounts, NO_FLEET_COUNTS } from '../../../engine/api/jobs/fleet.ts';
import type { FleetActivities } from '../activity-types.ts';
import {
  type FleetWorkflowState,
  type JobEnd,
  type JobInput,
  type JobPhase,
  type JobStatus,
  type RangeInput,
  type RangeRest,
  rangeWorkflowId,
} from '../fleet-messages.ts';
import { countDone, listedEnd } from '../fleet-status.ts';
import { parseRuns } from '../part-runs.ts';
import { callActivities, failureOf, untilWorkersLast } from './call-activities.ts';
import {
  jobStatusQuery,
  pauseSignal,
  resumeSignal,
  retryFailedSignal,
  setLimitsSignal,
  shareQuery,
} from './fleet-handles.ts';
import { fleetRange } from './fleet-range.ts';

// The bundle's entry: it names every workflow.
export { fleetRange };

export async function fleetJob(input: JobInput): Promise<JobEnd> {
  const job = openJob(input);
  handleMessages(job);
  try {
    for (;;) {
      const next = await doPhase(job);
      if (next === 'again') {
        await condition(allHandlersFinished);
        return await continueAsNew<typeof fleetJob>({ ...input, resumed: job.state });
      }
      update(job, { phase: next, nextRange: 0 });
      if (next === 'ended') return endOf(job, 'done');
    }
  } catch (error) {
    if (!isCancellation(error)) throw failureOf(error);
    return CancellationScope.nonCancellable(() => stop(job));
  }
}

type Range = ChildWorkflowHandle<typeof fleetRange>;
type PauseSignal = typeof pauseSignal | typeof resumeSignal;

interface JobRun {
  readonly input: JobInput;
  readonly steps: FleetActivities;
  /** All ranges run in it. */
  readonly scope: CancellationScope;
  readonly running: Map<number, Range>;
  state: FleetWorkflowState;
  refused: JobEnd['refused'];
  published: JobEnd['published'];
  /** Ends the job, once no range runs. */
  failure: unknown;
}

function openJob(input: JobInput): JobRun {
  const { limits, resumed, retries, settings } = input;
  const fresh: FleetWorkflowState = {
    startedMs: Date.now(),
    phase: retries ? 'retry' : 'plan',
    ranges: retries?.ranges ?? 0,
    estimatedKeys: 0,
    nextRange: 0,
    parts: retries?.parts ?? 0,
    counts: retries?.counts ?? NO_FLEET_COUNTS,
    rests: retries?.rests ?? [],
    pace: settings.partsAtOnce,
    isPaused: false,
    limits,
    wantsRetry: false,
  };
  return {
    input,
    steps: callActivities(settings),
    scope: new CancellationScope(),
    running: new Map(),
    state: resumed ?? fresh,
    refused: undefined,
    published: undefined,
    failure: undefined,
  };
}

function update(job: JobRun, change: Partial<FleetWorkflowState>): void {
  job.state = { ...job.state, ...change };
}

function handleMessages(job: JobRun): void {
  const setPaused = async (isPaused: boolean) => {
    update(job, { isPaused });
    upsertMemo({ isPaused });
    const signal = isPaused ? pauseSignal : resumeSignal;
    await Promise.all([...job.running.values()].map((range) => signalRange(range, signal)));
  };
  setHandler(pauseSignal, () => setPaused(true));
  setHandler(resumeSignal, () => setPaused(false));
  setHandler(retryFailedSignal, () => update(job, { wantsRetry: true }));
  setHandler(setLimitsSignal, (limits) => update(job, { limits }));
  setHandler(shareQuery, () => ({ ranges: [...job.running.keys()], limits: job.state.limits }));
  setHandler(jobStatusQuery, () => statusOf(job));
}

async function signalRange(range: Range, signal: PauseSignal): Promise<void> {
  try {
    await range.signal(signal);
  } catch (error) {
    // The range has just ended.
    if (isCancellation(error)) throw error;
  }
}

/** @returns The next phase; `again`: the history is long, and nothing runs. */
async function doPhase(job: JobRun): Promise<JobPhase | 'again'> {
  const { input, state, steps } = job;
  switch (state.phase) {
    case 'plan': {
      const plan = await untilWorkersLast(() => steps.planRanges(input.work));
      update(job, plan);
      return 'move';
    }
    case 'move':
      return (await runRanges(job, 'move')) ? afterMove(job) : 'again';
    case 'retry':
      return (await runRetries(job)) ? afterMove(job) : 'again';
    case 'delete':
      return (await runRanges(job, 'delete')) ? 'finish' : 'again';
    case 'finish':
      await finish(job, 'done');
      return 'ended';
    case 'ended':
      return 'ended';
  }
}

async function afterMove(job: JobRun): Promise<JobPhase> {
  if (job.state.wantsRetry && job.state.counts.failed > 0) return 'retry';
  const { counts, rests } = job.state;
  if (job.input.kind !== 'sync' || rests.every(({ deletingParts }) => deletingParts === '')) return 'finish';
  const verdict = await untilWorkersLast(() => job.steps.approveDeletes(job.input.work, counts));
  if (verdict.isAllowed) return 'delete';
  const { code, message } = verdict;
  job.refused = { code, message };
  return 'finish';
}

function runRetries(job: JobRun): Promise<boolean> {
  // The round tries every failed file again, and counts anew why some fail.
  if (job.state.nextRange === 0)
    update(job, { wantsRetry: false, counts: { ...job.state.counts, failedBy: {} } });
  return runRanges(job, 'retry');
}

/** @returns False when the history has grown long before the last range. */
async function runRanges(job: JobRun, round: RangeInput['round']): Promise<boolean> {
  const { input, running } = job;
  const isOpen = () =>
    job.failure === undefined &&
    !job.state.isPaused &&
    job.state.nextRange < job.state.ranges &&
    !isHistoryLong(input);
  for (;;) {
    while (isOpen() && running.size < input.settings.rangesAtOnce) {
      const range = job.state.nextRange;
      update(job, { nextRange: range + 1 });
      if (isWorkFor(job, round, range)) await startRange(job, round, range);
    }
    if (running.size === 0) {
      if (job.failure !== undefined) throw job.failure;
      if (job.state.nextRange === job.state.ranges) return true;
      if (isHistoryLong(input)) return false;
    }
    await condition(
      () =>
        (isOpen() && running.size < input.settings.rangesAtOnce) ||
        (running.size === 0 && !job.state.isPaused),
    );
  }
}

function isWorkFor({ state }: JobRun, round: RangeInput['round'], range: number): boolean {
  if (round === 'move') return true;
  const rest = restOf(state, range);
  if (!rest) return false;
  return round === 'delete' ? rest.deletingParts !== '' : rest.failedParts !== '' || rest.setAside.length > 0;
}

function restOf({ rests }: FleetWorkflowState, range: number): RangeRest | undefined {
  return rests.find((rest) => rest.range === range);
}

async function startRange(job: JobRun, round: RangeInput['round'], range: number): Promise<void> {
  const { settings, work, workers } = job.input;
  const worker = workers?.[range];
  const rest = restOf(job.state, range);
  const { pace } = job.state;
  const input: RangeInput = {
    ...{ work, range, round, settings, pace },
    ...(rest && { rest }),
    ...(worker !== undefined && { worker }),
  };
  const options = {
    workflowId: rangeWorkflowId(work.id, range),
    args: [input] as [RangeInput],
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
  };
  const child = await job.scope.run(() => startChild(fleetRange, options));
  job.running.set(range, child);
  // The pause came before the range was known.
  if (job.state.isPaused) await signalRange(child, pauseSignal);
  child
    .result()
    .then(({ counts, pace, parts, ...left }) => {
      const isEmpty =
        left.failedParts === '' && left.setAside.length === 0 && left.deletingParts === '' && !left.isStopped;
      const others = job.state.rests.filter((other) => other.range !== range);
      update(job, {
        counts: addFleetCounts(job.state.counts, counts),
        parts: job.state.parts + (round === 'move' ? parts : 0),
        pace,
        rests: isEmpty ? others : [...others, left],
      });
    })
    .catch((error) => {
      const others = job.state.rests.filter((other) => other.range !== range);
      const rest = { range, failedParts: '', setAside: [], deletingParts: '', isStopped: true } as const;
      update(job, { rests: [...others, rest] });
      job.failure ??= error;
      job.scope.cancel();
    })
    .finally(() => job.running.delete(range));
}

/** The ranges report what they did before they stopped. */
async function stop(job: JobRun): Promise<JobEnd> {
  await condition(() => job.running.size === 0);
  // Before the phase ends, because the phase shows which ranges have not begun.
  const map = mapOf(job);
  await finish(job, 'stopped');
  update(job, { phase: 'ended' });
  return { ...endOf(job, 'stopped'), map };
}

async function finish(job: JobRun, result: JobEnd['result']): Promise<void> {
  const { input, refused, state, steps } = job;
  const { counts, parts, ranges, startedMs } = state;
  if (input.kind === 'sync') {
    // Deleted in the second round.
    const left = Math.max(0, counts.onlyInDestination - counts.deletedFiles);
    update(job, { counts: { ...counts, onlyInDestination: left } });
  }
  const reason = refused ? { reason: refused.message } : {};
  const request = { counts: job.state.counts, result, startedMs, ranges, parts, ...reason };
  const { refused: uncommitted, ...published } = await untilWorkersLast(() =>
    steps.finish(input.work, request),
  );
  if (input.kind !== 'push') return;
  job.refused = uncommitted;
  if (!uncommitted) job.published = published;
}

function isHistoryLong({ settings }: JobInput): boolean {
  return workflowInfo().historyLength > settings.eventsMax;
}

function endOf(job: JobRun, result: JobEnd['result']): JobEnd {
  const { published, refused, state } = job;
  const { counts, estimatedKeys, limits, parts, ranges, rests, startedMs } = state;
  upsertMemo({ end: listedEnd(job.input.kind, { counts, result, ...(refused && { refused }) }) });
  return {
    result,
    counts,
    ranges,
    parts,
    failedParts: failedPartsOf(state),
    startedMs,
    ...(refused && { refused }),
    ...(published && { published }),
    rests,
    limits,
    estimatedKeys,
    map: mapOf(job),
  };
}

function failedPartsOf({ rests }: FleetWorkflowState): number {
  return rests.reduce((sum, rest) => sum + parseRuns(rest.failedParts).length + rest.setAside.length, 0);
}

/** A range of a later round waits too, and keeps the letter of the round before. */
function mapOf({ running, state: { nextRange, phase, ranges, rests } }: JobRun): string {
  const restOfRange = new Map(rests.map((rest) => [rest.range, rest]));
  const letterOf = (range: number) => {
    if (running.has(range)) return 'r';
    if (range >= nextRange && phase === 'move') return 'w';
    const rest = restOfRange.get(range);
    if (rest?.isStopped) return 's';
    return rest && (rest.failedParts !== '' || rest.setAside.length > 0) ? 'f' : 'd';
  };
  return Array.from({ length: ranges }, (_, range) => letterOf(range)).join('');
}

function statusOf(job: JobRun): JobStatus {
  const { input, running, state } = job;
  const { counts, estimatedKeys, isPaused, limits, parts, phase, ranges, startedMs } = state;
  const map = mapOf(job);
  return {
    ...{ kind: input.kind, phase, isPaused, startedMs, ranges, estimatedKeys, counts, limits, map },
    ...(input.workers && { workers: input.workers }),
    rangesRunning: [...running.keys()],
    rangesDone: countDone(map),
    partsDone: parts,
    failedParts: failedPartsOf(state),
  };
}
