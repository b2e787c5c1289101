/** Computes the values of the progress line from events. Pure: the caller passes the time. */
import type { FileUnderWay, Phase, PhaseEvent, ProgressEvent } from '../../../../engine/api/events.ts';

/** The window over which rates are smoothed. Steps in speed show within a few seconds, jitter does not. */
const SMOOTHING_MS = 4_000;
const SAMPLE_MS_MIN = 200;

export interface ProgressSnapshot {
  readonly phase: Phase;
  readonly elapsedMs: number;
  readonly filesDone: number;
  readonly filesTotal?: number;
  readonly bytesDone: number;
  readonly bytesTotal?: number;
  /** The totals found so far; they may grow. */
  readonly isCounting?: boolean;
  readonly requests: number;
  readonly bytesPerSecond: number;
  readonly filesPerSecond: number;
  /** Absent while the total or the rate is unknown. */
  readonly etaMs?: number;
  readonly underWay?: readonly FileUnderWay[];
  /** The time since a file, a byte or a request last moved. Absent before the first report of a phase. */
  readonly stalledMs?: number;
}

interface PhaseState {
  readonly startedMs: number;
  last: ProgressEvent;
  movedMs?: number;
  readonly bytesRate: SmoothRate;
  readonly filesRate: SmoothRate;
}

/**
 * Phases may overlap (hashing and uploading do). The meter shows the one that began last, which is the
 * furthest along.
 */
export class ProgressMeter {
  readonly #phases = new Map<Phase, PhaseState>();
  #shown: Phase | undefined;

  /** Returns the last state of the phase that this event replaces. */
  accept(event: PhaseEvent | ProgressEvent, nowMs: number): ProgressSnapshot | undefined {
    let ended: ProgressSnapshot | undefined;
    let state = this.#phases.get(event.phase);
    if (!state) {
      ended = this.snapshot(nowMs);
      state = startPhase(event.phase, nowMs);
      this.#phases.set(event.phase, state);
      this.#shown = event.phase;
    }
    if (event.type === 'progress') {
      if (state.movedMs === undefined || hasMoved(state.last, event)) state.movedMs = nowMs;
      state.last = event;
      state.bytesRate.sample(event.bytesDone - (event.bytesKept ?? 0), nowMs);
      state.filesRate.sample(event.filesDone, nowMs);
    }
    return ended;
  }

  snapshot(nowMs: number): ProgressSnapshot | undefined {
    const state = this.#shown && this.#phases.get(this.#shown);
    if (!state) return undefined;
    const {
      bytesKept: _,
      inFlight: __,
      inFlightMax: ___,
      type: ____,
      wireBytes: _____,
      ...counts
    } = state.last;
    const bytesPerSecond = state.bytesRate.perSecond(nowMs);
    const filesPerSecond = state.filesRate.perSecond(nowMs);
    const etaMs = counts.isCounting
      ? undefined
      : (remainingMs(counts.bytesDone, counts.bytesTotal, bytesPerSecond) ??
        remainingMs(counts.filesDone, counts.filesTotal, filesPerSecond));
    const elapsedMs = nowMs - state.startedMs;
    return {
      ...counts,
      elapsedMs,
      bytesPerSecond,
      filesPerSecond,
      ...(state.movedMs === undefined ? {} : { stalledMs: nowMs - state.movedMs }),
      ...(etaMs === undefined ? {} : { etaMs }),
    };
  }
}

function hasMoved(before: ProgressEvent, now: ProgressEvent): boolean {
  return (
    before.bytesDone !== now.bytesDone ||
    before.filesDone !== now.filesDone ||
    before.wireBytes !== now.wireBytes ||
    before.requests !== now.requests
  );
}

function startPhase(phase: Phase, nowMs: number): PhaseState {
  const last: ProgressEvent = { type: 'progress', phase, filesDone: 0, bytesDone: 0, requests: 0 };
  return { startedMs: nowMs, last, bytesRate: new SmoothRate(nowMs), filesRate: new SmoothRate(nowMs) };
}

function remainingMs(done: number, total: number | undefined, perSecond: number): number | undefined {
  if (!total || done >= total || perSecond <= 0) return undefined;
  return ((total - done) / perSecond) * 1000;
}

/** An exponential moving average over uneven intervals, corrected for its empty start. */
class SmoothRate {
  readonly #startedMs: number;
  #sampledMs: number;
  #sampledAt = 0;
  #average = 0;

  constructor(nowMs: number) {
    this.#startedMs = nowMs;
    this.#sampledMs = nowMs;
  }

  sample(done: number, nowMs: number): void {
    const passedMs = nowMs - this.#sampledMs;
    if (passedMs < SAMPLE_MS_MIN) return;
    const kept = Math.exp(-passedMs / SMOOTHING_MS);
    const rate = (Math.max(0, done - this.#sampledAt) / passedMs) * 1000;
    this.#average = this.#average * kept + rate * (1 - kept);
    this.#sampledAt = done;
    this.#sampledMs = nowMs;
  }

  /** Falls while nothing arrives, so that a stalled transfer does not keep showing its last speed. */
  perSecond(nowMs: number): number {
    const weight = 1 - Math.exp(-(this.#sampledMs - this.#startedMs) / SMOOTHING_MS);
    if (weight <= 0) return 0;
    const silentMs = Math.max(0, nowMs - this.#sampledMs - 1_000);
    return (this.#average / weight) * Math.exp(-silentMs / SMOOTHING_MS);
  }
}
