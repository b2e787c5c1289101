/** One transfer as the queue holds it, and what an event of its job changes in it. */
import type { JobEvent } from '../api/events.ts';
import type { Transfer, TransferOrder } from '../api/host.ts';
import { createTransferRate } from './transfer-rate.ts';

const WARNINGS_MAX = 50;
const FAILURES_MAX = 200;
const PATHS_TOLD_MAX = 20;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export type TransferFacts = Mutable<Omit<Transfer, 'bytesPerSecond' | 'secondsLeft'>>;

export interface TransferRecord {
  readonly facts: TransferFacts;
  /** While its job runs, also when it is being stopped. */
  run?: { readonly stopping: AbortController; readonly ended: Promise<void> };
  /** A run begins anew. */
  begin(nowMs: number): void;
  note(event: JobEvent, nowMs: number): void;
  /** As windows see it. */
  read(nowMs: number): Transfer;
}

/** Where bytes move; a scan or a listing has no rate that says anything of the rest. */
const MOVING = new Set(['upload', 'download', 'write', 'hash']);

export function createTransferRecord(facts: TransferFacts): TransferRecord {
  const rate = createTransferRate();
  return {
    facts,
    begin(nowMs) {
      rate.reset();
      for (const name of [
        'phase',
        'filesTotal',
        'bytesTotal',
        'endedMs',
        'error',
        'summary',
        'requests',
      ] as const)
        delete facts[name];
      Object.assign(facts, { state: 'running', filesDone: 0, bytesDone: 0, warnings: [], failures: [] });
      facts.startedMs ??= nowMs;
    },
    note(event, nowMs) {
      switch (event.type) {
        case 'phase':
          rate.reset();
          facts.phase = event.phase;
          facts.filesDone = 0;
          facts.bytesDone = 0;
          delete facts.filesTotal;
          delete facts.bytesTotal;
          return;
        case 'progress': {
          const { bytesDone, bytesTotal, filesDone, filesTotal, phase } = event;
          Object.assign(facts, { phase, filesDone, bytesDone });
          if (filesTotal !== undefined) facts.filesTotal = filesTotal;
          if (bytesTotal !== undefined) facts.bytesTotal = bytesTotal;
          if (MOVING.has(phase)) rate.note(nowMs, bytesDone);
          return;
        }
        case 'warning':
          if (facts.warnings.length < WARNINGS_MAX) facts.warnings = [...facts.warnings, event.message];
          return;
        case 'fileFailed':
          fail(facts, event.path, event.error.message);
          return;
        case 'conflict':
          fail(facts, event.path, 'Changed here and on the remote.');
      }
    },
    read(nowMs) {
      const order = shortened(facts.order);
      if (facts.state !== 'running') return { ...facts, order, bytesPerSecond: 0 };
      const { bytesDone, bytesTotal } = facts;
      return {
        ...facts,
        order,
        ...rate.read(nowMs, bytesTotal === undefined ? undefined : bytesTotal - bytesDone),
      };
    },
  };
}

/** A list of transfers is told several times a second: paths that nobody reads stay here. */
function shortened(order: TransferOrder): TransferOrder {
  if (order.kind === 'push' && order.skip) return { ...order, skip: order.skip.slice(0, PATHS_TOLD_MAX) };
  if (order.kind === 'restore') return { ...order, paths: order.paths.slice(0, PATHS_TOLD_MAX) };
  return order;
}

function fail(facts: TransferFacts, path: string, message: string): void {
  if (facts.failures.length < FAILURES_MAX) facts.failures = [...facts.failures, { path, message }];
}
