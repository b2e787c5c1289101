/**
 * The queue of transfers: runs two at once, in order, never two in one workspace. Pausing stops the job,
 * which keeps its place; running it again resumes it. Invariant: of the transfers with one `busyKeyOf` never
 * two work at once, including the clean-up of a cancelled one, listed or not, because that would remove the
 * others' unfinished uploads. Each change of state is written to disk before it takes effect. A host that
 * ends properly leaves running transfers as `waiting`, and the next host resumes them. Those that a killed
 * host left as `running` resume too, unless kills follow each other closely (`after-kill.ts`).
 */
import { randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import type {
  Transfer,
  TransferCall,
  TransferFailure,
  TransferOrder,
  TransferState,
} from '../../api/host/transfers.ts';
import type { HostRequests } from '../../api/host.ts';
import type { CollectSummary, ConnectionFlags, JobContext, Throttle } from '../../api/jobs/jobs.ts';
import type { MasterKeys } from '../../api/jobs/repositories.ts';
import type { Clock } from '../../base/clock.ts';
import type { KeptChoicesStore } from '../changes/kept-choices.ts';
import type { UsageFile } from '../user-files/usage-file.ts';
import { forgetKills, takeUpAfterKill } from './after-kill.ts';
import { createRemovedRecords } from './removed-records.ts';
import { createTransferCalls } from './transfer-calls.ts';
import { openTransferFile, type TransferFile } from './transfer-file.ts';
import { busyKeyOf, titleOf } from './transfer-jobs.ts';
import { moveRecord, RUNNING_MAX, whyItWaits, withoutOldest } from './transfer-order.ts';
import { createTransferRecord, isEnded, type TransferRecord, wasBegun } from './transfer-record.ts';
import { cleanUp, type RunHost, runOnce } from './transfer-run.ts';

const QUEUE_MAX = 1_000;
const EMIT_EVERY_MS = 200;
const TICK_MS = 1_000;
const PROGRESS_EVERY_MS = 1_000;

type Change = HostRequests['transfers.change']['input'];

export interface TransferQueue {
  /** @throws `usage` if the queue is full, `io` if it cannot be written. */
  start(order: TransferOrder): string;
  /**
   * Skips transfers whose state does not fit, and missing ones. @throws `notFound` if none of these ids
   * exists. Returns the ids that were removed.
   */
  change(change: Change): readonly string[];
  /** Retries the transfers that wait for keys or a password. */
  onKeys(): void;
  list(): readonly Transfer[];
  /** @throws `notFound` */
  failures(id: string): readonly TransferFailure[];
  /** @throws `notFound` */
  calls(id: string): readonly TransferCall[];
  /** Sends the list now and, a few times a second, whenever it changes. Returns a function that ends it. */
  watch(listener: (transfers: readonly Transfer[]) => void): () => void;
  close(): Promise<void>;
}

/** The queue's needs from the host: how its jobs connect, and where it is stored. */
export interface QueueHost {
  readonly environment: JobContext['environment'];
  readonly masterKeys: MasterKeys;
  readonly folder: string;
  readonly clock: Clock;
  readonly usageFile: UsageFile;
  readonly keptChoices: Pick<KeptChoicesStore, 'used'>;
  connectionFlags(): ConnectionFlags;
  readonly throttle: Throttle;
  /** Adds a workspace that a transfer has created to the user's list. */
  addWorkspace(root: string): void;
  /** Records what a collection left in the overview of repositories. */
  noteCollected(root: string, summary: CollectSummary): Promise<void>;
}

export async function openTransferQueue(host: QueueHost): Promise<TransferQueue> {
  const file = await openTransferFile(host.folder, host.clock);
  try {
    return new FileQueue(host, file);
  } catch (error) {
    file.close();
    throw error;
  }
}

class FileQueue implements TransferQueue {
  readonly #host: QueueHost;
  readonly #file: TransferFile;
  readonly #runs: RunHost;
  readonly #watchers = new Set<(transfers: readonly Transfer[]) => void>();
  #records: TransferRecord[];
  /** Transfers that are working, even if they are no longer listed. */
  readonly #held = new Set<TransferRecord>();
  /** Cancelled transfers, whose partial uploads are removed as soon as nothing else works in their place. */
  readonly #uncleaned = new Set<TransferRecord>();
  readonly #removed = createRemovedRecords();
  #emitTimer: NodeJS.Timeout | undefined;
  #savingProgress: NodeJS.Timeout | undefined;
  #isClosing = false;
  /** Many change at once, and one write covers them all before any of them takes effect. */
  #isHeld = false;

  constructor(host: QueueHost, file: TransferFile) {
    this.#host = host;
    this.#file = file;
    this.#runs = {
      environment: () => host.environment,
      masterKeys: host.masterKeys,
      throttle: host.throttle,
      usageFile: host.usageFile,
      nowMs: () => this.#nowMs(),
      connectionFlags: () => host.connectionFlags(),
      onWorkspace: (root) => host.addWorkspace(root),
      onCollected: (root, summary) => host.noteCollected(root, summary),
      onNews: () => {
        this.#emitSoon();
        this.#saveProgressSoon();
      },
    };
    const nowMs = this.#nowMs();
    let isChanged = false;
    this.#records = file.read().map((facts) => {
      isChanged = takeUpAfterKill(facts, nowMs) || isChanged;
      delete facts.needs;
      return createTransferRecord(facts);
    });
    // The kill is recorded before the transfer that may have caused it runs again.
    if (isChanged) this.#write();
    for (const record of this.#records) if (record.facts.isUncleaned) this.#uncleaned.add(record);
    this.#pump();
  }

  list(): readonly Transfer[] {
    const nowMs = this.#nowMs();
    return this.#records.map((record) => {
      const transfer = record.read(nowMs);
      if (transfer.state !== 'waiting' || transfer.needs) return transfer;
      return { ...transfer, waitsFor: whyItWaits(record, this.#held, this.#records) };
    });
  }

  failures(id: string): readonly TransferFailure[] {
    return this.#find(id).facts.failures;
  }

  calls(id: string): readonly TransferCall[] {
    return this.#find(id).calls?.read() ?? [];
  }

  start(order: TransferOrder): string {
    const open = this.#records.filter((record) => !isEnded(record));
    if (open.length >= QUEUE_MAX) throw queueFull();
    const facts = { id: randomUUID(), order, title: titleOf(order), state: 'waiting' as const };
    const counts = { filesDone: 0, bytesDone: 0, failed: 0, warnings: [], failures: [] };
    const record = createTransferRecord({ ...facts, ...counts });
    this.#records.push(record);
    try {
      this.#write();
    } catch (error) {
      this.#records = this.#records.filter((kept) => kept !== record);
      throw error;
    }
    this.#emitSoon();
    this.#pump();
    return facts.id;
  }

  change({ action, ids }: Change): readonly string[] {
    if (action === 'putBack') {
      this.#records = withoutOldest(this.#removed.putBack(this.#records, new Set(ids)));
      this.#save();
      return [];
    }
    const chosen = ids === 'all' ? [...this.#records] : this.#findSome(ids);
    const place = new Map(this.#records.map((record, at) => [record, at]));
    const sign = action === 'down' ? -1 : 1;
    chosen.sort((a, b) => sign * (place.get(a)! - place.get(b)!));
    const together = new Set(chosen);
    this.#isHeld = true;
    try {
      for (const record of chosen) this.#apply(record, action, together);
    } finally {
      this.#isHeld = false;
    }
    this.#save();
    this.#pump();
    return chosen.filter((record) => !this.#records.includes(record)).map(({ facts }) => facts.id);
  }

  onKeys(): void {
    for (const { facts } of this.#records) delete facts.needs;
    this.#save();
    this.#pump();
  }

  watch(listener: (transfers: readonly Transfer[]) => void): () => void {
    listener(this.list());
    this.#watchers.add(listener);
    // A stalled job sends no event, but its rate must fall.
    const ticks = setInterval(() => {
      if (this.#records.some(({ run }) => run)) this.#emitSoon();
    }, TICK_MS);
    return () => {
      clearInterval(ticks);
      this.#watchers.delete(listener);
    };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#emitTimer);
    clearTimeout(this.#savingProgress);
    const running = [...this.#held];
    for (const { facts, run } of running) {
      if (facts.state === 'running') facts.state = 'waiting';
      run?.stopping.abort();
    }
    await Promise.all(running.map(({ run }) => run?.ended));
    this.#save();
    this.#file.close();
  }

  /** Starts waiting transfers that may run. Called after every change. */
  #pump(): void {
    if (this.#isClosing) return;
    const busy = new Set([...this.#held].map(({ facts }) => busyKeyOf(facts.order)));
    for (const record of this.#uncleaned) {
      const key = busyKeyOf(record.facts.order);
      if (busy.has(key)) continue;
      busy.add(key);
      this.#uncleaned.delete(record);
      this.#cleanUp(record);
    }
    for (const record of this.#records) {
      if (busy.size >= RUNNING_MAX) return;
      const key = busyKeyOf(record.facts.order);
      if (!isReady(record) || record.run || busy.has(key)) continue;
      busy.add(key);
      this.#begin(record);
    }
  }

  #begin(record: TransferRecord): void {
    record.begin(this.#nowMs());
    record.calls = createTransferCalls(() => this.#nowMs());
    this.#save();
    const { environment } = this.#host;
    this.#hold(record, async (signal) => {
      const outcome = await runOnce(this.#runs, record, signal);
      if (typeof outcome === 'object') {
        this.#settle(record, 'waiting');
        // If keys have arrived during the run, the transfer retries at once.
        if (this.#host.environment === environment) record.facts.needs = outcome;
      } else if (outcome) {
        this.#setUncleaned(record, false);
        this.#settle(record, outcome);
        if (outcome === 'done') this.#host.keptChoices.used(record.facts.order);
      } else if (record.facts.state === 'cancelled') {
        // The job may have written until now, so listeners that reload at the end must reload once more.
        record.facts.endedMs = this.#nowMs();
      }
      // Otherwise it is paused, or waits to start again, as its state says.
    });
  }

  /** Its place stays taken meanwhile; a retry does not wait for this. */
  #cleanUp(record: TransferRecord): void {
    this.#hold(record, async (signal) => {
      await cleanUp(this.#runs, record, signal);
      if (!signal.aborted) this.#setUncleaned(record, false);
    });
  }

  /** Saved with the rest, so that the next host finishes it if this one ends before. */
  #setUncleaned(record: TransferRecord, isUncleaned: boolean): void {
    if (isUncleaned) {
      this.#uncleaned.add(record);
      record.facts.isUncleaned = true;
    } else {
      this.#uncleaned.delete(record);
      delete record.facts.isUncleaned;
    }
  }

  #hold(record: TransferRecord, work: (signal: AbortSignal) => Promise<void>): void {
    const stopping = new AbortController();
    const run = { stopping, ended: Promise.resolve() };
    record.run = run;
    this.#held.add(record);
    run.ended = work(stopping.signal).finally(() => {
      delete record.run;
      this.#held.delete(record);
      this.#save();
      this.#pump();
    });
  }

  #apply(
    record: TransferRecord,
    action: Exclude<Change['action'], 'putBack'>,
    together: ReadonlySet<TransferRecord>,
  ): void {
    const { state } = record.facts;
    switch (action) {
      case 'pause':
        if (state === 'waiting' || state === 'running') this.#stop(record, 'paused');
        return;
      case 'resume':
        if (state !== 'paused') return;
        forgetKills(record.facts);
        this.#settle(record, 'waiting');
        return;
      case 'cancel':
        if (isEnded(record)) return;
        if (wasBegun(record)) this.#setUncleaned(record, true);
        this.#stop(record, 'cancelled');
        return;
      case 'pushEmptied':
        if (record.facts.order.kind !== 'push' || record.facts.error?.code !== 'manyEmptied') return;
        record.facts.order = { ...record.facts.order, allowEmptied: true };
        this.#apply(record, 'retry', together);
        return;
      case 'retry':
        if (state !== 'failed' && state !== 'cancelled') return;
        delete record.facts.startedMs;
        this.#setUncleaned(record, false);
        this.#stop(record, 'waiting');
        return;
      case 'remove':
        if (isEnded(record)) this.#records = this.#removed.remove(this.#records, record);
        return;
      case 'up':
        moveRecord(this.#records, record, { by: -1, together });
        return;
      case 'down':
        moveRecord(this.#records, record, { by: 1, together });
    }
  }

  /** The current run stops; then the new state takes effect. */
  #stop(record: TransferRecord, state: 'paused' | 'cancelled' | 'waiting'): void {
    this.#settle(record, state);
    record.run?.stopping.abort();
  }

  #settle(record: TransferRecord, state: TransferState): void {
    record.facts.state = state;
    delete record.facts.notice;
    delete record.facts.needs;
    if (state === 'waiting') delete record.facts.error;
    if (isEnded(record)) {
      record.facts.endedMs = this.#nowMs();
      forgetKills(record.facts);
    }
    this.#records = withoutOldest(this.#records);
    this.#save();
  }

  #write(): void {
    this.#file.write(this.#records.map(({ facts }) => facts));
  }

  /**
   * Running transfers continue if their state cannot be saved, as on a full disk; the next change tries
   * again.
   */
  #save(): void {
    if (this.#isHeld) return;
    this.#emitSoon(0);
    try {
      this.#write();
    } catch (error) {
      if (!(error instanceof DrayError)) throw error;
    }
  }

  /** A kill loses at most the counts of the last second. A write error is ignored. */
  #saveProgressSoon(): void {
    if (this.#isClosing) return;
    this.#savingProgress ??= setTimeout(() => {
      this.#savingProgress = undefined;
      try {
        this.#file.writeProgress([...this.#held].map(({ facts }) => facts));
      } catch (error) {
        if (!(error instanceof DrayError)) throw error;
      }
    }, PROGRESS_EVERY_MS);
  }

  #emitSoon(withinMs = EMIT_EVERY_MS): void {
    if (this.#watchers.size === 0 || this.#isClosing) return;
    // A change of state does not wait behind progress counts.
    if (withinMs === 0) {
      clearTimeout(this.#emitTimer);
      this.#emitTimer = undefined;
    }
    this.#emitTimer ??= setTimeout(() => {
      this.#emitTimer = undefined;
      const transfers = this.list();
      for (const watcher of this.#watchers) watcher(transfers);
    }, withinMs);
  }

  #find(id: string): TransferRecord {
    const found = this.#records.find(({ facts }) => facts.id === id);
    if (found) return found;
    throw new DrayError('notFound', 'The transfer no longer exists.', { data: { id } });
  }

  /** The ones that still exist: the oldest ended ones may have been dropped since the window showed them. */
  #findSome(ids: readonly string[]): TransferRecord[] {
    const wanted = new Set(ids);
    const found = this.#records.filter(({ facts }) => wanted.has(facts.id));
    return found.length > 0 ? found : ids.map((id) => this.#find(id));
  }

  #nowMs(): number {
    return this.#host.clock.nowMs();
  }
}

function isReady({ facts: { needs, state } }: TransferRecord): boolean {
  return state === 'waiting' && needs === undefined;
}

function queueFull(): DrayError {
  return new DrayError(
    'usage',
    `${QUEUE_MAX} transfers are already in the queue. Wait until some of them have ended.`,
  );
}
