/**
 * The queue of transfers: two at once, in order, never two in one workspace. Pausing stops the job, which keeps its place; running it
 * again goes on there.
 *
 * Invariant: of those with one `busyKeyOf` never two are at work at once, the taking back of what a cancelled one left included, listed
 * or not: it would take the others' unfinished uploads with it.
 *
 * Written down at each change of state, before the effect. A host that ends well leaves what ran as `waiting`, and the next one goes on
 * with it. What a killed host left as `running` comes back as `paused`: if it was what killed the host, nobody wants it to begin by itself.
 */
import { randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import type {
  HostRequests,
  Transfer,
  TransferFailure,
  TransferOrder,
  TransferState,
} from '../../api/host.ts';
import type { ConnectionFlags, JobContext, Throttle } from '../../api/jobs.ts';
import type { Clock } from '../../base/clock.ts';
import type { UsageFile } from '../usage-file.ts';
import { openTransferFile, type TransferFile } from './transfer-file.ts';
import { busyKeyOf, titleOf } from './transfer-jobs.ts';
import { moveRecord, withoutOldest } from './transfer-order.ts';
import { createTransferRecord, isEnded, type TransferRecord, wasBegun } from './transfer-record.ts';
import { cleanUp, type RunHost, runOnce } from './transfer-run.ts';

const RUNNING_MAX = 2;
const QUEUE_MAX = 1_000;
const TELL_EVERY_MS = 200;
const TICK_MS = 1_000;

type Change = HostRequests['transfers.change']['input'];

export interface TransferQueue {
  /** @throws `usage` when the queue is full, `io` when it cannot be written down. */
  start(order: TransferOrder): string;
  /** What does not fit a transfer's state, and one that is gone, is left alone. @throws `notFound` when none of these ids is there. */
  change(change: Change): void;
  list(): readonly Transfer[];
  /** @throws `notFound` */
  failures(id: string): readonly TransferFailure[];
  /** Tells the list now and, a few times a second, whenever it changes. Returns what ends it. */
  watch(listener: (transfers: readonly Transfer[]) => void): () => void;
  close(): Promise<void>;
}

/** What the queue needs of the host: how its jobs connect, and where it is written down. */
export interface QueueHost {
  readonly environment: JobContext['environment'];
  readonly folder: string;
  readonly clock: Clock;
  readonly usageFile: UsageFile;
  connectionFlags(): ConnectionFlags;
  readonly throttle: Throttle;
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

const INTERRUPTED =
  'Dray ended in the midst of it. What has arrived is kept: resume it, and it goes on from there.';

class FileQueue implements TransferQueue {
  readonly #host: QueueHost;
  readonly #file: TransferFile;
  readonly #runs: RunHost;
  readonly #watchers = new Set<(transfers: readonly Transfer[]) => void>();
  #records: TransferRecord[];
  /** Those at work, also when they are listed no more. */
  readonly #held = new Set<TransferRecord>();
  /** Cancelled: what they left half done is taken back as soon as nobody else is at work where they were. */
  readonly #uncleaned = new Set<TransferRecord>();
  #telling: NodeJS.Timeout | undefined;
  #isClosing = false;
  /** Many change at once, and are written down once, before anything that comes of it is waited for. */
  #isHeld = false;

  constructor(host: QueueHost, file: TransferFile) {
    this.#host = host;
    this.#file = file;
    this.#runs = {
      environment: () => host.environment,
      throttle: host.throttle,
      usageFile: host.usageFile,
      nowMs: () => this.#nowMs(),
      connectionFlags: () => host.connectionFlags(),
      onNews: () => this.#tellSoon(),
    };
    this.#records = file.read().map((facts) => {
      if (facts.state === 'running') {
        facts.state = 'paused';
        facts.notice = INTERRUPTED;
      }
      return createTransferRecord(facts);
    });
    for (const record of this.#records) if (record.facts.isUncleaned) this.#uncleaned.add(record);
    this.#pump();
  }

  list(): readonly Transfer[] {
    const nowMs = this.#nowMs();
    return this.#records.map((record) => record.read(nowMs));
  }

  failures(id: string): readonly TransferFailure[] {
    return this.#find(id).facts.failures;
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
    this.#tellSoon();
    this.#pump();
    return facts.id;
  }

  change({ action, ids }: Change): void {
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
  }

  watch(listener: (transfers: readonly Transfer[]) => void): () => void {
    listener(this.list());
    this.#watchers.add(listener);
    // A job that stands tells nothing, and its pace falls all the same.
    const ticks = setInterval(() => {
      if (this.#records.some(({ run }) => run)) this.#tellSoon();
    }, TICK_MS);
    return () => {
      clearInterval(ticks);
      this.#watchers.delete(listener);
    };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#telling);
    const running = [...this.#held];
    for (const { facts, run } of running) {
      if (facts.state === 'running') facts.state = 'waiting';
      run?.stopping.abort();
    }
    await Promise.all(running.map(({ run }) => run?.ended));
    this.#save();
    this.#file.close();
  }

  /** Starts what may start. Called after every change. */
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
      if (record.facts.state !== 'waiting' || record.run || busy.has(key)) continue;
      busy.add(key);
      this.#begin(record);
    }
  }

  #begin(record: TransferRecord): void {
    record.begin(this.#nowMs());
    this.#save();
    this.#hold(record, async (signal) => {
      const outcome = await runOnce(this.#runs, record, signal);
      if (outcome) {
        this.#setUncleaned(record, false);
        this.#settle(record, outcome);
      } else if (record.facts.state === 'cancelled') {
        // Until now it may have written: who looks when a transfer has ended looks once more.
        record.facts.endedMs = this.#nowMs();
      }
      // Else it is paused, or waits to begin anew: its state says so already.
    });
  }

  /** Its place stays taken meanwhile; who retries it does not wait for this. */
  #cleanUp(record: TransferRecord): void {
    this.#hold(record, async (signal) => {
      await cleanUp(this.#runs, record, signal);
      if (!signal.aborted) this.#setUncleaned(record, false);
    });
  }

  /** Written down with the rest, for the next host where this one ends before it is done. */
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

  #apply(record: TransferRecord, action: Change['action'], together: ReadonlySet<TransferRecord>): void {
    const { state } = record.facts;
    switch (action) {
      case 'pause':
        if (state === 'waiting' || state === 'running') this.#stop(record, 'paused');
        return;
      case 'resume':
        if (state === 'paused') this.#settle(record, 'waiting');
        return;
      case 'cancel':
        if (isEnded(record)) return;
        if (wasBegun(record)) this.#setUncleaned(record, true);
        this.#stop(record, 'cancelled');
        return;
      case 'retry':
        if (state !== 'failed' && state !== 'cancelled') return;
        delete record.facts.startedMs;
        this.#setUncleaned(record, false);
        this.#stop(record, 'waiting');
        return;
      case 'remove':
        if (isEnded(record)) this.#records = this.#records.filter((kept) => kept !== record);
        return;
      case 'up':
        moveRecord(this.#records, record, { by: -1, together });
        return;
      case 'down':
        moveRecord(this.#records, record, { by: 1, together });
    }
  }

  /** What it does comes to its end; what the state wants begins then. */
  #stop(record: TransferRecord, state: 'paused' | 'cancelled' | 'waiting'): void {
    this.#settle(record, state);
    record.run?.stopping.abort();
  }

  #settle(record: TransferRecord, state: TransferState): void {
    record.facts.state = state;
    delete record.facts.notice;
    if (state === 'waiting') delete record.facts.error;
    if (isEnded(record)) record.facts.endedMs = this.#nowMs();
    this.#records = withoutOldest(this.#records);
    this.#save();
  }

  #write(): void {
    this.#file.write(this.#records.map(({ facts }) => facts));
  }

  /** What runs goes on where its state cannot be written down, such as on a full disk; the next change tries again. */
  #save(): void {
    if (this.#isHeld) return;
    this.#tellSoon(0);
    try {
      this.#write();
    } catch (error) {
      if (!(error instanceof DrayError)) throw error;
    }
  }

  #tellSoon(withinMs = TELL_EVERY_MS): void {
    if (this.#watchers.size === 0 || this.#isClosing) return;
    // A change of state does not wait behind counts.
    if (withinMs === 0) {
      clearTimeout(this.#telling);
      this.#telling = undefined;
    }
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      const transfers = this.list();
      for (const watcher of this.#watchers) watcher(transfers);
    }, withinMs);
  }

  #find(id: string): TransferRecord {
    const found = this.#records.find(({ facts }) => facts.id === id);
    if (found) return found;
    throw new DrayError('notFound', 'There is no such transfer any more.', { data: { id } });
  }

  /** Those that are still there: the oldest of the ended ones may have gone since they were shown. */
  #findSome(ids: readonly string[]): TransferRecord[] {
    const wanted = new Set(ids);
    const found = this.#records.filter(({ facts }) => wanted.has(facts.id));
    return found.length > 0 ? found : ids.map((id) => this.#find(id));
  }

  #nowMs(): number {
    return this.#host.clock.nowMs();
  }
}

function queueFull(): DrayError {
  return new DrayError('usage', `${QUEUE_MAX} transfers are in the queue already. Wait for some of them.`);
}
