/** Which transfers the queue holds, and in which order. */
import { isEnded, type TransferRecord } from './transfer-record.ts';

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
