/**
 * `dray cat`: an object or file, or a part of it, in order. Checks a whole object against the checksum of its
 * store.
 */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { ReadPlaceRequest, ReadPlaceSummary } from '../../api/jobs/trees.ts';
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import { openFileSource } from '../../files/read/file-source.ts';
import { localPlaceKind } from '../../files/scan/local-place.ts';
import { catObject } from '../../transfer/download/download-object.ts';
import { nothingThere } from '../places/open-side.ts';
import { type LocalPlace, nameOfPlace, openPlace, parsePlace, type RemotePlace } from '../places/places.ts';
import { addTotals } from '../session/traffic.ts';
import { followLink } from '../trees/local-items.ts';
import { createTreeMemory } from '../trees/move/movers.ts';

type Write = (chunk: Uint8Array) => Promise<void>;

/**
 * @throws `notFound` when nothing exists there, `damaged` (after the last byte) when its store's checksum
 * does not match
 */
export async function readPlace(
  context: JobContext,
  request: ReadPlaceRequest,
  write: Write,
): Promise<ReadPlaceSummary> {
  const place = parsePlace(context, request);
  if (place.kind === 'stdio' || place.isFolderForm)
    throw new DrayError('usage', `"${place.text}" is not a file or object. Name one.`);
  return place.kind === 'local'
    ? readFile(context, place, request, write)
    : readObject(context, place, request, write);
}

async function readObject(
  context: JobContext,
  place: RemotePlace,
  request: ReadPlaceRequest,
  write: Write,
): Promise<ReadPlaceSummary> {
  const { signal } = context;
  await using remote = await openPlace(context, place, { at: 'parent' });
  const { limit, meter, store } = remote;
  await loadCrc64();
  const key = nameOfPlace(place);
  const info = await store.head(key, { checksums: true, signal });
  if (!info) throw new DrayError('notFound', `There is no object ${place.text}.`, { data: { key } });
  const { end, start } = rangeOf(request, info.sizeBytes);
  const range = { start, end };
  const { bytes } = await catObject({
    store,
    key,
    info,
    limit,
    memory: createTreeMemory({}),
    signal,
    range,
    write,
  });
  return { bytes, requests: addTotals([meter]) };
}

const PIECE_BYTES = 1024 * 1024;

async function readFile(
  { signal }: JobContext,
  place: LocalPlace,
  request: ReadPlaceRequest,
  write: Write,
): Promise<ReadPlaceSummary> {
  const { text } = place;
  const path = followLink(place.path);
  const kind = localPlaceKind(path);
  if (kind === 'absent') throw nothingThere(text);
  if (kind !== 'file') throw new DrayError('usage', `${text} is not a file. Name one.`);
  await using source = await openFileSource(path);
  const { end, start } = rangeOf(request, source.sizeBytes);
  for (let at = start; at < end; at += PIECE_BYTES) {
    await write(await source.read(at, Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - at)), signal));
  }
  return { bytes: end - start, requests: addTotals([]) };
}

function rangeOf(
  { lengthBytes, offsetBytes = 0 }: ReadPlaceRequest,
  sizeBytes: number,
): { readonly start: number; readonly end: number } {
  const start = Math.min(offsetBytes, sizeBytes);
  return { start, end: lengthBytes === undefined ? sizeBytes : Math.min(sizeBytes, start + lengthBytes) };
}
