/**
 * A place for objects: a flat map from keys to bytes, with S3's guarantees.
 *
 * What every implementation promises, and `suite.ts` proves:
 * - Read-after-write: once `put` resolves, `head`, `get` and `list` on any client see the object.
 * - A `put` is atomic: a reader sees the old object or the new one, never a part.
 * - Every method is idempotent unless a condition says otherwise, and may be repeated after a failure.
 * - Absence and a failed condition are return values. Everything else is a `DrayError`, translated at this edge;
 *   its `retry` advice says whether the retry wrapper may repeat the call. Implementations never retry themselves.
 * - `signal` stops a call promptly with code `aborted`; an aborted `put` may or may not have happened.
 */

import type { FileFace } from './file-face.ts';

/** Keys are relative to the remote's prefix, with `/` between parts and no leading slash. */
export type RemoteKey = string;

export interface ObjectStore {
  /** The remote's URL for people to read: no secrets. */
  readonly address: string;
  /** The provider's row in the price table (`model/prices.ts`), such as `aws`; `local` costs nothing. */
  readonly provider: string;
  /** Where its keys lie, as other stores of the same service name them: what `copy` can copy from. Absent: only its own keys. */
  readonly place?: StorePlace;

  /**
   * The store answers a write only when the object is there: folders and peers do. Absent: look for the
   * object afterwards.
   */
  readonly confirmsWrites?: true;

  /** Undefined when there is no such object. One request. */
  head(key: RemoteKey, options?: HeadOptions): Promise<ObjectInfo | undefined>;

  /**
   * The object, or one range of it, as a stream. Undefined when there is no such object. One request.
   * The caller must read `body` to its end or destroy it. A body that ends early fails with `unreachable`.
   */
  get(key: RemoteKey, options?: GetOptions): Promise<ObjectRead | undefined>;

  /** The same as `get`, whole in memory. Fails with `damaged` when the object exceeds `maxBytes` (needed: no default). */
  read(key: RemoteKey, options: ReadOptions): Promise<ObjectBytes | undefined>;

  /** Writes one object from memory. One request, but for more than a peer takes in one; a large one under a condition may take a look at the object when its connection broke. */
  put(key: RemoteKey, bytes: Uint8Array, options?: PutOptions): Promise<PutOutcome>;

  /** Writes one object of unknown or large length from a stream that can be read once; multipart where the store needs it. */
  putStream(key: RemoteKey, body: AsyncIterable<Uint8Array>, options?: PutStreamOptions): Promise<PutOutcome>;

  /** One page of keys in byte order of their UTF-8 form, after `startAfter`, below `prefix`. One request. */
  list(request: ListRequest, options?: CallOptions): Promise<ListPage>;

  /** Removes objects; absent ones are no error. One request for up to 1,000 keys where the store has bulk delete. */
  delete(keys: readonly RemoteKey[], options?: CallOptions): Promise<void>;

  /**
   * Copies inside the store, without the bytes travelling. Fails with `notFound` when `from` is absent, with `conflict` when
   * `ifMatch` does not hold. Without `description` the object keeps what describes it; with it (and `from` = `to` is allowed
   * then), content type, metadata and the rest become what it says. Above what one request may copy (5 GiB on S3) it goes in
   * parts by itself.
   */
  copy(from: CopySource, to: RemoteKey, options?: CopyOptions): Promise<PutOutcome>;

  /** What the store tells of the parts of a multipart object (GetObjectAttributes); undefined when it tells nothing of them. */
  parts?(key: RemoteKey, options?: CallOptions): Promise<ObjectParts | undefined>;

  /** Multipart uploads. Undefined where the store has none (its `putStream` is then one write). */
  readonly multipart?: MultipartStore;

  /** Where the store is another machine's folder. */
  readonly files?: FileFace;

  /** Frees sockets and handles. Idempotent. */
  close(): Promise<void>;
}

/** What wrappers pass on as it is (`multipart-traits.ts`). */
export interface MultipartTraits {
  /** The store's `putStream` by these calls and `put` alone, so that a wrapper can repeat each of them. */
  readonly putStreamBy?: PutStreamBy;
  /** `complete` compares the sum of all bytes that came, and answers with it when it is right: nobody needs to ask again. */
  readonly confirmsWhole?: boolean;
  /** A part that is sent may have no more, and there may be more than 10,000 of them. Absent: S3's limits. */
  readonly partBytesMax?: number;
}

export type StreamStore = Pick<ObjectStore, 'head' | 'put'> & { readonly multipart: MultipartStore };

export type PutStreamBy = (
  store: StreamStore,
  key: RemoteKey,
  body: AsyncIterable<Uint8Array>,
  options: PutStreamOptions,
) => Promise<PutOutcome>;

export interface MultipartStore extends MultipartTraits {
  create(key: RemoteKey, options?: CreateUploadOptions): Promise<UploadId>;
  /** `number` counts from 1. A part may be sent again under its number; the last one wins. */
  uploadPart(
    upload: MultipartUpload,
    number: number,
    bytes: Uint8Array,
    options?: PutOptions,
  ): Promise<PartInfo>;
  /**
   * A part taken from an object of the same store; `range` is half open. Fails as `copy` does.
   *
   * An upload that takes such parts is best begun without a checksum: in one with a checksum MinIO refuses them, and versitygw takes
   * the sum of the whole source for that of a range of it, and joins a wrong sum of the whole. Begun without, Amazon and versitygw
   * compute the CRC64NVME of the whole by themselves; parts that are sent may still come with a checksum each.
   */
  uploadPartCopy(
    upload: MultipartUpload,
    number: number,
    source: { readonly key: CopySource; readonly range?: ByteRange; readonly ifMatch?: string },
    options?: CallOptions,
  ): Promise<PartInfo>;
  /** All parts, by number. As every method here, it fails with `notFound` when the upload is unknown (completed, aborted). */
  listParts(upload: MultipartUpload, options?: CallOptions): Promise<readonly PartInfo[]>;
  /** Joins the parts by number, whatever their order here. `condition` as in `put`; when it fails, the upload is still there to abort. */
  complete(upload: MultipartUpload, parts: readonly PartInfo[], options?: PutOptions): Promise<PutOutcome>;
  /** Frees the parts. An unknown upload is no error. */
  abort(upload: MultipartUpload, options?: CallOptions): Promise<void>;
  /** Uploads under way whose key begins with `prefix`, one page of at most 1,000. One request. */
  listUploads(
    request: { readonly prefix: string; readonly continuation?: string },
    options?: CallOptions,
  ): Promise<UploadPage>;
}

export interface UploadPage {
  readonly uploads: readonly PendingUpload[];
  /** Absent on the last page. */
  readonly continuation?: string;
}
export interface PendingUpload extends MultipartUpload {
  readonly startedMs: number;
}

/** A key of this store, or one that another store of the same service and credentials holds. */
export type CopySource = RemoteKey | { readonly bucket: string; readonly key: string };

export interface StorePlace {
  /** Two stores with equal services reach each other's objects. Opaque; endpoint and credentials are in it, hashed. */
  readonly service: string;
  readonly bucket: string;
  /** '' or ending in `/`. */
  readonly keyPrefix: string;
}

export type UploadId = string;
export interface MultipartUpload {
  readonly key: RemoteKey;
  readonly uploadId: UploadId;
}
export interface PartInfo {
  readonly number: number;
  readonly etag: string;
  readonly sizeBytes: number;
  /** Base64, as the store gave or got it. */
  readonly sha256?: string;
  /** Unsigned, where the store tells it. */
  readonly crc32?: number;
  /** Unsigned, where the store tells it. */
  readonly crc64nvme?: bigint;
}

/** The parts of an object that was uploaded in parts, in order, with what sums the store keeps of each. */
export interface ObjectParts {
  readonly etag: string;
  readonly parts: readonly Omit<PartInfo, 'etag'>[];
}

/** What a store knows of an object's content beside the etag. */
export interface ObjectChecksums {
  /** `whole`: of the content. `ofParts`: of the parts' checksums, so it says nothing without knowing where they were cut. */
  readonly covers: 'whole' | 'ofParts';
  /** Unsigned. */
  readonly crc64nvme?: bigint;
  readonly crc32?: number;
  /** Base64; with `ofParts` followed by `-` and the number of parts. */
  readonly sha256?: string;
}

/** What goes with an object's content. */
export interface ObjectDescription {
  readonly contentType?: string;
  /** Names in lower case. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** As the store names its classes, such as `STANDARD_IA`. */
  readonly storageClass?: string;
  /** Headers that S3 keeps and gives back as they are. */
  readonly cacheControl?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface HeadOptions extends CallOptions {
  /** Ask for the checksums that the store keeps. Costs nothing on S3; some stores charge or need rights for it. */
  readonly checksums?: boolean;
  /** One part of a multipart object: `sizeBytes` is then that of the part, and `partCount` is told. */
  readonly partNumber?: number;
}

export interface CopyOptions extends CallOptions {
  /** The source must still be this one (etag). */
  readonly ifMatch?: string;
  readonly condition?: NonNullable<PutOptions['condition']>;
  /** Replaces what describes the object; absent: it is copied as well, but for `storageClass`. */
  readonly description?: ObjectDescription;
  readonly storageClass?: string;
  /** Of the source, when known: spares a request above 5 GiB. */
  readonly sizeBytes?: number;
}

export interface CreateUploadOptions extends CallOptions, ObjectDescription {
  /** Of the parts; `crc32` and `crc64nvme` are joined by the store to that of the whole object. */
  readonly checksum?: ChecksumKind;
  /** Of the whole, and of each part but the last: what a store of files has to know beforehand. S3 has no use for them. */
  readonly sizeBytes?: number;
  readonly partSizeBytes?: number;
}

export interface GetOptions extends CallOptions {
  /** Ask for the checksums that the store keeps (answered for whole objects only). */
  readonly checksums?: boolean;
  /** Not empty. Cut at the object's end; one that begins at or past it fails with `damaged`. */
  readonly range?: ByteRange;
  /** The object must still be this one; otherwise the call fails with `conflict`. */
  readonly ifMatch?: string;
  /** Of `get`: where its body may lie, piece by piece; the store may also use memory of its own. */
  readonly memory?: BodyMemory;
  /** Of `get`: a body that breaks is gone on with where it broke, as long as the object is this one (the retry wrapper does it). */
  readonly isResumed?: boolean;
}

/** Memory of the caller's for a body. Each piece of the body that lies there begins where `take` said. */
export interface BodyMemory {
  /** Room for the next bytes; undefined while there is none. What it gave comes back as a piece of the body, or by `giveBack`. */
  take(): Uint8Array | undefined;
  /** What was taken, and nothing came into it. */
  giveBack(piece: Uint8Array): void;
  /** Calls once, when there is room again. */
  onRoom(tell: () => void): void;
}

export interface ReadOptions extends GetOptions {
  readonly maxBytes: number;
  /**
   * Where the bytes may go, if they fit; the store may also use memory of its own, so look at the answer's `bytes`. The store leaves
   * it alone once the call has ended, in whichever way.
   */
  readonly into?: Uint8Array;
}

/** Half open: `start` included, `end` not. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export type ChecksumKind = 'sha256' | 'crc32' | 'crc64nvme';

export interface PutOptions extends CallOptions, ObjectDescription {
  /**
   * The store computes the checksum of what arrived and refuses (`checksumRefused`) when it differs.
   * `sha256`: 64 lower-case hex digits (a blob's own name); `crc32`: an unsigned 32-bit number; `crc64nvme`: an unsigned 64-bit
   * one. For `complete`: that of the whole object, where the upload was created with a checksum that is joined.
   */
  readonly checksum?:
    | { readonly sha256: string }
    | { readonly crc32: number }
    | { readonly crc64nvme: bigint };
  /** Write only if there is no such object (If-None-Match: *), or only over this very object (If-Match: etag). */
  readonly condition?: { readonly absent: true } | { readonly etag: string };
}

export interface PutStreamOptions extends PutOptions {
  /** When known, lets the store pick part sizes. */
  readonly sizeBytes?: number;
  readonly partSizeBytes?: number;
}

/** `written: false` means that the condition did not hold and nothing changed. */
export type PutOutcome =
  | {
      readonly written: true;
      /** '' where the store told none. */
      readonly etag: string;
      /** What the store says that it computed of what arrived; absent where it says nothing. */
      readonly checksums?: ObjectChecksums;
    }
  | { readonly written: false };

export interface ObjectInfo extends ObjectDescription {
  readonly key: RemoteKey;
  readonly sizeBytes: number;
  /** Opaque, with its quotes removed; comparable within one store only. '' where the store tells none. */
  readonly etag: string;
  readonly modifiedMs: number;
  /** Where they were asked for and the store keeps some. */
  readonly checksums?: ObjectChecksums;
  readonly partCount?: number;
  /** A file with holes, which need not be sent: `files.deltas` leaves them out. */
  readonly isSparse?: true;
  /** The store says that it encrypts with keys that it does not own: the etag is no MD5 then, however it looks. */
  readonly etagIsOpaque?: true;
  /** The remote's clock at the answer (Date header), where it tells. */
  readonly remoteTimeMs?: number;
}

export interface ObjectRead {
  /** The size of `body`: of the range when one was asked for. */
  readonly sizeBytes: number;
  readonly etag: string;
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
  /** Of the whole object, though a range of it was asked for. */
  readonly info: ObjectInfo;
}

export interface ObjectBytes {
  readonly bytes: Uint8Array;
  readonly etag: string;
  /** Of the whole object, though a range of it was asked for. */
  readonly info: ObjectInfo;
}

export interface ListRequest {
  /** Only keys that begin with it. Empty: all. */
  readonly prefix: string;
  /** Only keys after this one, in byte order; it need not exist. Relative to the remote, like `prefix`. */
  readonly startAfter?: RemoteKey;
  /** Fold what follows the first `/` after `prefix` into `folders`. */
  readonly delimiter?: '/';
  /** At most so many (1 to 1,000; default 1,000). */
  readonly limit?: number;
  /** From the page before. Excludes `startAfter`. */
  readonly continuation?: string;
}

export interface ListPage {
  readonly objects: readonly ListedObject[];
  /** With a delimiter: prefixes that end in `/`. */
  readonly folders: readonly string[];
  /** Absent on the last page. */
  readonly continuation?: string;
  /** On the last page: what the store could not read, a sentence for each. The objects that lie there are missing. */
  readonly problems?: readonly string[];
}

export interface ListedObject {
  readonly key: RemoteKey;
  readonly sizeBytes: number;
  /** '' where the store tells none. */
  readonly etag: string;
  readonly modifiedMs: number;
  readonly storageClass?: string;
  /** Of the file that the object is, where the store keeps files: `modifiedMs` is then its own time and not that of the upload. */
  readonly isFile?: true;
}
