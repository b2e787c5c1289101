/**
 * The queue of transfers: two at once, in order, never two in one workspace. Pausing stops the job, which keeps its place; running it
 * again goes on there.
 *
 * Written down at each change of state, before the effect. A host that ends well leaves what ran as `waiting`, and the next one goes on
 * with it. What a killed host left as `running` comes back as `paused`: if it was what killed the host, nobody wants it to begin by itself.
 */
import { randomUUID } from 'node:crypto';
import { DrayError, toErrorRecord } from '../api/error.ts';
import type { HostRequests, Transfer, TransferOrder, TransferState } from '../api/host.ts';
import type { ConnectionFlags, JobContext, RequestTotals, Throttle } from '../api/jobs.ts';
import type { Clock } from '../base/clock.ts';
import { openTransferFile, type TransferFile } from './transfer-file.ts';
import { billedPlaceOf, busyKeyOf, runTransfer, type TransferOutcome, titleOf } from './transfer-jobs.ts';
import { createTransferRecord, type TransferRecord } from './transfer-record.ts';
import type { UsageFile } from './usage-file.ts';

const RUNNING_MAX = 2;
const QUEUE_MAX = 1_000;
/** Of those that have ended, the oldest go first. */
const ENDED_MAX = 100;
const TELL_EVERY_MS = 200;

type Change = HostRequests['transfers.change']['input'];

export interface TransferQueue {
  /** @throws `usage` when the queue is full, `io` when it cannot be written down. */
  start(order: TransferOrder): string;
  /** What does not fit a transfer's state is left alone. @throws `notFound` when there is none of such an id. */
  change(change: Change): void;
  list(): readonly Transfer[];
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
  return new FileQueue(host, file);
}

const ENDED: ReadonlySet<TransferState> = new Set(['done', 'failed', 'cancelled']);

class FileQueue implements TransferQueue {
  readonly #host: QueueHost;
  readonly #file: TransferFile;
  readonly #watchers = new Set<(transfers: readonly Transfer[]) => void>();
  #records: TransferRecord[];
  #telling: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(host: QueueHost, file: TransferFile) {
    this.#host = host;
    this.#file = file;
    this.#records = file.read().map((facts) => {
      if (facts.state === 'running') facts.state = 'paused';
      return createTransferRecord(facts);
    });
    this.#pump();
  }

  list(): readonly Transfer[] {
    const nowMs = this.#nowMs();
    return this.#records.map((record) => record.read(nowMs));
  }

  start(order: TransferOrder): string {
    const open = this.#records.filter(({ facts }) => !ENDED.has(facts.state));
    if (open.length >= QUEUE_MAX) throw queueFull();
    const facts = { id: randomUUID(), order, title: titleOf(order), state: 'waiting' as const };
    const counts = { filesDone: 0, bytesDone: 0, warnings: [], failures: [] };
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
    const chosen = ids === 'all' ? [...this.#records] : ids.map((id) => this.#find(id));
    const place = new Map(this.#records.map((record, at) => [record, at]));
    const sign = action === 'down' ? -1 : 1;
    chosen.sort((a, b) => sign * (place.get(a)! - place.get(b)!));
    const together = new Set(chosen);
    for (const record of chosen) this.#apply(record, action, together);
    this.#save();
    this.#pump();
  }

  watch(listener: (transfers: readonly Transfer[]) => void): () => void {
    listener(this.list());
    this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#telling);
    const running = this.#records.filter(({ run }) => run);
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
    const busy = new Set(this.#records.flatMap(({ facts, run }) => (run ? [busyKeyOf(facts.order)] : [])));
    for (const record of this.#records) {
      if (busy.size >= RUNNING_MAX) return;
      const key = busyKeyOf(record.facts.order);
      if (record.facts.state !== 'waiting' || record.run || busy.has(key)) continue;
      busy.add(key);
      this.#begin(record);
    }
  }

  #begin(record: TransferRecord): void {
    const stopping = new AbortController();
    record.begin(this.#nowMs());
    this.#save();
    const ended = this.#carryOut(record, stopping.signal).finally(() => {
      delete record.run;
      this.#pump();
    });
    record.run = { stopping, ended };
  }

  async #carryOut(record: TransferRecord, signal: AbortSignal): Promise<void> {
    const { facts } = record;
    const contextIn = (directory: string): JobContext => ({
      directory,
      connection: this.#host.connectionFlags(),
      environment: this.#host.environment,
      throttle: this.#host.throttle,
      signal,
      emit: (event) => {
        record.note(event, this.#nowMs());
        this.#tellSoon();
      },
    });
    try {
      const summary = await runTransfer(facts.order, contextIn);
      facts.summary = summary;
      if ('requests' in summary) {
        facts.requests = summary.requests;
        this.#noteUsage(facts.order, summary.requests);
      }
      if (summary.failed > 0) facts.error = toErrorRecord(someFailed(summary));
      // Whoever paused it too late has it done.
      this.#settle(record, summary.failed > 0 ? 'failed' : 'done');
    } catch (error) {
      // Paused or cancelled: its state says so already.
      if (signal.aborted) return this.#save();
      facts.error = toErrorRecord(error);
      this.#settle(record, 'failed');
    }
  }

  #noteUsage(order: TransferOrder, requests: RequestTotals): void {
    try {
      this.#host.usageFile.add({ place: billedPlaceOf(order), nowMs: this.#nowMs(), requests });
    } catch (error) {
      // What was done is done, whether or not it can be counted.
      if (!(error instanceof DrayError)) throw error;
    }
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
        if (!ENDED.has(state)) this.#stop(record, 'cancelled');
        return;
      case 'retry':
        if (state === 'failed' || state === 'cancelled') this.#settle(record, 'waiting');
        return;
      case 'remove':
        if (ENDED.has(state)) this.#records = this.#records.filter((kept) => kept !== record);
        return;
      case 'up':
        this.#move(record, -1, together);
        return;
      case 'down':
        this.#move(record, 1, together);
    }
  }

  #stop(record: TransferRecord, state: 'paused' | 'cancelled'): void {
    this.#settle(record, state);
    record.run?.stopping.abort();
  }

  /** Past the next one that has not ended; those that move together stay in their order. */
  #move(record: TransferRecord, by: -1 | 1, together: ReadonlySet<TransferRecord>): void {
    const records = this.#records;
    const at = records.indexOf(record);
    let to = at + by;
    while (records[to] && ENDED.has(records[to]!.facts.state)) to += by;
    const other = records[to];
    if (!other || together.has(other)) return;
    records[at] = other;
    records[to] = record;
  }

  #settle(record: TransferRecord, state: TransferState): void {
    record.facts.state = state;
    if (ENDED.has(state)) record.facts.endedMs = this.#nowMs();
    this.#forgetOldest();
    this.#save();
  }

  #forgetOldest(): void {
    const ended = this.#records.filter(({ facts }) => ENDED.has(facts.state));
    if (ended.length <= ENDED_MAX) return;
    ended.sort((a, b) => (a.facts.endedMs ?? 0) - (b.facts.endedMs ?? 0));
    const oldest = new Set(ended.slice(0, -ENDED_MAX));
    this.#records = this.#records.filter((record) => !oldest.has(record));
  }

  #write(): void {
    this.#file.write(this.#records.map(({ facts }) => facts));
  }

  /** What runs goes on where its state cannot be written down, such as on a full disk; the next change tries again. */
  #save(): void {
    this.#tellSoon();
    try {
      this.#write();
    } catch (error) {
      if (!(error instanceof DrayError)) throw error;
    }
  }

  #tellSoon(): void {
    if (this.#watchers.size === 0 || this.#isClosing) return;
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      const transfers = this.list();
      for (const watcher of this.#watchers) watcher(transfers);
    }, TELL_EVERY_MS);
  }

  #find(id: string): TransferRecord {
    const found = this.#records.find(({ facts }) => facts.id === id);
    if (found) return found;
    throw new DrayError('notFound', 'There is no such transfer any more.', { data: { id } });
  }

  #nowMs(): number {
    return this.#host.clock.nowMs();
  }
}

function someFailed({ failed }: TransferOutcome): DrayError {
  const message = `${failed} ${failed === 1 ? 'file' : 'files'} failed; everything else went on. Try again when what is said of them is mended.`;
  return new DrayError('partial', message, { retry: 'retry', data: { failed } });
}

function queueFull(): DrayError {
  return new DrayError('usage', `${QUEUE_MAX} transfers are in the queue already. Wait for some of them.`);
}
