/**
 * One multipart upload that many workers share. `dray copy` keeps the row of an upload in the local journal;
 * a job keeps it in a document, and the checksums of the sent parts in further documents.
 *
 *     large/PART-N/upload.json             the row
 *     large/PART-N/sums-FROM-TO.json       the parts of one `moveLargePieces`
 */
import * as v from 'valibot';
import type { LargeRequest } from '../../../api/jobs/fleet.ts';
import type { ObjectStore, PartInfo } from '../../../remotes/object-store.ts';
import { wrapStore } from '../../../remotes/wrappers/wrap-store.ts';
import type { JournaledUpload, UploadJournal } from '../../../transfer/upload/upload-journal.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { partName } from '../fleet-part.ts';

const row = v.object({
  uploadId: v.string(),
  partSizeBytes: v.number(),
  token: v.string(),
  /** The size of the whole object. */
  sizeBytes: v.number(),
});
export type LargeRow = v.InferOutput<typeof row>;

const sums = v.array(v.object({ number: v.number(), etag: v.string(), crc64nvme: v.string() }));

function folderOf(request: LargeRequest): string {
  return `large/${partName(request)}-${request.large}/`;
}

export function readRow(folder: FleetFolder, request: LargeRequest): Promise<LargeRow | undefined> {
  return folder.read(`${folderOf(request)}upload.json`, row);
}

export function writeRow(folder: FleetFolder, request: LargeRequest, value: LargeRow): Promise<void> {
  return folder.write(`${folderOf(request)}upload.json`, value);
}

export async function writeSums(
  folder: FleetFolder,
  request: LargeRequest & { readonly from: number; readonly to: number },
  parts: readonly { readonly number: number; readonly etag: string; readonly crc64nvme: bigint }[],
): Promise<void> {
  const written = parts.map(({ crc64nvme, etag, number }) => ({ number, etag, crc64nvme: `${crc64nvme}` }));
  await folder.write(`${folderOf(request)}sums-${request.from}-${request.to}.json`, written);
}

/** Removes the row and the sums, so that the object begins anew. */
export async function forgetLarge(folder: FleetFolder, request: LargeRequest): Promise<void> {
  await folder.removeBelow(folderOf(request));
}

/**
 * The store, whose lists of parts also have the checksums that the workers noted. Without them a store that
 * does not report the checksums of parts would make the last step read the whole object again.
 */
export async function withNotedSums(
  store: ObjectStore,
  folder: FleetFolder,
  request: LargeRequest,
): Promise<ObjectStore> {
  const noted = new Map<string, bigint>();
  for (const name of await folder.names(`${folderOf(request)}sums-`))
    for (const { crc64nvme, etag, number } of (await folder.read(name, sums)) ?? [])
      noted.set(`${number} ${etag}`, BigInt(crc64nvme));
  const plain = wrapStore(store, (_name, _signal, send) => send());
  const { multipart } = plain;
  if (!multipart) return store;
  const withSum = (part: PartInfo): PartInfo => {
    const crc64nvme = part.crc64nvme ?? noted.get(`${part.number} ${part.etag}`);
    return crc64nvme === undefined ? part : { ...part, crc64nvme };
  };
  return {
    ...plain,
    multipart: {
      ...multipart,
      listParts: async (upload, call) => (await multipart.listParts(upload, call)).map(withSum),
    },
  };
}

/** A journal of one upload in memory: the caller reads and writes the row around it. */
export function journalOf(
  known: LargeRow | undefined,
): UploadJournal & { current(): JournaledUpload | undefined } {
  let current: JournaledUpload | undefined = known;
  return {
    current: () => current,
    load: () => current,
    save: (_key, upload) => {
      current = upload;
    },
    forget: () => {
      current = undefined;
    },
  };
}
