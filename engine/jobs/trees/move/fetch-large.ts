/**
 * Fetches a large object into a local file. The bytes of a stopped or killed run are kept beside the
 * destination for a week, and the next run resumes from them if the object is still the same.
 */
import { type ErrorCode, toDrayError } from '../../../api/error.ts';
import type { FileMeta, TreeWriter, WrittenStat } from '../../../files/write/tree-writer-types.ts';
import { downloadInRanges, type RangesDownload } from '../../../transfer/download/download-ranges.ts';
import { rangeBytesFor } from '../../../transfer/download/fetch-ranges.ts';
import { openRangeJournal } from '../../../transfer/download/range-journal.ts';

/** Smaller files start over: for each file in flight at most this much is fetched twice. */
const KEPT_BYTES_MIN = 64 * 1024 * 1024;

/** After these errors the fetched bytes are useless, or take up the missing room. */
const FOR_NOTHING: ReadonlySet<ErrorCode> = new Set(['damaged', 'io', 'diskFull', 'conflict', 'unsafePath']);

export interface LargeFetch {
  readonly writer: TreeWriter;
  readonly meta: FileMeta;
  readonly download: Omit<RangesDownload, 'journal' | 'rangeBytes' | 'sink'>;
}

/** @throws As `downloadInRanges` and the writer; then nothing is in place. */
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
      // Some systems cannot remove open files, so the journal is closed first.
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
