/** Shows progress: as redrawn lines on a terminal, as occasional lines in a log, or not at all. */
import type { PhaseEvent, ProgressEvent } from '../../../../engine/api/events.ts';
import type { Clock } from '../../../../engine/base/clock.ts';
import type { Paint } from '../colors.ts';
import { formatProgressBlock, type Room } from './progress-block.ts';
import { formatPhaseEnd, formatProgressLine } from './progress-line.ts';
import { ProgressMeter } from './progress-meter.ts';

export interface ProgressDisplay {
  accept(event: PhaseEvent | ProgressEvent): void;
  /** Clears the lines before other text is written. The next event redraws them. */
  hide(): void;
  /** Ends the display; later events are not shown. Idempotent. */
  stop(): void;
}

export interface LogTarget {
  /** Writes a line. @param line Without a line break. */
  readonly writeLine: (line: string) => void;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

export interface LiveTarget {
  /** Redraws the lines. */
  readonly draw: (lines: readonly string[]) => void;
  readonly clear: () => void;
  /** Read before each drawing, because windows change size. */
  readonly size: () => Room;
  readonly onResize: (listener: () => void) => () => void;
  readonly paint: Paint;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

const REDRAW_MS = 100;
/** A command that ends sooner shows no progress. */
const FIRST_DRAW_MS = 250;
const LOG_EVERY_MS = 10_000;
const LOGGED_PHASE_MS_MIN = 1_000;

export const silentProgress: ProgressDisplay = { accept: () => {}, hide: () => {}, stop: () => {} };

/** Live lines, drawn at most ten times a second. */
export function createLiveProgress(target: LiveTarget): ProgressDisplay {
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
    const { columns, rows } = target.size();
    // One column stays free: writing into the last one makes some terminals wrap. One row stays free too.
    target.draw(formatProgressBlock(snapshot, { columns: columns - 1, rows: rows - 1 }, target.paint));
  };
  // Also redraws between events, so that the rate falls and the clock runs while the remote is silent.
  const timer = setInterval(draw, REDRAW_MS * 5);
  timer.unref();
  const offResize = target.onResize(() => {
    if (!isVisible) return;
    drawnMs = 0;
    draw();
  });
  const hide = () => {
    if (isVisible) target.clear();
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
      offResize();
      hide();
    },
  };
}

/** For logs: a line every ten seconds at most, and one at the end of each phase of a second or more. */
export function createLoggedProgress(target: LogTarget): ProgressDisplay {
  const meter = new ProgressMeter();
  let loggedMs = target.clock.monotonicMs();
  let isStopped = false;
  const logEnd = (ended: ReturnType<ProgressMeter['snapshot']>) => {
    if (ended && ended.elapsedMs >= LOGGED_PHASE_MS_MIN) target.writeLine(formatPhaseEnd(ended));
  };
  return {
    accept: (event) => {
      if (isStopped) return;
      const nowMs = target.clock.monotonicMs();
      logEnd(meter.accept(event, nowMs));
      if (nowMs - loggedMs < LOG_EVERY_MS) return;
      loggedMs = nowMs;
      const snapshot = meter.snapshot(nowMs);
      if (snapshot) target.writeLine(formatProgressLine(snapshot, Number.POSITIVE_INFINITY));
    },
    hide: () => {},
    stop: () => {
      if (!isStopped) logEnd(meter.snapshot(target.clock.monotonicMs()));
      isStopped = true;
    },
  };
}
