/** Uploads to a peer in parts: each part is a range of the file, so their size is fixed when the upload begins. */
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import type {
  CallOptions,
  MultipartStore,
  MultipartUpload,
  ObjectDescription,
  PartInfo,
  PutOptions,
} from '../object-store.ts';
import type { PeerClient } from './peer-client.ts';
import type { FileMetaOfObject } from './peer-file-store.ts';
import { beginPeerUpload, completePeerUpload, discardPeerUpload, putPeerRange } from './peer-files.ts';

const Uploaded = v.object({
  path: v.string(),
  sizeBytes: v.number(),
  rangeBytes: v.number(),
  received: v.array(v.tuple([v.number(), v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))])),
});

export function createPeerMultipart(
  client: PeerClient,
  pathOf: (key: string) => string,
  metaOf: (description: ObjectDescription) => FileMetaOfObject,
): MultipartStore {
  const never = new AbortController().signal;
  const signalOf = (options: CallOptions = {}) => options.signal ?? never;
  /** By upload, for those that this client began or asked about. */
  const partSizes = new Map<string, number>();

  const ask = async (upload: MultipartUpload, signal: AbortSignal) => {
    const state = await client.ask(`uploads/${upload.uploadId}/state`, {}, Uploaded, signal);
    if (state.path !== pathOf(upload.key)) throw absent(upload);
    partSizes.set(upload.uploadId, state.rangeBytes);
    return state;
  };
  const partSizeOf = async (upload: MultipartUpload, signal: AbortSignal) =>
    partSizes.get(upload.uploadId) ?? (await ask(upload, signal)).rangeBytes;
  const idOf = ({ uploadId }: MultipartUpload) => ({ id: uploadId, received: new Set<number>() });

  return {
    async create(key, options = {}) {
      const { partSizeBytes, sizeBytes } = options;
      if (sizeBytes === undefined || partSizeBytes === undefined)
        throw new DrayError(
          'unsupported',
          `${client.address} has to know the size of what is sent in parts.`,
        );
      const upload = await beginPeerUpload(
        client,
        { path: pathOf(key), sizeBytes, rangeBytes: partSizeBytes, ...metaOf(options) },
        signalOf(options),
      );
      partSizes.set(upload.id, partSizeBytes);
      return upload.id;
    },
    async uploadPart(upload, number, bytes, options) {
      const start = (number - 1) * (await partSizeOf(upload, signalOf(options)));
      const sum = await putPeerRange(client, { upload: idOf(upload), start, bytes }, signalOf(options));
      return partInfo(number, sum, bytes.byteLength);
    },
    uploadPartCopy: () =>
      Promise.reject(new DrayError('unsupported', `${client.address} does not copy parts within itself.`)),
    async listParts(upload, options) {
      const { rangeBytes, received, sizeBytes } = await ask(upload, signalOf(options));
      return received
        .map(([start, sum]) =>
          partInfo(start / rangeBytes + 1, BigInt(`0x${sum}`), Math.min(rangeBytes, sizeBytes - start)),
        )
        .sort((a, b) => a.number - b.number);
    },
    async complete(upload, _parts, options: PutOptions = {}) {
      if (options.condition)
        throw new DrayError('unsupported', 'Plain files at a peer cannot be written under a condition.');
      const { checksum } = options;
      const crc64 = checksum && 'crc64nvme' in checksum ? checksum.crc64nvme : undefined;
      const done = await completePeerUpload(client, idOf(upload), crc64, signalOf(options));
      partSizes.delete(upload.uploadId);
      return { written: true, etag: done.token, checksums: { covers: 'whole', crc64nvme: done.crc64 } };
    },
    async abort(upload, options) {
      partSizes.delete(upload.uploadId);
      await discardPeerUpload(client, idOf(upload), signalOf(options));
    },
    // What is left of an upload is the peer's own business: it sweeps it.
    listUploads: async () => ({ uploads: [] }),
  };
}

function partInfo(number: number, crc64nvme: bigint, sizeBytes: number): PartInfo {
  return { number, etag: crc64nvme.toString(16).padStart(16, '0'), sizeBytes, crc64nvme };
}

function absent({ key, uploadId }: MultipartUpload): DrayError {
  return new DrayError('notFound', `There is no upload ${uploadId} of ${key}.`, { data: { key } });
}
