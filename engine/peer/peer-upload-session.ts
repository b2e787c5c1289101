/** One upload of a large file: its received ranges, and how a range is verified before it counts. */

import { DrayError } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import { combineCrc64 } from '../checksums/crc-combine.ts';
import { crc64Nvme, formatCrc64 } from '../checksums/crc64-nvme.ts';
import type { FileMeta, LargeFile } from '../files/write/tree-writer-types.ts';
import { PEER_HEADER } from '../peer-protocol/messages.ts';
import type { RangeJournal } from '../transfer/download/range-journal.ts';
import { type PeerCall, PeerRefusal } from './peer-call.ts';
import type { RangeReceiver } from './peer-ranges.ts';

export interface PeerUploadSession {
  readonly id: string;
  readonly content: string;
  readonly meta: FileMeta;
  /**
   * Its size is given at the end: every range but the last has `rangeBytes`. It does not outlive the server.
   */
  readonly isOpenEnded: boolean;
  readonly rangeBytes: number;
  readonly file: LargeFile;
  readonly journal: RangeJournal | undefined;
  /** Written ranges, by start. */
  readonly ranges: Map<number, WrittenRange>;
  /** Ranges being received, by start. */
  readonly writing: Map<number, Promise<void>>;
  /** Once set, the session accepts no more ranges. */
  isEnded: boolean;
  usedMs: number;
  /** Running calls. */
  readonly calls: Set<Promise<unknown>>;
}

interface WrittenRange {
  readonly sum: bigint;
  readonly sizeBytes: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Writes a range straight to the disk. It counts once its checksum was verified. */
export async function receiveRange(
  session: PeerUploadSession,
  { end, start }: Span,
  { call, receiver }: { readonly call: PeerCall; readonly receiver: RangeReceiver },
): Promise<void> {
  const { file, id, journal, ranges } = session;
  const announced = call.request.headers[PEER_HEADER.crc64];
  const sizeBytes = end - start;
  const known = ranges.get(start);
  // Sent again because its answer was lost: the range exists and stays unchanged.
  const isThere = known?.sizeBytes === sizeBytes && formatCrc64(known.sum) === announced;
  if (session.isEnded) throw noUpload(id);
  if (!isThere) ranges.delete(start);
  const sum = await receiver.receive(call, async (offset, chunks) => {
    if (!isThere) await file.place(start + offset, chunks);
  });
  if (formatCrc64(sum) !== announced)
    throw new DrayError('checksumRefused', 'The range was damaged on its way. Send it again.', {
      retry: 'retry',
    });
  if (isThere) return;
  file.accept(start, sizeBytes);
  await journal?.note({ start, end }, sum);
  ranges.set(start, { sum, sizeBytes });
}

/** Bytes of an earlier run of the server count only as far as they are really there. */
export async function takeNoted(
  { file, journal, rangeBytes, ranges }: PeerUploadSession,
  budget: Budget,
): Promise<void> {
  const noted = [...(journal?.noted.values() ?? [])];
  if (noted.length === 0) return;
  using _permit = await budget.acquire(rangeBytes);
  for (const { crc64nvme, end, start } of noted) {
    const sizeBytes = end - start;
    const bytes = await file.read(start, Buffer.allocUnsafeSlow(sizeBytes));
    if (crc64Nvme(bytes) !== crc64nvme) continue;
    file.accept(start, sizeBytes);
    ranges.set(start, { sum: crc64nvme, sizeBytes });
  }
}

/** Equal ranges run one after another: two different ones never mix. */
export function inTurn(
  { writing }: PeerUploadSession,
  start: number,
  work: () => Promise<void>,
): Promise<void> {
  const turn = (writing.get(start) ?? Promise.resolve()).then(work, work);
  writing.set(start, turn);
  const done = () => {
    if (writing.get(start) === turn) writing.delete(start);
  };
  turn.then(done, done);
  return turn;
}

export function endOfRange({ meta, rangeBytes }: PeerUploadSession, start: number): number {
  const isOne =
    Number.isSafeInteger(start) && start >= 0 && start % rangeBytes === 0 && start < meta.sizeBytes;
  if (!isOne) throw new PeerRefusal(400, 'usage', `No range begins at ${start}.`);
  return Math.min(start + rangeBytes, meta.sizeBytes);
}

/** Only the last range may be shorter, which is checked once it is known to be the last. */
export function endOfOpenRange({ rangeBytes }: PeerUploadSession, start: number, sentBytes: number): number {
  const isOne = Number.isSafeInteger(start) && start >= 0 && start % rangeBytes === 0;
  if (!isOne) throw new PeerRefusal(400, 'usage', `No range begins at ${start}.`);
  if (sentBytes < 1 || sentBytes > rangeBytes)
    throw new PeerRefusal(400, 'usage', `A range must have 1 to ${rangeBytes} bytes.`);
  return start + sentBytes;
}

export function sizeOf({ isOpenEnded, meta }: PeerUploadSession, announcedBytes: number | undefined): number {
  if (isOpenEnded && announcedBytes === undefined)
    throw new PeerRefusal(400, 'usage', 'The upload began without a size. Give it in "sizeBytes" now.');
  if (!isOpenEnded && announcedBytes !== undefined && announcedBytes !== meta.sizeBytes)
    throw new PeerRefusal(400, 'usage', `The upload began with a size of ${meta.sizeBytes} bytes.`);
  return announcedBytes ?? meta.sizeBytes;
}

/** @throws PeerRefusal 409 if something is missing, or too much. */
export function wholeSum({ rangeBytes, ranges }: PeerUploadSession, sizeBytes: number): bigint {
  let sum = 0n;
  for (let start = 0; start < sizeBytes; start += rangeBytes) {
    const wantedBytes = Math.min(rangeBytes, sizeBytes - start);
    const next = ranges.get(start);
    if (next?.sizeBytes !== wantedBytes)
      throw new PeerRefusal(409, 'conflict', `The range at ${start} is missing.`);
    sum = start === 0 ? next.sum : combineCrc64(sum, next.sum, wantedBytes);
  }
  if (ranges.size > Math.ceil(sizeBytes / rangeBytes))
    throw new PeerRefusal(409, 'conflict', `More than ${sizeBytes} bytes arrived.`);
  return sum;
}

export function noUpload(id: string): DrayError {
  return new DrayError('notFound', 'This upload does not exist or has ended.', { data: { upload: id } });
}
