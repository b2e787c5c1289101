/**
 * A large object on its way to a local file. What a run that was stopped or killed had fetched is kept beside
 * the destination for a week, and the next run goes on from it, as long as the object is the same.
 */
import { type ErrorCode, toDrayError } from '../../../api/error.ts';
import type { FileMeta, TreeWriter, WrittenStat } from '../../../files/write/tree-writer-types.ts';
import { downloadInRanges, type RangesDownload } from '../../../transfer/download/download-ranges.ts';
import { rangeBytesFor } from '../../../transfer/download/fetch-ranges.ts';
import { openRangeJournal } from '../../../transfer/download/range-journal.ts';

/** Smaller ones begin anew: at most so much is fetched twice of each file that was under way. */
const KEPT_BYTES_MIN = 64 * 1024 * 1024;

/** What was fetched is of no use after these, or takes the room that is missing. */
const FOR_NOTHING: ReadonlySet<ErrorCode> = new Set(['damaged', 'io', 'diskFull', 'conflict', 'unsafePath']);

export interface LargeFetch {
  readonly writer: TreeWriter;
  readonly meta: FileMeta;
  readonly download: Omit<RangesDownload, 'journal' | 'rangeBytes' | 'sink'>;
}

/** @throws As `downloadInRanges` and the writer; nothing is in place then. */
export async function fetchLarge({ download, meta, writer }: LargeFetch): Promise<{
  readonly stat: WrittenStat;
  readonly receivedBytes: number;
}> {
  const { etag, sizeBytes } = download.info;
  const rangeBytes = rangeBytesFor(sizeBytes);
  const isKept = etag !== '' && sizeBytes >= KEPT_BYTES_MIN;
  const file = await writer.openLarge(meta, isKept ? { content: etag } : {});
  try {
    const journal =
      file.notesPath === undefined
        ? undefined
        : await openRangeJournal(file.notesPath, { etag, sizeBytes, rangeBytes });
    try {
      const request = { ...download, rangeBytes, sink: file };
      const { receivedBytes } = await downloadInRanges(journal ? { ...request, journal } : request);
      // Where files that are open cannot be removed, its notes have to be closed first.
      await journal?.close();
      return { stat: await file.commit(), receivedBytes };
    } finally {
      await journal?.close();
    }
  } catch (error) {
    if (FOR_NOTHING.has(toDrayError(error).code)) await file.discard();
    throw error;
  } finally {
    await file.leave();
  }
}
