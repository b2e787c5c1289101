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
import type { ConnectionFlags, JobContext, RequestTotals } from '../api/jobs.ts';
import type { Clock } from '../base/clock.ts';
import { openTransferFile } from './transfer-file.ts';
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
}

export async function openTransferQueue(host: QueueHost): Promise<TransferQueue> {
  const file = await openTransferFile(host.folder, host.clock);
  return createQueue(host, file);
}

const ENDED: ReadonlySet<TransferState> = new Set(['done', 'failed', 'cancelled']);

function createQueue(host: QueueHost, file: Awaited<ReturnType<typeof openTransferFile>>): TransferQueue {
  let records: TransferRecord[] = file.read().map((facts) => {
    if (facts.state === 'running') facts.state = 'paused';
    return createTransferRecord(facts);
  });
  const watchers = new Set<(transfers: readonly Transfer[]) => void>();
  let telling: NodeJS.Timeout | undefined;
  let isClosing = false;
  const now = () => host.clock.nowMs();
  const list = () => records.map((record) => record.read(now()));

  const tellSoon = () => {
    if (watchers.size === 0) return;
    telling ??= setTimeout(() => {
      telling = undefined;
      const transfers = list();
      for (const watcher of watchers) watcher(transfers);
    }, TELL_EVERY_MS);
  };
  const write = () => file.write(records.map(({ facts }) => facts));
  /** What runs goes on where its state cannot be written down, such as on a full disk; the next change tries again. */
  const save = () => {
    tellSoon();
    try {
      write();
    } catch (error) {
      if (!(error instanceof DrayError)) throw error;
    }
  };
  const settle = (record: TransferRecord, state: TransferState) => {
    record.facts.state = state;
    if (ENDED.has(state)) record.facts.endedMs = now();
    forgetOldest();
    save();
  };
  const forgetOldest = () => {
    const ended = records.filter(({ facts }) => ENDED.has(facts.state));
    const tooMany = new Set(
      ended.sort((a, b) => (a.facts.endedMs ?? 0) - (b.facts.endedMs ?? 0)).slice(0, -ENDED_MAX),
    );
    if (tooMany.size > 0) records = records.filter((record) => !tooMany.has(record));
  };

  /** Starts what may start. Called after every change. */
  const pump = () => {
    if (isClosing) return;
    const busy = new Set(records.flatMap(({ facts, run }) => (run ? [busyKeyOf(facts.order)] : [])));
    for (const record of records) {
      if (busy.size >= RUNNING_MAX) return;
      const key = busyKeyOf(record.facts.order);
      if (record.facts.state !== 'waiting' || record.run || busy.has(key)) continue;
      busy.add(key);
      begin(record);
    }
  };

  const begin = (record: TransferRecord) => {
    const stopping = new AbortController();
    record.begin(now());
    save();
    const ended = carryOut(record, stopping.signal).finally(() => {
      delete record.run;
      pump();
    });
    record.run = { stopping, ended };
  };

  const carryOut = async (record: TransferRecord, signal: AbortSignal) => {
    const { facts } = record;
    const contextIn = (directory: string) => ({
      directory,
      connection: host.connectionFlags(),
      environment: host.environment,
      signal,
      emit: (event: Parameters<TransferRecord['note']>[0]) => {
        record.note(event, now());
        tellSoon();
      },
    });
    try {
      const summary = await runTransfer(facts.order, contextIn);
      facts.summary = summary;
      if ('requests' in summary) {
        facts.requests = summary.requests;
        noteUsage(facts.order, summary.requests);
      }
      if (summary.failed > 0) facts.error = toErrorRecord(someFailed(summary));
      // Whoever paused it too late has it done.
      settle(record, summary.failed > 0 ? 'failed' : 'done');
    } catch (error) {
      // Paused or cancelled: its state says so already.
      if (signal.aborted) return save();
      facts.error = toErrorRecord(error);
      settle(record, 'failed');
    }
  };

  const noteUsage = (order: TransferOrder, requests: RequestTotals) => {
    try {
      host.usageFile.add({ place: billedPlaceOf(order), nowMs: now(), requests });
    } catch (error) {
      // What was done is done, whether or not it can be counted.
      if (!(error instanceof DrayError)) throw error;
    }
  };

  const stop = (record: TransferRecord, state: 'paused' | 'cancelled') => {
    settle(record, state);
    record.run?.stopping.abort();
  };
  const restart = (record: TransferRecord) => settle(record, 'waiting');
  /** Past the next one that has not ended; those that move together stay in their order. */
  const move = (record: TransferRecord, by: -1 | 1, together: ReadonlySet<TransferRecord>) => {
    const at = records.indexOf(record);
    let to = at + by;
    while (records[to] && ENDED.has(records[to]!.facts.state)) to += by;
    const other = records[to];
    if (!other || together.has(other)) return;
    records[at] = other;
    records[to] = record;
  };
  const apply = (record: TransferRecord, action: Change['action'], together: ReadonlySet<TransferRecord>) => {
    const { state } = record.facts;
    const isOpen = state === 'waiting' || state === 'running';
    switch (action) {
      case 'pause':
        if (isOpen) stop(record, 'paused');
        return;
      case 'resume':
        if (state === 'paused') restart(record);
        return;
      case 'cancel':
        if (!ENDED.has(state)) stop(record, 'cancelled');
        return;
      case 'retry':
        if (state === 'failed' || state === 'cancelled') restart(record);
        return;
      case 'remove':
        if (ENDED.has(state)) records = records.filter((kept) => kept !== record);
        return;
      case 'up':
        return move(record, -1, together);
      case 'down':
        return move(record, 1, together);
    }
  };

  pump();
  return {
    list,
    start(order) {
      const open = records.filter(({ facts }) => !ENDED.has(facts.state));
      if (open.length >= QUEUE_MAX) throw queueFull();
      const facts = { id: randomUUID(), order, title: titleOf(order), state: 'waiting' as const };
      const counts = { filesDone: 0, bytesDone: 0, warnings: [], failures: [] };
      const record = createTransferRecord({ ...facts, ...counts });
      records.push(record);
      try {
        write();
      } catch (error) {
        records = records.filter((kept) => kept !== record);
        throw error;
      }
      tellSoon();
      pump();
      return facts.id;
    },
    change({ action, ids }) {
      const chosen = ids === 'all' ? [...records] : ids.map(find);
      const place = new Map(records.map((record, at) => [record, at]));
      const sign = action === 'down' ? -1 : 1;
      chosen.sort((a, b) => sign * (place.get(a)! - place.get(b)!));
      const together = new Set(chosen);
      for (const record of chosen) apply(record, action, together);
      save();
      pump();
    },
    watch(listener) {
      listener(list());
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    async close() {
      isClosing = true;
      clearTimeout(telling);
      const running = records.filter(({ run }) => run);
      for (const record of running) {
        if (record.facts.state === 'running') record.facts.state = 'waiting';
        record.run?.stopping.abort();
      }
      await Promise.all(running.map(({ run }) => run?.ended));
      save();
      file.close();
    },
  };

  function find(id: string): TransferRecord {
    const found = records.find(({ facts }) => facts.id === id);
    if (found) return found;
    throw new DrayError('notFound', 'There is no such transfer any more.', { data: { id } });
  }
}

function someFailed({ failed }: TransferOutcome): DrayError {
  const message = `${failed} ${failed === 1 ? 'file' : 'files'} failed; everything else went on. Try again when what is said of them is mended.`;
  return new DrayError('partial', message, { retry: 'retry', data: { failed } });
}

function queueFull(): DrayError {
  return new DrayError('usage', `${QUEUE_MAX} transfers are in the queue already. Wait for some of them.`);
}
