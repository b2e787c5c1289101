/** Forecasts a copy for `--dry-run`: requests by class, bytes and money. */
import type { RequestTotals } from '../../api/jobs/jobs.ts';
import { dollarsFor } from '../../model/prices.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { WHOLE_DOWNLOAD_BYTES_MAX } from '../../transfer/download/download-object.ts';
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

/** Requests and content bytes at one end. Files that share requests are counted apart. */
interface EndTally {
  reads: number;
  writes: number;
  bytes: number;
  batchedFiles: number;
  batchedBytes: number;
}

function emptyTally(): EndTally {
  return { reads: 0, writes: 0, bytes: 0, batchedFiles: 0, batchedBytes: 0 };
}

export function createForecast({ destination, source }: Sides, partSizeBytes: number | undefined): Forecast {
  const at = { source: emptyTally(), destination: emptyTally() };
  const partBytesMax = destination.kind === 'remote' ? destination.store.multipart?.partBytesMax : undefined;
  const staysInside =
    source.kind === 'remote' &&
    destination.kind === 'remote' &&
    sharesService(source.store, destination.store);
  // Between two folders, here or at a peer, many small files share a request.
  const areBatched =
    !staysInside &&
    [source, destination].every((side) => side.kind === 'local' || side.store.files !== undefined);
  const isBatched = (sizeBytes: number) => areBatched && sizeBytes <= SENT_IN_BATCHES_BYTES_MAX;
  const batch = (end: EndTally, sizeBytes: number) => {
    end.batchedFiles += 1;
    end.batchedBytes += sizeBytes;
  };
  const send = (sizeBytes: number) => {
    at.destination.bytes += sizeBytes;
    if (isBatched(sizeBytes)) batch(at.destination, sizeBytes);
    else if (sizeBytes <= ONE_PUT_BYTES) at.destination.writes += 1;
    else {
      // Begin, parts, complete, and the check of the result.
      at.destination.writes += 2 + Math.ceil(sizeBytes / partSizeFor(sizeBytes, partSizeBytes, partBytesMax));
      at.destination.reads += 1;
    }
  };
  const receive = (sizeBytes: number) => {
    at.source.bytes += sizeBytes;
    if (isBatched(sizeBytes)) batch(at.source, sizeBytes);
    else
      at.source.reads +=
        sizeBytes <= WHOLE_DOWNLOAD_BYTES_MAX ? 1 : 1 + Math.ceil(sizeBytes / rangeBytesFor(sizeBytes));
  };
  const passDelta = ({ batches, segments, sentBytes }: ForeseenDelta) => {
    if (source.kind === 'remote') {
      at.source.bytes += sentBytes;
      // Open it, sign its segments, read, and check whether it changed meanwhile.
      at.source.reads += 2 + segments + batches;
    }
    if (destination.kind === 'remote') {
      at.destination.bytes += sentBytes;
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
    totals: (deleted) => totalsOf({ source, destination }, at, deleted),
  };
}

function totalsOf(
  sides: Sides,
  at: { readonly source: EndTally; readonly destination: EndTally },
  deleted: number,
): RequestTotals {
  const deletes = sides.destination.kind === 'remote' ? Math.ceil(deleted / DELETED_AT_ONCE) : 0;
  const reads = at.source.reads + at.destination.reads + batchesOf(at.source);
  const writes = at.source.writes + at.destination.writes + batchesOf(at.destination);
  const price = (side: TreeSide, { reads, writes }: EndTally, deletes: number) =>
    side.kind === 'remote' ? dollarsFor(side.store.provider, { reads, writes, lists: 0, deletes }) : 0;
  return {
    reads,
    writes,
    lists: 0,
    deletes,
    total: reads + writes + deletes,
    sentBytes: at.destination.bytes,
    receivedBytes: at.source.bytes,
    dollars: price(sides.source, at.source, 0) + price(sides.destination, at.destination, deletes),
  };
}

function batchesOf({ batchedBytes, batchedFiles }: EndTally): number {
  return Math.max(Math.ceil(batchedFiles / BATCH_FILES), Math.ceil(batchedBytes / BATCH_BYTES));
}
