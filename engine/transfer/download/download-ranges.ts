/**
 * Downloads a large object to a sink that accepts its ranges in any order, verified; an interrupted download
 * is resumed.
 */
import { crc64Nvme } from '../../checksums/crc64-nvme.ts';
import type { PartSum } from '../compare/part-sums.ts';
import {
  fetchRanges,
  type RangeStretch,
  type RangesRequest,
  rangeBytesFor,
  type Stretches,
} from './fetch-ranges.ts';
import { fetchStretch, type Stretch } from './fetch-stretch.ts';
import type { VerifiedBy } from './range-check.ts';
import type { NotedRange, RangeJournal } from './range-journal.ts';
import { cutAtRanges, openStretchNotes } from './stretch-notes.ts';

/** The destination of ranges: several at a time, in any order. */
export interface RangeSink {
  write(offset: number, bytes: Uint8Array): Promise<void>;
  /** Reads back written bytes, to resume an interrupted download. */
  read?(offset: number, into: Uint8Array): Promise<Uint8Array>;
  /** Called for ranges that were read back and verified. */
  accept?(offset: number, lengthBytes: number): void;
}

/** The longest stretch: after it, `isOneOfMany` is called again. */
const STRETCH_BYTES_MAX = 512 * 1024 * 1024;

export interface RangesDownload extends RangesRequest {
  readonly sink: RangeSink;
  /**
   * The journal of this object in these ranges. Noted ranges are read back from the sink, and fetched only if
   * they are wrong there.
   */
  readonly journal?: Pick<RangeJournal, 'note' | 'noted'>;
  /** Reports how many more bytes are in the sink. */
  readonly onProgress?: (bytes: number) => void;
  /**
   * Called repeatedly: whether enough other transfers are in flight that this object needs only one request
   * at a time. Its ranges are then fetched in stretches, which cost servers far less. Only with an etag.
   */
  readonly isOneOfMany?: () => boolean;
}

export interface RangesDownloaded {
  readonly by: VerifiedBy;
  /** Bytes on the wire: less than the object's size when part of it existed already. */
  readonly receivedBytes: number;
}

/**
 * Resolves when every byte is in the sink and the whole matches the store's sums. CRC64NVME needs
 * `loadCrc64`.
 * @throws DrayError `damaged` when it does not match; `io` with reason `changedWhileRead` when the object was
 * replaced meanwhile. The content of the sink and the journal is then useless. After any other error another
 * run can resume.
 */
export async function downloadInRanges(request: RangesDownload): Promise<RangesDownloaded> {
  const { info, isOneOfMany, journal, sink } = request;
  let receivedBytes = 0;
  const stretches: Stretches = {
    endFrom: (start) => (isOneOfMany?.() ? stretchEnd(request, start) : start),
    fetch: async (stretch) => {
      await fetchAndKeep(request, stretch);
      receivedBytes += stretch.range.end - stretch.range.start;
    },
  };
  const all = { start: 0, end: info.sizeBytes, stretches };
  const by = await fetchRanges(request, all, async (piece) => {
    const { bytes, pass, range, read, signal } = piece;
    const held = sink.read && journal?.noted.get(range.start);
    if (held && (await isHeld(sink, held, bytes))) {
      await pass(bytes, signal);
      sink.accept?.(range.start, bytes.length);
    } else {
      const fetched = await read();
      receivedBytes += fetched.length;
      const sum = await bothEnded(pass(fetched, signal), sink.write(range.start, fetched));
      await journal?.note(range, crc64Of(fetched, sum));
    }
    request.onProgress?.(bytes.length);
  });
  return { by, receivedBytes };
}

/** Up to the next noted range, which is first checked on disk. */
function stretchEnd(request: RangesDownload, start: number): number {
  const { info, journal } = request;
  if (info.etag === '') return start;
  const longest = Math.min(info.sizeBytes, start + STRETCH_BYTES_MAX);
  let end = start;
  while (end < longest && !journal?.noted.has(end)) end += rangeBytesOf(request);
  return Math.min(end, longest);
}

function rangeBytesOf({ info, rangeBytes }: RangesDownload): number {
  return rangeBytes ?? rangeBytesFor(info.sizeBytes);
}

async function fetchAndKeep(request: RangesDownload, stretch: RangeStretch): Promise<void> {
  const { info, journal, onProgress, sink } = request;
  const { next, range } = stretch;
  const cut = { sizeBytes: info.sizeBytes, rangeBytes: rangeBytesOf(request) };
  const notes = journal && openStretchNotes(journal, cut);
  const keep = async (start: number, bytes: Uint8Array, signal: AbortSignal) => {
    const piece = { start, end: start + bytes.length };
    // Both in this tick: pieces must be registered in order.
    const pass = next(piece);
    const note = notes?.begin(piece);
    const sum = await bothEnded(pass(bytes, signal), sink.write(start, bytes));
    await note?.(crc64Of(bytes, sum));
    onProgress?.(bytes.length);
  };
  const take: Stretch['take'] = async (start, bytes, signal) => {
    const parts = cutAtRanges(start, bytes, cut.rangeBytes);
    await allEnded(parts.map((part) => keep(part.start, part.bytes, signal)));
  };
  await fetchStretch({ ...request, range, signal: stretch.signal, take });
}

/**
 * Their memory is released afterwards, so a failure of one waits for the other. Returns the result of the
 * first.
 */
async function bothEnded<T>(first: Promise<T>, second: Promise<unknown>): Promise<T> {
  await allEnded([first, second]);
  return first;
}

async function allEnded(works: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}

async function isHeld(sink: RangeSink, held: NotedRange, into: Uint8Array): Promise<boolean> {
  if (held.end - held.start !== into.length) return false;
  const bytes = await sink.read!(held.start, into);
  return crc64Nvme(bytes) === held.crc64nvme;
}

function crc64Of(bytes: Uint8Array, sum: PartSum | undefined): bigint {
  return sum && 'crc64nvme' in sum ? sum.crc64nvme : crc64Nvme(bytes);
}
