/**
 * Uploads to a peer in parts: each part is a range of the file, so their size is fixed when the upload
 * begins. The peer forgets an upload's number when it restarts, but keeps the received ranges. So an upload's
 * id, which callers save, contains everything that it was begun with: with it the upload can be begun again,
 * and the peer returns the ranges that it has.
 */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import { formatCrc64 } from '../../checksums/crc64-nvme.ts';
import { PEER_LIMITS } from '../../peer-protocol/messages.ts';
import type {
  CallOptions,
  MultipartStore,
  MultipartUpload,
  ObjectDescription,
  PartInfo,
  PutOptions,
} from '../object-store.ts';
import { putStreamInParts } from '../stream-in-parts.ts';
import { streamPartBytes } from '../stream-part-size.ts';
import type { PeerClient } from './peer-client.ts';
import {
  type BeginUpload,
  beginPeerUpload,
  completePeerUpload,
  discardPeerUpload,
  type PeerUpload,
  putPeerRange,
} from './peer-files.ts';

export interface FileMetaOfObject {
  readonly mtimeNs: bigint;
  readonly mode?: number;
}

const Uploaded = v.object({
  received: v.array(v.tuple([v.number(), v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)), v.number()])),
});

/** The form in an upload's id. */
const Started = v.strictObject({
  path: v.string(),
  sizeBytes: v.optional(v.number()),
  mtimeNs: v.pipe(v.string(), v.regex(/^-?\d{1,20}$/)),
  mode: v.optional(v.number()),
  content: v.string(),
  rangeBytes: v.number(),
});
type Started = v.InferOutput<typeof Started>;

export function createPeerMultipart(
  client: PeerClient,
  pathOf: (key: string) => string,
  metaOf: (description: ObjectDescription) => FileMetaOfObject,
): MultipartStore {
  const never = new AbortController().signal;
  const signalOf = (options: CallOptions = {}) => options.signal ?? never;
  /** By id: the uploads that this client uses. */
  const uploads = new Map<string, Promise<PeerUpload>>();

  const startedOf = (upload: MultipartUpload): Started => {
    const started = parseId(upload.uploadId);
    if (started?.path !== pathOf(upload.key)) throw absent(upload);
    return started;
  };

  const begin = (uploadId: string, started: Started, resume: boolean, signal: AbortSignal) => {
    const beginning = beginPeerUpload(client, requestOf(started, resume), signal);
    uploads.set(uploadId, beginning);
    beginning.catch(() => {
      if (uploads.get(uploadId) === beginning) uploads.delete(uploadId);
    });
    return beginning;
  };

  /** Retried once if the peer was restarted meanwhile. */
  const using = async <T>(
    upload: MultipartUpload,
    { resume, signal }: { readonly resume: boolean; readonly signal: AbortSignal },
    work: (at: PeerUpload, started: Started) => Promise<T>,
  ): Promise<T> => {
    const { uploadId } = upload;
    const started = startedOf(upload);
    const known = uploads.get(uploadId);
    // An upload of unknown size does not outlive the peer's process.
    if (!known && started.sizeBytes === undefined) throw absent(upload);
    const at = await (known ?? begin(uploadId, started, resume, signal));
    try {
      return await work(at, started);
    } catch (error) {
      const isForgotten = error instanceof DrayError && error.code === 'notFound';
      if (!isForgotten || started.sizeBytes === undefined) throw error;
      const isStale = uploads.get(uploadId) === known;
      const again = isStale ? begin(uploadId, started, resume, signal) : uploads.get(uploadId);
      return await work(await (again ?? begin(uploadId, started, resume, signal)), started);
    }
  };

  return {
    putStreamBy: putStreamInParts,
    confirmsWhole: true,
    partBytesMax: PEER_LIMITS.bodyBytesMax,
    async create(key, options = {}) {
      const { mode, mtimeNs } = metaOf(options);
      const { sizeBytes } = options;
      const rangeBytes =
        options.partSizeBytes ??
        streamPartBytes(sizeBytes === undefined ? {} : { sizeBytes }, PEER_LIMITS.bodyBytesMax);
      if (rangeBytes > PEER_LIMITS.bodyBytesMax)
        throw new DrayError(
          'usage',
          `${client.address} accepts parts of at most ${PEER_LIMITS.bodyBytesMax} bytes, and these have ${rangeBytes}.`,
        );
      const started: Started = {
        path: pathOf(key),
        mtimeNs: mtimeNs.toString(),
        content: randomBytes(16).toString('hex'),
        rangeBytes,
        ...(sizeBytes === undefined ? {} : { sizeBytes }),
        ...(mode === undefined ? {} : { mode }),
      };
      const uploadId = formatId(started);
      await begin(uploadId, started, false, signalOf(options));
      return uploadId;
    },
    uploadPart(upload, number, bytes, options) {
      const signal = signalOf(options);
      return using(upload, { resume: false, signal }, async (at, { rangeBytes }) => {
        const start = (number - 1) * rangeBytes;
        const sum = await putPeerRange(client, { upload: at, start, bytes, sum: sumIn(options) }, signal);
        return partInfo(number, sum, bytes.byteLength);
      });
    },
    uploadPartCopy: () =>
      Promise.reject(new DrayError('unsupported', `${client.address} does not copy parts within itself.`)),
    listParts(upload, options) {
      const signal = signalOf(options);
      return using(upload, { resume: true, signal }, async ({ id }, { rangeBytes }) => {
        const { received } = await client.ask(`uploads/${id}/state`, {}, Uploaded, signal);
        return received
          .map(([start, sum, sizeBytes]) => partInfo(start / rangeBytes + 1, BigInt(`0x${sum}`), sizeBytes))
          .sort((a, b) => a.number - b.number);
      });
    },
    async complete(upload, parts, options: PutOptions = {}) {
      if (options.condition)
        throw new DrayError('unsupported', 'Plain files at a peer cannot be written under a condition.');
      const signal = signalOf(options);
      const crc64 = sumIn(options);
      const done = await using(upload, { resume: true, signal }, (at, started) => {
        const sizeBytes = started.sizeBytes ?? parts.reduce((total, part) => total + part.sizeBytes, 0);
        return completePeerUpload(client, at, { crc64, sizeBytes }, signal);
      });
      uploads.delete(upload.uploadId);
      return { written: true, etag: done.token, checksums: { covers: 'whole', crc64nvme: done.crc64 } };
    },
    async abort(upload, options) {
      const signal = signalOf(options);
      try {
        await using(upload, { resume: true, signal }, (at) => discardPeerUpload(client, at, signal));
      } catch (error) {
        if (!(error instanceof DrayError) || error.code !== 'notFound') throw error;
      }
      uploads.delete(upload.uploadId);
    },
    // The peer itself cleans up the rest of an upload.
    listUploads: async () => ({ uploads: [] }),
  };
}

/** A checksum from the caller is not computed again. */
function sumIn(options: { readonly checksum?: PutOptions['checksum'] } = {}): bigint | undefined {
  const { checksum } = options;
  return checksum && 'crc64nvme' in checksum ? checksum.crc64nvme : undefined;
}

function requestOf(started: Started, resume: boolean): BeginUpload {
  const { content, mode, mtimeNs, path, rangeBytes, sizeBytes } = started;
  return {
    path,
    rangeBytes,
    mtimeNs: BigInt(mtimeNs),
    ...(sizeBytes === undefined ? {} : { sizeBytes, content }),
    ...(mode === undefined ? {} : { mode }),
    ...(resume ? { resume } : {}),
  };
}

function formatId(started: Started): string {
  return Buffer.from(JSON.stringify(started)).toString('base64url');
}

function parseId(uploadId: string): Started | undefined {
  try {
    const parsed = v.safeParse(Started, JSON.parse(Buffer.from(uploadId, 'base64url').toString('utf8')));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

function partInfo(number: number, crc64nvme: bigint, sizeBytes: number): PartInfo {
  return { number, etag: formatCrc64(crc64nvme), sizeBytes, crc64nvme };
}

function absent({ key }: MultipartUpload): DrayError {
  return new DrayError('notFound', `There is no such upload of ${key}.`, { data: { key } });
}
