/** One transfer as the queue holds it, and how an event of its job changes it. */
import { messageWithoutAdvice } from '../../api/error.ts';
import type { JobEvent, WarningEvent } from '../../api/events.ts';
import type { Transfer, TransferFailure, TransferOrder, TransferState } from '../../api/host/transfers.ts';
import type { TransferCalls } from './transfer-calls.ts';
import { createTransferRate } from './transfer-rate.ts';

const WARNINGS_MAX = 50;
const FAILURES_MAX = 1_000;
const PATHS_TOLD_MAX = 20;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The saved part of it. */
export type TransferFacts = Mutable<Omit<Transfer, 'bytesPerSecond' | 'secondsLeft'>> & {
  failures: readonly TransferFailure[];
  /** The time of the last start of a host that found this transfer running after a kill. */
  killedMs?: number;
  /** The time before `killedMs`. */
  killedBeforeMs?: number;
  /** Cancelled, and its partial uploads are not removed yet. */
  isUncleaned?: boolean;
};

export interface TransferRecord {
  readonly facts: TransferFacts;
  /** While its job runs, also while it is stopping. */
  run?: { readonly stopping: AbortController; readonly ended: Promise<void> };
  /** The requests of its last run. */
  calls?: TransferCalls;
  /** Resets it for a new run. */
  begin(nowMs: number): void;
  note(event: JobEvent, nowMs: number): void;
  /** The form for windows. */
  read(nowMs: number): Transfer;
}

const ENDED: ReadonlySet<TransferState> = new Set(['done', 'failed', 'cancelled']);

export function isEnded({ facts }: TransferRecord): boolean {
  return ENDED.has(facts.state);
}

/** True after any run, also by an earlier host: parts of it may be on a store. */
export function wasBegun({ facts }: TransferRecord): boolean {
  return facts.startedMs !== undefined || facts.endedMs !== undefined;
}

/** Phases that move bytes. The rate of a scan or a listing says nothing about the rest. */
const MOVING = new Set(['upload', 'download', 'write', 'hash']);
/** Results of a run that the next one starts without. */
const OF_A_RUN = [
  'phase',
  'filesTotal',
  'bytesTotal',
  'isCounting',
  'inFlight',
  'inFlightMax',
  'notice',
  'endedMs',
  'error',
  'summary',
  'requests',
] as const;
/** Warnings that hold only until something moves again. */
const PASSING = new Set(['retrying', 'waitingForLock']);

export function createTransferRecord(facts: TransferFacts): TransferRecord {
  const rate = createTransferRate();
  let movedMs = 0;
  let moved = '';
  return {
    facts,
    begin(nowMs) {
      rate.reset();
      movedMs = nowMs;
      for (const name of OF_A_RUN) delete facts[name];
      const counts = { filesDone: 0, bytesDone: 0, failed: 0, warnings: [], failures: [] };
      Object.assign(facts, { state: 'running', ...counts });
      facts.startedMs ??= nowMs;
    },
    note(event, nowMs) {
      switch (event.type) {
        case 'phase':
          rate.reset();
          movedMs = nowMs;
          facts.phase = event.phase;
          // The moved bytes stay visible when no more come.
          if (event.phase === 'commit') return;
          facts.filesDone = 0;
          facts.bytesDone = 0;
          for (const name of ['filesTotal', 'bytesTotal', 'isCounting'] as const) delete facts[name];
          return;
        case 'progress': {
          const { bytesKept = 0, requests: _, type: __, wireBytes, ...counts } = event;
          delete facts.isCounting;
          const now = `${counts.filesDone} ${counts.bytesDone} ${wireBytes}`;
          if (now !== moved) [moved, movedMs] = [now, nowMs];
          if (counts.bytesDone > facts.bytesDone || counts.filesDone > facts.filesDone) delete facts.notice;
          Object.assign(facts, counts);
          if (MOVING.has(counts.phase))
            rate.note(nowMs, { doneBytes: counts.bytesDone - bytesKept, wireBytes });
          return;
        }
        case 'warning':
          if (event.warning === 'retrying') rate.lose();
          if (PASSING.has(event.warning)) facts.notice = wordsOf(event);
          else if (facts.warnings.length < WARNINGS_MAX) facts.warnings = [...facts.warnings, wordsOf(event)];
          return;
        case 'fileFailed':
          fail(facts, event.path, messageWithoutAdvice(event.error));
          return;
        case 'check':
          // A verification.
          if (event.result !== 'failed') return;
          for (const path of event.paths ?? ['']) fail(facts, path, event.detail);
          return;
        case 'conflict':
          fail(facts, event.path, 'Changed here and on the remote.');
      }
    },
    read(nowMs) {
      const { failures: _, inFlight, inFlightMax, isUncleaned: __, ...known } = facts;
      const { killedBeforeMs: ___, killedMs: ____, ...shown } = known;
      const order = shortened(facts.order);
      if (facts.state !== 'running') return { ...shown, order, bytesPerSecond: 0 };
      const { bytesDone, bytesTotal } = facts;
      return {
        ...shown,
        order,
        ...(inFlight === undefined ? {} : { inFlight }),
        ...(inFlightMax === undefined ? {} : { inFlightMax }),
        ...stallOf(this.calls, movedMs, nowMs),
        ...rate.read(nowMs, bytesTotal === undefined ? undefined : bytesTotal - bytesDone),
      };
    },
  };
}

/** The warning for a window, without the advice for a command line. */
function wordsOf({ advice, message, warning }: WarningEvent): string {
  // The job's message names a command, which a window does not show.
  if (warning === 'waitingForLock')
    return 'Another Dray is working in this workspace. This one waits for it.';
  return messageWithoutAdvice({ message, data: { advice } });
}

/** Shorter pauses are normal: a server may take seconds to complete a large upload. */
const STALLED_AFTER_MS = 10_000;

function stallOf(calls: TransferCalls | undefined, sinceMs: number, nowMs: number): Pick<Transfer, 'stall'> {
  if (nowMs - sinceMs < STALLED_AFTER_MS) return {};
  const call = calls?.stalled();
  return { stall: { sinceMs, ...(call ? { call } : {}) } };
}

/** A list of transfers is sent several times a second, so paths that nobody reads stay here. */
function shortened(order: TransferOrder): TransferOrder {
  if (order.kind === 'push' && order.skip) return { ...order, skip: order.skip.slice(0, PATHS_TOLD_MAX) };
  if (order.kind === 'copy' && order.names) return { ...order, names: order.names.slice(0, PATHS_TOLD_MAX) };
  if (order.kind === 'restore') return { ...order, paths: order.paths.slice(0, PATHS_TOLD_MAX) };
  return order;
}

function fail(facts: TransferFacts, path: string, message: string): void {
  facts.failed += 1;
  if (facts.failures.length < FAILURES_MAX) facts.failures = [...facts.failures, { path, message }];
}
