/** Multipart uploads of the memory store. */
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import { resolveRange } from './byte-range.ts';
import { checkKey } from './object-key.ts';
import type {
  MultipartStore,
  MultipartUpload,
  PartInfo,
  PutOptions,
  PutOutcome,
  RemoteKey,
} from './object-store.ts';
import { partChecksum, receiveChecksum } from './received-checksum.ts';

interface Part extends PartInfo {
  readonly bytes: Uint8Array;
}

interface Parent {
  readonly partSizeMinBytes: number;
  write(key: RemoteKey, bytes: Uint8Array, put: PutOptions): PutOutcome;
  find(key: RemoteKey): Uint8Array | undefined;
}

export function createMemoryMultipart(parent: Parent): MultipartStore {
  const uploads = new Map<string, { readonly key: RemoteKey; readonly parts: Map<number, Part> }>();
  let created = 0;
  let sent = 0;

  const partsOf = (upload: MultipartUpload, signal: AbortSignal | undefined): Map<number, Part> => {
    checkAborted(signal);
    const found = uploads.get(upload.uploadId);
    if (found?.key === upload.key) return found.parts;
    throw new DrayError('notFound', `There is no upload ${upload.uploadId} of ${upload.key}.`, {
      data: { key: upload.key, uploadId: upload.uploadId },
    });
  };
  const keep = (
    parts: Map<number, Part>,
    number: number,
    bytes: Uint8Array,
    claimed?: PutOptions['checksum'],
  ): PartInfo => {
    sent += 1;
    const info = { number, etag: `p${sent}`, sizeBytes: bytes.byteLength, ...partChecksum(claimed) };
    parts.set(number, { ...info, bytes });
    return info;
  };

  return {
    async create(key, options) {
      checkAborted(options?.signal);
      checkKey(key);
      created += 1;
      uploads.set(`u${created}`, { key, parts: new Map() });
      return `u${created}`;
    },
    async uploadPart(upload, number, bytes, options = {}) {
      const parts = partsOf(upload, options.signal);
      const copy = bytes.slice();
      const checksum = receiveChecksum(options.checksum);
      checksum.update(copy);
      checksum.verify(upload.key);
      return keep(parts, number, copy, options.checksum);
    },
    async uploadPartCopy(upload, number, source, options) {
      const parts = partsOf(upload, options?.signal);
      const bytes = parent.find(source.key);
      if (!bytes)
        throw new DrayError('notFound', `There is no ${source.key} to copy.`, { data: { key: source.key } });
      const { start, end } = resolveRange(source.key, bytes.byteLength, source.range);
      return keep(parts, number, bytes.subarray(start, end));
    },
    async listParts(upload, options) {
      const parts = [...partsOf(upload, options?.signal).values()];
      return parts.sort((a, b) => a.number - b.number).map(({ bytes: _, ...info }) => info);
    },
    async complete(upload, parts, options = {}) {
      const held = partsOf(upload, options.signal);
      const chosen = [...parts].sort((a, b) => a.number - b.number);
      const pieces = chosen.map((part, at) => {
        const piece = held.get(part.number);
        if (!piece || piece.etag !== part.etag) throw invalidPart(upload, part.number, 'is not the one held');
        const isLast = at === chosen.length - 1;
        if (!isLast && piece.sizeBytes < parent.partSizeMinBytes) {
          throw invalidPart(upload, part.number, 'is too small for a part that is not the last');
        }
        return piece.bytes;
      });
      if (pieces.length === 0) throw invalidPart(upload, 1, 'is missing');
      const outcome = parent.write(upload.key, new Uint8Array(Buffer.concat(pieces)), options);
      if (outcome.written) uploads.delete(upload.uploadId);
      return outcome;
    },
    async abort(upload, options) {
      checkAborted(options?.signal);
      uploads.delete(upload.uploadId);
    },
  };
}

function invalidPart(upload: MultipartUpload, number: number, fault: string): DrayError {
  return new DrayError('notFound', `Part ${number} of the upload of ${upload.key} ${fault}.`, {
    data: { key: upload.key, part: number },
  });
}
