/** Shows progress: as a redrawn line on a terminal, as occasional lines in a log, or not at all. */
import type { PhaseEvent, ProgressEvent } from '../../../engine/api/events.ts';
import type { Clock } from '../../../engine/base/clock.ts';
import { formatPhaseEnd, formatProgressLine } from './progress-line.ts';
import { ProgressMeter } from './progress-meter.ts';
import { CLEAR_LINE } from './terminal.ts';

export interface ProgressDisplay {
  accept(event: PhaseEvent | ProgressEvent): void;
  /** Clears the line, so that other text can be written. The next event draws it again. */
  hide(): void;
  /** Ends the display; later events are not shown. Idempotent. */
  stop(): void;
}

export interface ProgressTarget {
  readonly write: (text: string) => void;
  /** Read before each drawing, because windows change size. */
  readonly columns: () => number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

const REDRAW_MS = 100;
/** A command that ends sooner shows no progress. */
const FIRST_DRAW_MS = 250;
const LOG_EVERY_MS = 10_000;
const LOGGED_PHASE_MS_MIN = 1_000;

export const silentProgress: ProgressDisplay = { accept: () => {}, hide: () => {}, stop: () => {} };

/** One live line, drawn at most ten times a second. */
export function createLiveProgress(target: ProgressTarget): ProgressDisplay {
  const meter = new ProgressMeter();
  const startedMs = target.clock.monotonicMs();
  let drawnMs = startedMs + FIRST_DRAW_MS - REDRAW_MS;
  let isVisible = false;
  let isStopped = false;
  const draw = () => {
    if (isStopped) return;
    const nowMs = target.clock.monotonicMs();
    if (nowMs - drawnMs < REDRAW_MS) return;
    const snapshot = meter.snapshot(nowMs);
    if (!snapshot) return;
    drawnMs = nowMs;
    isVisible = true;
    // Keeps one column free: writing into the last one makes some terminals wrap.
    target.write(CLEAR_LINE + formatProgressLine(snapshot, target.columns() - 1));
  };
  // Also redraws between events, so that the rate falls and the clock runs while the remote is silent.
  const timer = setInterval(draw, REDRAW_MS * 5);
  timer.unref();
  const hide = () => {
    if (isVisible) target.write(CLEAR_LINE);
    isVisible = false;
  };
  return {
    accept: (event) => {
      meter.accept(event, target.clock.monotonicMs());
      draw();
    },
    hide,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      hide();
    },
  };
}

/** For logs: a line every ten seconds at most, and one at the end of each phase of a second or more. */
export function createLoggedProgress(target: ProgressTarget): ProgressDisplay {
  const meter = new ProgressMeter();
  let loggedMs = target.clock.monotonicMs();
  let isStopped = false;
  const logEnd = (ended: ReturnType<ProgressMeter['snapshot']>) => {
    if (ended && ended.elapsedMs >= LOGGED_PHASE_MS_MIN) target.write(`${formatPhaseEnd(ended)}\n`);
  };
  return {
    accept: (event) => {
      if (isStopped) return;
      const nowMs = target.clock.monotonicMs();
      logEnd(meter.accept(event, nowMs));
      if (nowMs - loggedMs < LOG_EVERY_MS) return;
      loggedMs = nowMs;
      const snapshot = meter.snapshot(nowMs);
      if (snapshot) target.write(`${formatProgressLine(snapshot, Number.POSITIVE_INFINITY)}\n`);
    },
    hide: () => {},
    stop: () => {
      if (!isStopped) logEnd(meter.snapshot(target.clock.monotonicMs()));
      isStopped = true;
    },
  };
}
