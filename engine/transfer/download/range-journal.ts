/**
 * Records which ranges of a download are on disk, so that a killed download resumes. It is a small file
 * beside the unfinished one, with a line for each range, appended after the range was written.
 *
 * Nothing is synced, so after a crash of the machine a line may exist without its range, and the last line
 * may be torn. Each line therefore has a checksum of itself and one of the range's bytes: a later run reads
 * the range back and compares before it counts.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { DrayError } from '../../api/error.ts';
import { formatCrc64 } from '../../checksums/crc64-nvme.ts';
import type { ByteRange } from '../../remotes/object-store.ts';

export interface NotedRange extends ByteRange {
  /** Unsigned; the checksum of the range's bytes. */
  readonly crc64nvme: bigint;
}

/** The downloaded object, and its range size. */
export interface JournaledDownload {
  /** '' identifies nothing: such a download always starts again. */
  readonly etag: string;
  readonly sizeBytes: number;
  readonly rangeBytes: number;
}

export interface RangeJournal {
  /** The ranges of an earlier interrupted run, by their start. */
  readonly noted: ReadonlyMap<number, NotedRange>;
  /** Never fails: an unrecorded range is fetched again. */
  note(range: ByteRange, crc64nvme: bigint): Promise<void>;
  /** Keeps the file for another run. Idempotent. */
  close(): Promise<void>;
  /** For a finished or useless download. Idempotent. */
  remove(): Promise<void>;
}

const VERSION = 'dray ranges 1';
/** Far more than the ranges of 5 TiB need; a larger file is not a journal. */
const JOURNAL_BYTES_MAX = 256 * 1024 * 1024;

/** Creates a missing file; empties that of another download. @throws DrayError `io`, `diskFull` */
export async function openRangeJournal(path: string, download: JournaledDownload): Promise<RangeJournal> {
  const handle = await attempt(path, () =>
    open(
      path,
      constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0),
      0o600,
    ),
  );
  try {
    const noted = await attempt(path, () => goOnOrBegin(handle, download));
    return journalOf(path, handle, noted);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function journalOf(path: string, handle: FileHandle, noted: RangeJournal['noted']): RangeJournal {
  let isWritable = true;
  let closing: Promise<void> | undefined;
  const close = () => {
    isWritable = false;
    closing ??= handle.close();
    return closing;
  };
  return {
    noted,
    async note({ start, end }, crc64nvme) {
      if (!isWritable) return;
      try {
        // One write to the end of the file: lines of several ranges do not mix.
        await handle.write(lineOf(`${start} ${end} ${formatCrc64(crc64nvme)}`));
      } catch {
        isWritable = false;
      }
    },
    close,
    async remove() {
      await close();
      await unlink(path).catch(() => {});
    },
  };
}

async function goOnOrBegin(
  handle: FileHandle,
  download: JournaledDownload,
): Promise<ReadonlyMap<number, NotedRange>> {
  const header = lineOf([VERSION, download.sizeBytes, download.rangeBytes, download.etag].join(' '));
  const { size } = await handle.stat();
  const text = size <= JOURNAL_BYTES_MAX ? await handle.readFile('utf8') : '';
  if (download.etag === '' || !text.startsWith(header)) {
    await handle.truncate(0);
    await handle.write(header);
    return new Map();
  }
  const { noted, endBytes } = readLines(text, header.length, download);
  // Text after a torn line would be read as its end.
  if (endBytes < size) await handle.truncate(endBytes);
  return noted;
}

/** Up to the first incomplete line. */
function readLines(text: string, from: number, download: JournaledDownload) {
  const noted = new Map<number, NotedRange>();
  let at = from;
  for (;;) {
    const end = text.indexOf('\n', at);
    if (end < 0) break;
    const line = text.slice(at, end + 1);
    const content = line.slice(0, Math.max(0, line.lastIndexOf(' ')));
    if (line !== lineOf(content)) break;
    const range = rangeIn(content, download);
    if (range) noted.set(range.start, range);
    at = end + 1;
  }
  return { noted, endBytes: Buffer.byteLength(text.slice(0, at)) };
}

const RANGE = /^(\d+) (\d+) ([0-9a-f]{16})$/;

function rangeIn(content: string, { rangeBytes, sizeBytes }: JournaledDownload): NotedRange | undefined {
  const fields = RANGE.exec(content);
  if (!fields) return undefined;
  const start = Number(fields[1]);
  const end = Number(fields[2]);
  const isCutSo =
    start % rangeBytes === 0 && start < sizeBytes && end === Math.min(start + rangeBytes, sizeBytes);
  return isCutSo ? { start, end, crc64nvme: BigInt(`0x${fields[3]}`) } : undefined;
}

/** The content with its own checksum at the end. */
function lineOf(content: string): string {
  return `${content} ${crc32(content).toString(16).padStart(8, '0')}\n`;
}

async function attempt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new DrayError(code === 'ENOSPC' ? 'diskFull' : 'io', `${path}: ${message}`, {
      data: { path },
      cause,
    });
  }
}
