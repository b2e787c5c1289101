/**
 * Brings every part of a source to the store: kept from an earlier attempt, copied from the previous object,
 * or sent.
 */
import { DrayError } from '../../api/error.ts';
import type { MultipartStore, PartInfo } from '../../remotes/object-store.ts';
import { type PartSum, type SummedPart, sumPart } from '../compare/part-sums.ts';
import { type Block, matchBlock } from '../delta/store-delta.ts';
import { isHeldPart, isMd5, matchesEtag, matchesSums } from './held-parts.ts';
import type { PartsUpload } from './parts-upload.ts';
import type { UploadSession } from './upload-session.ts';

/** Parts of a local file that are read ahead, beyond the requests in flight. */
const READ_AHEAD_PARTS = 2;
/** A killed process loses the parts in flight: at most this much, or this share of a larger object. */
const IN_FLIGHT_BYTES = 64 * 1024 * 1024;
const IN_FLIGHT_SHARE = 1 / 16;
const SENDS_MIN = 2;

export interface PartsAtStore {
  /** In order. */
  readonly parts: readonly StoredPart[];
  readonly sentParts: number;
  readonly sentBytes: number;
  readonly keptParts: number;
  readonly copiedParts: number;
}

export interface StoredPart extends SummedPart {
  /** In the form of the completion request. */
  readonly info: PartInfo;
  /** Whether its etag is the MD5 of its bytes; absent when that was not checked. */
  readonly isMd5?: boolean;
}

interface Sending {
  readonly request: PartsUpload;
  readonly multipart: MultipartStore;
  readonly session: UploadSession;
  /** Compute MD5s, since nothing else may confirm the object. */
  readonly checksEtags: boolean;
  /** Only the parts with these numbers, both included. Default: all. */
  readonly only?: { readonly first: number; readonly last: number };
  readonly signal: AbortSignal;
  readonly parts: StoredPart[];
  readonly counts: { sentParts: number; sentBytes: number; keptParts: number; copiedParts: number };
  /** False once the store refused to copy, or the previous object no longer exists. */
  canCopy: boolean;
}

interface Part extends Block {
  readonly number: number;
}

/** The first failure stops the others; all have ended when this returns or throws. */
export async function sendParts(
  request: PartsUpload,
  context: Pick<Sending, 'multipart' | 'session' | 'checksEtags' | 'only'>,
): Promise<PartsAtStore> {
  const stop = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, stop.signal]) : stop.signal;
  const counts = { sentParts: 0, sentBytes: 0, keptParts: 0, copiedParts: 0 };
  const canCopy = request.previous !== undefined && context.session.mode === 'plain';
  const sending: Sending = { ...context, request, signal, parts: [], counts, canCopy };
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    stop.abort();
  };
  try {
    for (const part of partsOf(request, context.session)) {
      if (!isWanted(context, part)) continue;
      if (keepUnread(sending, part)) continue;
      while (running.size >= partsAtOnce(request, context.session)) await Promise.race(running);
      const lease = await request.memory.take(part.end - part.start, signal);
      const task: Promise<void> = storePart(sending, part, lease.bytes.subarray(0, part.end - part.start))
        .catch(fail)
        .finally(() => {
          lease.release();
          running.delete(task);
        });
      running.add(task);
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure.error;
  // `only` leaves holes.
  return { parts: sending.parts.filter((part) => part !== undefined), ...counts };
}

function* partsOf({ source }: PartsUpload, { partSizeBytes }: UploadSession): Generator<Part> {
  for (let number = 1, start = 0; start < source.sizeBytes; number += 1, start += partSizeBytes)
    yield { number, start, end: Math.min(start + partSizeBytes, source.sizeBytes) };
}

function isWanted({ only }: Pick<Sending, 'only'>, { number }: Part): boolean {
  return !only || (number >= only.first && number <= only.last);
}

/** Only as much memory as requests can use: those that read a remote source, and those that send. */
function partsAtOnce({ limit, source }: PartsUpload, { partSizeBytes }: UploadSession): number {
  const bytesMax = Math.max(IN_FLIGHT_BYTES, source.sizeBytes * IN_FLIGHT_SHARE);
  const sendsMax = Math.max(SENDS_MIN, Math.floor(bytesMax / partSizeBytes));
  if (source.limit === undefined) return Math.min(limit.current + READ_AHEAD_PARTS, sendsMax);
  return Math.min(limit.current, sendsMax) + Math.min(source.limit.current, sendsMax);
}

/** Keeps a part of this very source that the store has, with its sum: nothing needs to be read. */
function keepUnread(sending: Sending, part: Part): boolean {
  const { request, session } = sending;
  const held = session.held.get(part.number);
  if (!session.isVouched || held?.sizeBytes !== part.end - part.start) return false;
  const sum = sumTold(held, request.checksum);
  if (sum === undefined) return false;
  note(sending, part, { info: held, sum, how: 'kept' });
  return true;
}

function sumTold({ crc32, crc64nvme }: PartInfo, kind: PartsUpload['checksum']): PartSum | undefined {
  if (kind === 'crc32') return crc32 === undefined ? undefined : { crc32 };
  return crc64nvme === undefined ? undefined : { crc64nvme };
}

async function storePart(sending: Sending, part: Part, into: Uint8Array): Promise<void> {
  const { request, session, signal } = sending;
  const bytes = await request.source.read(part.start, into, signal);
  const found = { bytes, sum: sumPart(request.checksum, bytes) };
  const at = heldPart(session, part, found) ?? (await copyPart(sending, part, found));
  const { how, info } = at ?? { how: 'sent' as const, info: await sendPart(sending, part, found) };
  const comparesEtag = sending.checksEtags && isMd5(info.etag);
  note(sending, part, {
    how,
    info,
    sum: found.sum,
    ...(comparesEtag ? { isMd5: matchesEtag(info.etag, bytes) } : {}),
  });
}

interface Found {
  readonly bytes: Uint8Array;
  readonly sum: PartSum;
}

interface AtStore {
  readonly info: PartInfo;
  readonly how: 'kept' | 'copied';
}

function heldPart(session: UploadSession, { number }: Part, { bytes, sum }: Found): AtStore | undefined {
  const info = session.held.get(number);
  if (info === undefined) return undefined;
  // The source's token says that it is unchanged, and the store has no sum that could disprove it.
  const isVouched =
    session.isVouched && info.sizeBytes === bytes.byteLength && matchesSums(info, bytes, sum) === undefined;
  return isVouched || isHeldPart(info, bytes, sum) ? { info, how: 'kept' } : undefined;
}

function sendPart(sending: Sending, { number }: Part, { bytes, sum }: Found): Promise<PartInfo> {
  const { multipart, request, session, signal } = sending;
  const options = { ...(session.mode === 'summed' && { checksum: sum }), signal };
  const send = () => multipart.uploadPart(session.upload, number, bytes, options);
  return request.limit.run(send, { bytes: bytes.byteLength, signal });
}

/** Undefined when the part has to be sent: it differs, or the store does not copy it. */
async function copyPart(sending: Sending, part: Part, found: Found): Promise<AtStore | undefined> {
  const { multipart, request, session, signal } = sending;
  const { limit, previous } = request;
  if (!sending.canCopy || previous === undefined) return undefined;
  const match = matchBlock(previous, part, found);
  if (match === 'different') return undefined;
  const { end, number, start } = part;
  const source = { key: previous.key, range: { start, end }, ifMatch: previous.etag };
  try {
    const copy = () => multipart.uploadPartCopy(session.upload, number, source, { signal });
    const info = await limit.run(copy, { bytes: 0, signal });
    return match === 'same' || matchesEtag(info.etag, found.bytes) ? { info, how: 'copied' } : undefined;
  } catch (error) {
    // The object was replaced, or the store refuses: then all parts are sent. Temporary errors and aborts are
    // thrown.
    if (!(error instanceof DrayError) || error.retry !== 'no' || error.code === 'aborted') throw error;
    sending.canCopy = false;
    return undefined;
  }
}

interface Stored {
  readonly info: PartInfo;
  readonly sum: PartSum;
  readonly how: 'kept' | 'copied' | 'sent';
  readonly isMd5?: boolean;
}

function note(
  { counts, parts, request, session }: Sending,
  { end, number, start }: Part,
  { how, info, sum, ...rest }: Stored,
): void {
  const sizeBytes = end - start;
  const named = { number, etag: info.etag, sizeBytes };
  // The completion names the parts' sums if the upload has them, even those that the store did not return.
  parts[number - 1] = {
    info: session.mode === 'summed' ? { ...named, ...sum } : named,
    sum,
    sizeBytes,
    ...rest,
  };
  if (how === 'kept') counts.keptParts += 1;
  else if (how === 'copied') counts.copiedParts += 1;
  else {
    counts.sentParts += 1;
    counts.sentBytes += sizeBytes;
  }
  if (how === 'kept' && request.onKept) request.onKept(sizeBytes);
  else request.onProgress?.(sizeBytes);
}
