/** The order of the transfers in the queue. */
import { busyKeyOf } from './transfer-jobs.ts';
import { isEnded, type TransferRecord } from './transfer-record.ts';

export const RUNNING_MAX = 2;

/** The most ended transfers that are kept. The oldest are dropped first. */
const ENDED_MAX = 100;

export function withoutOldest(records: TransferRecord[]): TransferRecord[] {
  const ended = records.filter(isEnded);
  if (ended.length <= ENDED_MAX) return records;
  ended.sort((a, b) => (a.facts.endedMs ?? 0) - (b.facts.endedMs ?? 0));
  const oldest = new Set(ended.slice(0, -ENDED_MAX));
  return records.filter((record) => !oldest.has(record));
}

/** Moves the record past the next one that has not ended. Records that move together keep their order. */
export function moveRecord(
  records: TransferRecord[],
  record: TransferRecord,
  { by, together }: { readonly by: -1 | 1; readonly together: ReadonlySet<TransferRecord> },
): void {
  const at = records.indexOf(record);
  let to = at + by;
  while (records[to] && isEnded(records[to]!)) to += by;
  const other = records[to];
  if (!other || together.has(other)) return;
  records[at] = other;
  records[to] = record;
}

/**
 * Why a waiting transfer has not started.
 * @param held The transfers that work, also those that are no longer listed
 * @param records The queue, in order
 */
export function whyItWaits(
  record: TransferRecord,
  held: ReadonlySet<TransferRecord>,
  records: readonly TransferRecord[],
): string {
  if (record.run) return 'Starts once its last run has stopped.';
  const key = busyKeyOf(record.facts.order);
  const inItsPlace = (other: TransferRecord) => other !== record && busyKeyOf(other.facts.order) === key;
  const other =
    [...held].find(inItsPlace) ??
    records
      .slice(0, records.indexOf(record))
      .find((before) => before.facts.state === 'waiting' && inItsPlace(before));
  if (other) return `Starts when “${other.facts.title}” has ended, which uses the same place.`;
  return `Starts when a running transfer ends. ${RUNNING_MAX} transfers run at once.`;
}
