/** The transfers that the user removed from the list. An undo is possible while the engine runs. */
import { DrayError } from '../../api/error.ts';
import type { TransferRecord } from './transfer-record.ts';

/** Further removals drop the oldest ones. */
const REMOVED_MAX = 200;

export interface RemovedRecords {
  /** The list without this record. */
  remove(records: readonly TransferRecord[], record: TransferRecord): TransferRecord[];
  /** The list with these records at their old positions. @throws `notFound` if none of them is kept */
  putBack(records: readonly TransferRecord[], ids: ReadonlySet<string>): TransferRecord[];
}

export function createRemovedRecords(): RemovedRecords {
  let removed: { readonly record: TransferRecord; readonly before: ReadonlySet<TransferRecord> }[] = [];
  return {
    remove(records, record) {
      const before = new Set(records.slice(0, records.indexOf(record)));
      removed = [...removed, { record, before }].slice(-REMOVED_MAX);
      return records.filter((kept) => kept !== record);
    },
    putBack(records, ids) {
      const wanted = removed.filter(({ record }) => ids.has(record.facts.id));
      if (wanted.length === 0) {
        const message = 'These transfers can no longer be put back on the list. Start them again.';
        throw new DrayError('notFound', message, { data: { ids: [...ids] } });
      }
      removed = removed.filter((one) => !wanted.includes(one));
      const list = [...records];
      // Undone in reverse: a record's `before` excludes the records that were removed earlier.
      for (const { before, record } of wanted.toReversed())
        list.splice(list.findLastIndex((kept) => before.has(kept)) + 1, 0, record);
      return list;
    },
  };
}
