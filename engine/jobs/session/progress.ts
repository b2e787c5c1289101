/**
 * Progress of one phase, coalesced: at most ten events a second, and one at the end. Bytes that arrive just
 * before all requests stall are reported as well.
 */
import type { Phase, ProgressEvent } from '../../api/events.ts';
import { UnderWay } from './files-under-way.ts';
import type { Session } from './open-workspace.ts';
import type { Traffic } from './traffic.ts';

const EVERY_MS = 100;

/** The current phase of each job. Only it reports traffic, so an earlier phase reports nothing late. */
const reporting = new WeakMap<Traffic, object>();

export interface Progress {
  /** @param path The file of the bytes, if it is listed by `begin`. */
  add(files: number, bytes: number, path?: string): void;
  /** Counts files and bytes that the destination already had. */
  keep(files: number, bytes: number, path?: string): void;
  /** Lists a file as in transit until `finish`. Idempotent. */
  begin(file: NamedFile): void;
  finish(path: string): void;
  /** Lists a file as in transit while `work` runs. */
  during<Result>(file: NamedFile, work: () => Promise<Result>): Promise<Result>;
  /** Emits now, however recent the last event is. */
  emit(): void;
  /** Emits the last event. */
  end(): void;
}

export interface NamedFile {
  readonly path: string;
  readonly sizeBytes: number;
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
  let late: NodeJS.Timeout | undefined;
  const phaseOfJob = {};
  const files = new UnderWay();
  const emit = () => {
    const underWay = files.read();
    context.emit({
      type: 'progress',
      phase,
      filesDone,
      bytesDone,
      ...totals?.(),
      ...(bytesKept > 0 ? { bytesKept } : {}),
      requests: 0,
      ...traffic?.read(),
      ...(underWay.length > 0 ? { underWay } : {}),
    });
  };
  // A job that has failed has no requests in flight, and reports nothing more.
  const emitLate = () => {
    late = undefined;
    if (!traffic || reporting.get(traffic) !== phaseOfJob || !traffic.read().inFlight) return;
    nextMs = clock.monotonicMs() + EVERY_MS;
    emit();
  };
  const add = (count: number, bytes: number, path?: string) => {
    filesDone += count;
    bytesDone += bytes;
    files.add(path, bytes);
    const nowMs = clock.monotonicMs();
    if (nowMs < nextMs) {
      late ??= setTimeout(emitLate, nextMs - nowMs).unref();
      return;
    }
    nextMs = nowMs + EVERY_MS;
    emit();
  };
  context.emit({ type: 'phase', phase });
  // One large object takes long: report its bytes while they move.
  traffic?.watch(() => add(0, 0));
  if (traffic) reporting.set(traffic, phaseOfJob);
  if (totals) emit();
  return {
    add,
    keep(count, bytes, path) {
      bytesKept += bytes;
      add(count, bytes, path);
    },
    begin: ({ path, sizeBytes }) => files.begin(path, sizeBytes),
    finish: (path) => files.end(path),
    async during({ path, sizeBytes }, work) {
      files.begin(path, sizeBytes);
      try {
        return await work();
      } finally {
        files.end(path);
      }
    },
    emit,
    end() {
      traffic?.watch(() => {});
      clearTimeout(late);
      emit();
    },
  };
}
