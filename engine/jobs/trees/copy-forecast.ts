/** Forecasts a copy for `--dry-run`: requests by class, bytes and money. */
import type { RequestTotals } from '../../api/jobs.ts';
import { dollarsFor } from '../../model/prices.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { WHOLE_BYTES_MAX } from '../../transfer/download/download-object.ts';
import { rangeBytesFor } from '../../transfer/download/fetch-ranges.ts';
import { partSizeFor } from '../../transfer/upload/part-size.ts';
import { ONE_PUT_BYTES } from '../../transfer/upload/upload-object.ts';
import { sharesService } from '../session/opened-remote.ts';
import { BATCH_BYTES, BATCH_FILES, SENT_IN_BATCHES_BYTES_MAX } from './move/batch-limits.ts';
import type { ForeseenDelta } from './move/mover.ts';
import type { TreeSide } from './sides.ts';

/** S3's limit of one copy inside the store. */
const COPY_BYTES_MAX = 5 * 1024 ** 3;
const DELETED_AT_ONCE = 1_000;

export interface Forecast {
  /** @param delta If given, only the differences are sent. */
  copies(item: TreeItem, delta?: ForeseenDelta): void;
  touches(): void;
  /** Modes and times of `count` folders, in one request at each end that takes requests. */
  setsFolders(count: number): void;
  totals(deletes: number): RequestTotals;
}

interface Sides {
  readonly source: TreeSide;
  readonly destination: TreeSide;
}

export function createForecast({ destination, source }: Sides, partSizeBytes: number | undefined): Forecast {
  const at = { source: { reads: 0, writes: 0 }, destination: { reads: 0, writes: 0 } };
  let sentBytes = 0;
  let receivedBytes = 0;
  const partBytesMax = destination.kind === 'remote' ? destination.store.multipart?.partBytesMax : undefined;
  const staysInside =
    source.kind === 'remote' &&
    destination.kind === 'remote' &&
    sharesService(source.store, destination.store);
  // Between two folders, here or at a peer, many small files share a request.
  const areBatched =
    !staysInside &&
    [source, destination].every((side) => side.kind === 'local' || side.store.files !== undefined);
  const batched = { source: { files: 0, bytes: 0 }, destination: { files: 0, bytes: 0 } };
  const isBatched = (sizeBytes: number) => areBatched && sizeBytes <= SENT_IN_BATCHES_BYTES_MAX;
  const batch = (end: keyof typeof batched, sizeBytes: number) => {
    batched[end].files += 1;
    batched[end].bytes += sizeBytes;
  };
  const send = (sizeBytes: number) => {
    sentBytes += sizeBytes;
    if (isBatched(sizeBytes)) batch('destination', sizeBytes);
    else if (sizeBytes <= ONE_PUT_BYTES) at.destination.writes += 1;
    else {
      // Begin, parts, complete, and the check of the result.
      at.destination.writes += 2 + Math.ceil(sizeBytes / partSizeFor(sizeBytes, partSizeBytes, partBytesMax));
      at.destination.reads += 1;
    }
  };
  const receive = (sizeBytes: number) => {
    receivedBytes += sizeBytes;
    if (isBatched(sizeBytes)) batch('source', sizeBytes);
    else
      at.source.reads +=
        sizeBytes <= WHOLE_BYTES_MAX ? 1 : 1 + Math.ceil(sizeBytes / rangeBytesFor(sizeBytes));
  };
  const passDelta = ({ batches, segments, sentBytes: bytes }: ForeseenDelta) => {
    if (source.kind === 'remote') {
      receivedBytes += bytes;
      // Open it, sign its segments, read, and check whether it changed meanwhile.
      at.source.reads += 2 + segments + batches;
    }
    if (destination.kind === 'remote') {
      sentBytes += bytes;
      at.destination.reads += segments;
      // Open it, begin, write, complete.
      at.destination.writes += 3 + batches;
    }
  };
  return {
    copies({ sizeBytes, special }, delta) {
      if (delta) return passDelta(delta);
      // A local folder takes no requests.
      if (special && destination.kind === 'local') return;
      if (staysInside) {
        at.destination.writes +=
          sizeBytes <= COPY_BYTES_MAX ? 1 : 2 + Math.ceil(sizeBytes / (COPY_BYTES_MAX / 10));
        return;
      }
      // The listing is all there is to read of a link or an empty folder.
      if (source.kind === 'remote' && !special) receive(sizeBytes);
      if (destination.kind === 'remote') send(sizeBytes);
    },
    touches() {
      if (destination.kind !== 'remote') return;
      // An object is copied onto itself, and needs a HEAD before.
      if (!destination.store.files) at.destination.reads += 1;
      at.destination.writes += 1;
    },
    setsFolders(count) {
      if (count === 0) return;
      if (source.kind === 'remote') at.source.reads += 1;
      if (destination.kind === 'remote') at.destination.writes += 1;
    },
    totals(deleted) {
      const deletes = destination.kind === 'remote' ? Math.ceil(deleted / DELETED_AT_ONCE) : 0;
      const none = { lists: 0, deletes: 0 };
      const reads = at.source.reads + at.destination.reads + batchesOf(batched.source);
      const writes = at.source.writes + at.destination.writes + batchesOf(batched.destination);
      const price = (side: TreeSide, counts: Parameters<typeof dollarsFor>[1]) =>
        side.kind === 'remote' ? dollarsFor(side.store.provider, counts) : 0;
      const dollars =
        price(source, { ...at.source, ...none }) +
        price(destination, { ...at.destination, ...none, deletes });
      return {
        reads,
        writes,
        lists: 0,
        deletes,
        total: reads + writes + deletes,
        sentBytes,
        receivedBytes,
        dollars,
      };
    },
  };
}

function batchesOf({ bytes, files }: { readonly files: number; readonly bytes: number }): number {
  return Math.max(Math.ceil(files / BATCH_FILES), Math.ceil(bytes / BATCH_BYTES));
}
