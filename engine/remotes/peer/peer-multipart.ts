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
import { MTIME_METADATA, parseObjectTime } from '../../model/object-time.ts';
import { PEER_LIMITS } from '../../peer-protocol/messages.ts';
import { MODE_METADATA } from '../file-calls.ts';
import type {
  CreateUploadOptions,
  MultipartStore,
  MultipartUpload,
  ObjectDescription,
  PartInfo,
  PutOptions,
} from '../object-store.ts';
import { putStreamInParts } from '../stream-in-parts.ts';
import { streamPartBytes } from '../stream-part-size.ts';
import { isNotFound } from './peer-client.ts';
import {
  type BeginUpload,
  beginPeerUpload,
  completePeerUpload,
  discardPeerUpload,
  type PeerUpload,
  putPeerRange,
} from './peer-files.ts';
import type { PeerRoot } from './peer-root.ts';

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

export function createPeerMultipart(root: PeerRoot): MultipartStore {
  const uploads = new RunningUploads(root);
  const { client, signalOf } = root;
  return {
    putStreamBy: putStreamInParts,
    confirmsWhole: true,
    partBytesMax: PEER_LIMITS.bodyBytesMax,
    async create(key, options) {
      const started = newUpload(root, key, options);
      const uploadId = formatId(started);
      await uploads.begin(uploadId, started, { resume: false, signal: signalOf(options) });
      return uploadId;
    },
    uploadPart(upload, number, bytes, options) {
      const signal = signalOf(options);
      return uploads.using(upload, { resume: false, signal }, async (at, { rangeBytes }) => {
        const start = (number - 1) * rangeBytes;
        const sum = await putPeerRange(client, { upload: at, start, bytes, sum: sumIn(options) }, signal);
        return partInfo(number, sum, bytes.byteLength);
      });
    },
    uploadPartCopy: () =>
      Promise.reject(new DrayError('unsupported', `${client.address} does not copy parts within itself.`)),
    listParts(upload, options) {
      const signal = signalOf(options);
      return uploads.using(upload, { resume: true, signal }, async ({ id }, { rangeBytes }) => {
        const { received } = await client.ask(`uploads/${id}/state`, {}, Uploaded, signal);
        return received
          .map(([start, sum, sizeBytes]) => partInfo(start / rangeBytes + 1, BigInt(`0x${sum}`), sizeBytes))
          .sort((a, b) => a.number - b.number);
      });
    },
    async complete(upload, parts, options: PutOptions = {}) {
      refuseCondition(options);
      const signal = signalOf(options);
      const crc64 = sumIn(options);
      const done = await uploads.using(upload, { resume: true, signal }, (at, started) => {
        const sizeBytes = started.sizeBytes ?? parts.reduce((total, part) => total + part.sizeBytes, 0);
        return completePeerUpload(client, at, { crc64, sizeBytes }, signal);
      });
      uploads.forget(upload);
      return { written: true, etag: done.token, checksums: { covers: 'whole', crc64nvme: done.crc64 } };
    },
    async abort(upload, options) {
      const signal = signalOf(options);
      try {
        await uploads.using(upload, { resume: true, signal }, (at) => discardPeerUpload(client, at, signal));
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      uploads.forget(upload);
    },
    // The peer itself cleans up the rest of an upload.
    listUploads: async () => ({ uploads: [] }),
  };
}

interface Beginning {
  /** Only if the peer has ranges of it. */
  readonly resume: boolean;
  readonly signal: AbortSignal;
}

/** The uploads that this client uses, by id. */
class RunningUploads {
  readonly #root: PeerRoot;
  readonly #uploads = new Map<string, Promise<PeerUpload>>();

  constructor(root: PeerRoot) {
    this.#root = root;
  }

  begin(uploadId: string, started: Started, { resume, signal }: Beginning): Promise<PeerUpload> {
    const beginning = beginPeerUpload(this.#root.client, requestOf(started, resume), signal);
    this.#uploads.set(uploadId, beginning);
    beginning.catch(() => {
      if (this.#uploads.get(uploadId) === beginning) this.#uploads.delete(uploadId);
    });
    return beginning;
  }

  /** Retries once if the peer was restarted meanwhile. */
  async using<T>(
    upload: MultipartUpload,
    how: Beginning,
    work: (at: PeerUpload, started: Started) => Promise<T>,
  ): Promise<T> {
    const { uploadId } = upload;
    const started = parseId(uploadId);
    if (started?.path !== this.#root.pathOf(upload.key)) throw absent(upload);
    const known = this.#uploads.get(uploadId);
    // An upload of unknown size does not outlive the peer's process.
    if (!known && started.sizeBytes === undefined) throw absent(upload);
    const at = await (known ?? this.begin(uploadId, started, how));
    try {
      return await work(at, started);
    } catch (error) {
      if (!isNotFound(error) || started.sizeBytes === undefined) throw error;
      const running = this.#uploads.get(uploadId);
      const again = running === known ? undefined : running;
      return await work(await (again ?? this.begin(uploadId, started, how)), started);
    }
  }

  forget({ uploadId }: MultipartUpload): void {
    this.#uploads.delete(uploadId);
  }
}

function newUpload({ client, pathOf }: PeerRoot, key: string, options: CreateUploadOptions = {}): Started {
  const { mode, mtimeNs } = fileMetaOf(options);
  const { partSizeBytes, sizeBytes } = options;
  const size = sizeBytes === undefined ? {} : { sizeBytes };
  const rangeBytes = partSizeBytes ?? streamPartBytes(size, PEER_LIMITS.bodyBytesMax);
  if (rangeBytes > PEER_LIMITS.bodyBytesMax)
    throw new DrayError(
      'usage',
      `${client.address} accepts parts of at most ${PEER_LIMITS.bodyBytesMax} bytes, and these have ${rangeBytes}.`,
    );
  return {
    path: pathOf(key),
    mtimeNs: mtimeNs.toString(),
    content: randomBytes(16).toString('hex'),
    rangeBytes,
    ...size,
    ...(mode === undefined ? {} : { mode }),
  };
}

/** The time and mode of a file, from its object's description. Without a time, it gets the current one. */
export function fileMetaOf(description: ObjectDescription): {
  readonly mtimeNs: bigint;
  readonly mode?: number;
} {
  const mode = /^[0-7]{1,4}$/.exec(description.metadata?.[MODE_METADATA] ?? '')?.[0];
  return {
    mtimeNs: mtimeIn(description) ?? BigInt(Date.now()) * 1_000_000n,
    ...(mode === undefined ? {} : { mode: Number.parseInt(mode, 8) }),
  };
}

export function mtimeIn({ metadata }: ObjectDescription): bigint | undefined {
  const text = metadata?.[MTIME_METADATA];
  return text === undefined ? undefined : parseObjectTime(text);
}

export function refuseCondition({ condition }: PutOptions): void {
  if (condition)
    throw new DrayError('unsupported', 'Plain files at a peer cannot be written under a condition.');
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
