/** Which transfers the queue holds, and in which order. */
import { busyKeyOf } from './transfer-jobs.ts';
import { isEnded, type TransferRecord } from './transfer-record.ts';

export const RUNNING_MAX = 2;

/** Of ended transfers, the oldest are dropped first. */
const ENDED_MAX = 100;

export function withoutOldest(records: TransferRecord[]): TransferRecord[] {
  const ended = records.filter(isEnded);
  if (ended.length <= ENDED_MAX) return records;
  ended.sort((a, b) => (a.facts.endedMs ?? 0) - (b.facts.endedMs ?? 0));
  const oldest = new Set(ended.slice(0, -ENDED_MAX));
  return records.filter((record) => !oldest.has(record));
}

/** In place, past the next one that has not ended. Transfers that move together keep their order. */
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
 * @param held Those that work, even if they are no longer listed
 * @param records In the order of the queue
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
  if (other) return `Starts once “${other.facts.title}” has ended, which works in the same place.`;
  return `Starts when it is its turn: ${RUNNING_MAX} transfers run at once.`;
}
