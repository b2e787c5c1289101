/** Progress of one phase, coalesced: at most ten events a second, and one at the end. */
import type { Phase, ProgressEvent } from '../../api/events.ts';
import type { Session } from './session.ts';
import type { Traffic } from './traffic.ts';

const EVERY_MS = 100;

export interface Progress {
  add(files: number, bytes: number): void;
  /** Counts what was there already and did not have to be moved. */
  keep(files: number, bytes: number): void;
  /** Emits now, however recent the last event is. */
  emit(): void;
  /** Emits the last event. */
  end(): void;
}

export type ProgressTotals = Pick<ProgressEvent, 'filesTotal' | 'bytesTotal' | 'isCounting'>;

export interface ProgressOptions {
  readonly phase: Phase;
  /** Asked for each event, since totals may grow. Absent: unknown. */
  readonly totals?: () => ProgressTotals;
  /** Absent: no remote is involved. */
  readonly traffic?: Traffic;
}

export function createProgress(
  { context, clock }: Pick<Session, 'context' | 'clock'>,
  { phase, totals, traffic }: ProgressOptions,
): Progress {
  let filesDone = 0;
  let bytesDone = 0;
  let bytesKept = 0;
  let nextMs = 0;
  const emit = () =>
    context.emit({
      type: 'progress',
      phase,
      filesDone,
      bytesDone,
      ...totals?.(),
      ...(bytesKept > 0 ? { bytesKept } : {}),
      requests: 0,
      ...traffic?.read(),
    });
  const add = (files: number, bytes: number) => {
    filesDone += files;
    bytesDone += bytes;
    const nowMs = clock.monotonicMs();
    if (nowMs < nextMs) return;
    nextMs = nowMs + EVERY_MS;
    emit();
  };
  context.emit({ type: 'phase', phase });
  // One large object takes long: report its bytes while they move.
  traffic?.watch(() => add(0, 0));
  if (totals) emit();
  return {
    add,
    keep(files, bytes) {
      bytesKept += bytes;
      add(files, bytes);
    },
    emit,
    end() {
      traffic?.watch(() => {});
      emit();
    },
  };
}
