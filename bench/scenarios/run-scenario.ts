/**
 * Runs the entrants of a scenario in turn, each round starting with another: A B C, B C A, C A B.
 * Disturbances of the machine then affect all of them, and none always follows the same one. A virtual
 * machine, for example, takes new memory from its host at a cost that the first run of a round may pay for
 * the others.
 */
import type { Bench } from '../machines/bench.ts';
import type { ServerWatch } from '../machines/bench-servers.ts';
import type { Command, CommandRun } from '../machines/measure.ts';
import { watchWire } from '../machines/wire-bytes.ts';
import { judge } from '../page/judge.ts';
import {
  type EntrantResult,
  type MeasuredRun,
  type Outcome,
  PREPARING_FAILED,
  type ScenarioResult,
} from '../page/results.ts';
import { spreadOf } from '../page/statistics.ts';
import type { Attempt, Entrant, Heat, SeriesRun } from './scenario.ts';

/** An entrant with a longer warm-up is measured by that run alone: repetition does not make it fast. */
export const WARM_UP_MAX_MS = 15_000;
/** An entrant that was measured for this long does not run again: long runs vary less. */
export const MEASURED_ENOUGH_MS = 5_000;

interface Course {
  readonly entrant: Entrant;
  command: string | null;
  warmUp: MeasuredRun | null;
  readonly runs: MeasuredRun[];
  state: 'running' | 'finished' | 'failed';
  reason: string;
}

/** The parts of the bench that a run needs. */
export type Track = Pick<Bench, 'meter' | 'signal' | 'watch'>;

type HeatData = Omit<Heat, 'open' | 'needs'>;

export interface RunOptions {
  /** The most runs of each entrant after its warm-up. */
  readonly runs: number;
  readonly say: (line: string) => void;
}

export async function runScenario(
  heat: HeatData,
  field: readonly Entrant[],
  track: Track,
  { runs, say }: RunOptions,
): Promise<ScenarioResult> {
  const startedAt = new Date().toISOString();
  const courses: Course[] = [];
  for (const entrant of field) {
    const course: Course = { entrant, command: null, warmUp: null, runs: [], state: 'running', reason: '' };
    courses.push(course);
    if (!entrant.missing)
      await attemptOrFail(course, track, async () => {
        if (entrant.setUp) await prepared(entrant.setUp());
      });
  }
  for (let round = 0; round <= runs; round += 1) {
    for (const course of rotate(courses.filter(isRunning), round)) {
      await attemptOrFail(course, track, async () => {
        const run = await runOnce(course, track, heat.limitMs);
        say(`${heat.name} ${round}/${runs} ${course.entrant.name}: ${(run.wallMs / 1000).toFixed(3)} s`);
        if (round === 0 && run.wallMs <= WARM_UP_MAX_MS) course.warmUp = run;
        else course.runs.push(run);
        if (sumOf(course.runs) >= MEASURED_ENOUGH_MS) course.state = 'finished';
      });
    }
  }
  return createResult(heat, startedAt, courses.map(toResult));
}

/** The result of a heat that does not run. */
export function leaveOut(heat: HeatData, reason: string): ScenarioResult {
  return { ...createResult(heat, new Date().toISOString(), []), leftOut: reason };
}

function createResult(
  { latencyMs, name, scenario, targets, title }: HeatData,
  startedAt: string,
  entrants: readonly EntrantResult[],
): ScenarioResult {
  const verdicts = targets.map((target) => judge(target, entrants));
  return { name, scenario, latencyMs, title, startedAt, entrants, verdicts };
}

function isRunning({ entrant, state }: Course): boolean {
  return state === 'running' && !entrant.missing;
}

function sumOf(runs: readonly MeasuredRun[]): number {
  return runs.reduce((sum, { wallMs }) => sum + wallMs, 0);
}

/** Moves the first items to the end. */
function rotate<Item>(items: readonly Item[], by: number): readonly Item[] {
  const first = items.length > 0 ? by % items.length : 0;
  return [...items.slice(first), ...items.slice(0, first)];
}

/**
 * A tool that fails gets a row that says so, and the others continue. Only the user's wish to stop ends
 * everything.
 */
async function attemptOrFail(course: Course, track: Track, attempt: () => Promise<void>): Promise<void> {
  try {
    await attempt();
  } catch (error) {
    track.signal.throwIfAborted();
    course.state = 'failed';
    course.reason = error instanceof Error ? error.message : String(error);
  }
}

/** Marks errors of the preparation, before the tool has run. */
async function prepared<Result>(preparing: Promise<Result>): Promise<Result> {
  return preparing.catch((error: unknown) => {
    throw new Error(`${PREPARING_FAILED}${error instanceof Error ? error.message : error}`);
  });
}

async function runOnce(course: Course, track: Track, limitMs: number | undefined): Promise<MeasuredRun> {
  const attempt = await prepared(course.entrant.prepare());
  const { file, args } = attempt.command;
  course.command ??= [file, ...args].join(' ');
  try {
    const server = await watchServer(attempt, track);
    const one = (command: Command) => track.meter.run(command, track.signal, limitMs);
    const running: Promise<CommandRun & Partial<SeriesRun>> = attempt.runAll?.(one) ?? one(attempt.command);
    const run = await running.catch(async (error: unknown) => {
      await server.read();
      throw error;
    });
    const work = await server.read();
    await attempt.check(run, work.requests);
    const { wallMs, cpuMs, peakRssBytes } = run;
    const series = run.series === undefined ? {} : { series: run.series };
    const measured = { wallMs, cpuMs, peakRssBytes, serverCpuMs: work.cpuMs, ...work.wire, ...series };
    return { ...measured, requests: work.requests?.length ?? null };
  } finally {
    await attempt.close();
  }
}

/** Watches, from now on, the servers of the bench or the attempt's own server. */
async function watchServer(
  { sentBytes, serverCpuMs, serverPort }: Attempt,
  { watch }: Track,
): Promise<Pick<ServerWatch, 'read'>> {
  if (!serverCpuMs) {
    await watch.reset();
    return watch;
  }
  // A run without a network has port 0.
  const wire = serverPort ? await watchWire([serverPort]) : undefined;
  const before = { cpuMs: await serverCpuMs(), sentBytes: sentBytes?.() ?? 0 };
  return {
    read: async () => {
      const bytes = (await wire?.end()) ?? null;
      const cpuMs = await serverCpuMs();
      const spentMs = before.cpuMs === null || cpuMs === null ? null : cpuMs - before.cpuMs;
      const counted = sentBytes && { sentBytes: sentBytes() - before.sentBytes };
      return { cpuMs: spentMs, requests: null, wire: bytes || counted ? { ...bytes, ...counted } : null };
    },
  };
}

function toResult({ entrant, command, warmUp, runs, state, reason }: Course): EntrantResult {
  const { name, kind, files } = entrant;
  return { name, kind, ...(files === undefined ? {} : { files }), command, outcome: toOutcome() };

  function toOutcome(): Outcome {
    if (entrant.missing) return { state: 'missing', reason: entrant.missing };
    if (state === 'failed') return { state: 'failed', reason, runs: warmUp ? [warmUp, ...runs] : runs };
    return { state: 'measured', runs, wall: spreadOf(runs.map((run) => run.wallMs)), warmUp };
  }
}
