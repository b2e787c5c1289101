/**
 * `dray copy - PLACE` and `dray copy PLACE -`: one object or file from standard input or to standard output.
 */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { CopyRequest, TransferSummary } from '../../api/jobs/trees.ts';
import { systemClock } from '../../base/clock.ts';
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import { writeStreamToFile } from '../../files/disk/stream-to-file.ts';
import type { Meter } from '../../remotes/wrappers/with-meter.ts';
import { uploadStream } from '../../transfer/upload/upload-object.ts';
import { readPlace } from '../one-place/read-place.ts';
import { checkReplaceable, nameOfPlace, openPlace, parsePlace } from '../places/places.ts';
import { refuseRepositoryAbove } from '../places/repository-guard.ts';
import { addTotals } from '../session/traffic.ts';
import { loadContentTypes } from './move/object-content-type.ts';
import { describeFile } from './move/object-description.ts';

export function isStream({ destination, source }: Pick<CopyRequest, 'destination' | 'source'>): boolean {
  return source.place === '-' || destination.place === '-';
}

export async function copyStream(context: JobContext, request: CopyRequest): Promise<TransferSummary> {
  const { destination, source } = request;
  if (request.dryRun)
    throw new DrayError('usage', '--dry-run cannot be used with "-": a stream can be read only once.');
  const { backupDirectory, immutable, update } = request;
  if (backupDirectory || immutable || update)
    throw new DrayError(
      'usage',
      '--backup-dir, --immutable and --update cannot be used when the source is "-".',
    );
  if (source.place === '-' && destination.place === '-')
    throw new DrayError('usage', 'Only one side can be "-".');
  return source.place === '-' ? fromInput(context, request) : toOutput(context, request);
}

async function toOutput(context: JobContext, request: CopyRequest): Promise<TransferSummary> {
  const write = context.standardOutput;
  if (!write) throw new DrayError('usage', 'There is no standard output to copy to.');
  const { bytes, requests } = await readPlace(context, request.source, write);
  return summary(request, { bytes, requests, received: bytes, sent: 0 });
}

async function fromInput(context: JobContext, request: CopyRequest): Promise<TransferSummary> {
  const input = context.standardInput;
  const place = parsePlace(context, request.destination);
  if (!input) throw new DrayError('usage', 'There is no standard input to copy from.');
  if (place.kind === 'stdio' || place.isFolderForm) {
    const message = `Standard input becomes one object or file, and "${place.text}" does not name one. Name it, as in s3://BUCKET/NAME.`;
    throw new DrayError('usage', message);
  }
  if (place.kind === 'local') {
    checkReplaceable(place);
    await refuseRepositoryAbove(context, place, { allowed: request.allowRepositories, meters: [] });
    const bytes = await writeStreamToFile(input, place.path, context.signal);
    return summary(request, { bytes, requests: addTotals([]), sent: 0, received: 0 });
  }
  const meters: Meter[] = [];
  await Promise.all([
    loadContentTypes(),
    loadCrc64(),
    refuseRepositoryAbove(context, place, { allowed: request.allowRepositories, meters }),
  ]);
  await using remote = await openPlace(context, place, { at: 'parent' });
  const { meter, store } = remote;
  const key = nameOfPlace(place);
  const mtimeNs = BigInt(systemClock.nowMs()) * 1_000_000n;
  const { sizeBytes } = await uploadStream({
    store,
    key,
    body: input,
    description: describeFile(request, { path: key, mtimeNs }),
    ...(request.partSizeBytes === undefined ? {} : { partSizeBytes: request.partSizeBytes }),
    signal: context.signal,
  });
  return summary(request, {
    bytes: sizeBytes,
    requests: addTotals([meter, ...meters]),
    sent: sizeBytes,
    received: 0,
  });
}

function summary(
  { destination, source }: CopyRequest,
  {
    bytes,
    received,
    requests,
    sent,
  }: {
    readonly bytes: number;
    readonly received: number;
    readonly sent: number;
    readonly requests: TransferSummary['requests'];
  },
): TransferSummary {
  return {
    result: 'copied',
    source: source.place,
    destination: destination.place,
    files: 1,
    bytes,
    copiedFiles: 1,
    copiedBytes: bytes,
    copiedInStore: 0,
    touchedFiles: 0,
    touchedFolders: 0,
    deletedFiles: 0,
    unchangedFiles: 0,
    skippedFiles: 0,
    failed: 0,
    sentBytes: sent,
    receivedBytes: received,
    requests,
  };
}
