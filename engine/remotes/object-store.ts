/**
 * A place for objects: a flat map from keys to bytes, with S3's guarantees.
 *
 * The promises of every implementation, which the suite in `contract/` proves:
 * - Read-after-write: once `put` resolves, `head`, `get` and `list` on any client see the object.
 * - A `put` is atomic: a reader sees the old object or the new one, never a part.
 * - Every method is idempotent unless a condition says otherwise, and may be repeated after a failure.
 * - Absence and a failed condition are return values. Everything else is a `DrayError`, translated at this
 *   edge; its `retry` advice says whether the retry wrapper may repeat the call. Implementations never retry
 *   themselves.
 * - `signal` stops a call promptly with code `aborted`; an aborted `put` may or may not have happened.
 */

import type { HeldPart } from '../model/held-part.ts';
import type { Authentic } from '../sealing/sealed-content.ts';
import type { FileCalls } from './file-calls.ts';

/** Keys are relative to the remote's prefix, with `/` between parts and no leading slash. */
export type RemoteKey = string;

export interface ObjectStore {
  /** The remote's URL for people: no secrets. */
  readonly address: string;
  /** The provider's row in the price table (`model/prices.ts`), such as `aws`; `local` costs nothing. */
  readonly provider: string;
  /**
   * Where its keys are, as other stores of the same service name them, so that `copy` can use them as a
   * source. Absent: only its own keys.
   */
  readonly place?: StorePlace;

  /**
   * The store answers a write only when the object exists: folders and peers do. Absent: check for the object
   * afterwards.
   */
  readonly confirmsWrites?: true;

  /** Present if names and content on the store are sealed (`repository/encryption/with-sealing.ts`). */
  readonly sealing?: StoreSealing;

  /** Undefined if there is no such object. One request. */
  head(key: RemoteKey, options?: HeadOptions): Promise<ObjectInfo | undefined>;

  /**
   * The object, or one range of it, as a stream. Undefined if there is no such object. One request. The
   * caller must read `body` to its end or destroy it. A body that ends early fails with `unreachable`.
   */
  get(key: RemoteKey, options?: GetOptions): Promise<ObjectRead | undefined>;

  /**
   * Like `get`, whole in memory. Fails with `damaged` if the object exceeds `maxBytes` (needed: no default).
   */
  read(key: RemoteKey, options: ReadOptions): Promise<ObjectBytes | undefined>;

  /**
   * Writes one object from memory. One request, or more if a peer cannot take it in one. A large one under a
   * condition may be checked by another request if its connection broke.
   */
  put(key: RemoteKey, bytes: Uint8Array, options?: PutOptions): Promise<PutOutcome>;

  /**
   * Writes one object of unknown or large length from a stream that can be read once; multipart if the store
   * needs it.
   */
  putStream(key: RemoteKey, body: AsyncIterable<Uint8Array>, options?: PutStreamOptions): Promise<PutOutcome>;

  /** One page of keys in byte order of their UTF-8 form, after `startAfter`, below `prefix`. One request. */
  list(request: ListRequest, options?: CallOptions): Promise<ListPage>;

  /**
   * Removes objects; absent ones are not an error. One request for up to 1,000 keys if the store has bulk
   * delete; one more for each key that its answer does not mention. `ifMatch` needs a single key.
   */
  delete(keys: readonly RemoteKey[], options?: DeleteOptions): Promise<void>;

  /**
   * Copies inside the store, without the bytes travelling. Fails with `notFound` if `from` is absent, with
   * `conflict` if `ifMatch` does not hold. Without `description` the object keeps its description; with it
   * (and `from` = `to` is allowed then), content type, metadata and the rest are replaced. Above the limit of
   * one request (5 GiB on S3) it copies in parts by itself.
   */
  copy(from: CopySource, to: RemoteKey, options?: CopyOptions): Promise<PutOutcome>;

  /**
   * The store's record of the parts of a multipart object (GetObjectAttributes); undefined if it has none.
   */
  parts?(key: RemoteKey, options?: CallOptions): Promise<ObjectParts | undefined>;

  /**
   * Present if the store can keep earlier versions of its objects. A page of all versions and deletions below
   * a prefix, in byte order of their keys, the newest of each key first. One request.
   */
  versions?(request: VersionsRequest, options?: CallOptions): Promise<VersionsPage>;

  /** Multipart uploads. Undefined if the store has none (its `putStream` is then one write). */
  readonly multipart?: MultipartStore;

  /** Present if the store is another machine's folder. */
  readonly files?: FileCalls;

  /** Frees sockets and handles. Idempotent. */
  close(): Promise<void>;
}

/** How keys and sizes on the store differ from those that the callers of a sealed store use. */
export interface StoreSealing {
  /** Listings are in the order of these, and begin where they say. */
  storedKey(key: RemoteKey): RemoteKey;
  plainKey(storedKey: RemoteKey): RemoteKey;
  /** The size that a listing shows of an object of this size. */
  listedBytes(sizeBytes: number): number;
  /** With memory of this size as `into`, a read of so much content needs no other. */
  readBytesMax(sizeBytes: number): number;
  /**
   * Reads a whole object and opens only its head: who writes the content opens it (`openPieces`). Fails with
   * `damaged` if the object is truncated, or exceeds `maxBytes`.
   */
  readUnopened(key: RemoteKey, options: Omit<ReadOptions, 'range'>): Promise<UnopenedObject | undefined>;
  /** What seeds the chunker's table (`Layout.cutterKey`). */
  readonly cutterKey: string;
}

export interface UnopenedObject {
  readonly stored: Uint8Array;
  readonly object: Authentic;
  /** Of the content. */
  readonly sizeBytes: number;
}

/** Properties that wrappers pass on unchanged. */
export interface MultipartTraits {
  /** The store's `putStream` by these calls and `put` only, so that a wrapper can retry each of them. */
  readonly putStreamBy?: PutStreamBy;
  /**
   * `complete` compares the checksum of all received bytes, and returns it, so that no caller needs to ask.
   */
  readonly confirmsWhole?: boolean;
  /** The limit of a sent part; there may be more than 10,000 parts. Absent: S3's limits. */
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
   * A part taken from an object of the same store; `range` is half open. Fails as `copy` does. Begin an
   * upload with such parts without a checksum: with one, MinIO refuses them, and versitygw uses the checksum
   * of the whole source for that of a range, and so joins a wrong total. Without one, Amazon and versitygw
   * compute the CRC64NVME of the whole themselves; sent parts may still have a checksum each.
   */
  uploadPartCopy(
    upload: MultipartUpload,
    number: number,
    source: { readonly key: CopySource; readonly range?: ByteRange; readonly ifMatch?: string },
    options?: CallOptions,
  ): Promise<PartInfo>;
  /**
   * All parts, by number. Like every method here, it fails with `notFound` if the upload is unknown
   * (completed, aborted).
   */
  listParts(upload: MultipartUpload, options?: CallOptions): Promise<readonly PartInfo[]>;
  /**
   * Joins the parts by number, whatever their order here. `condition` as in `put`; if it fails, the upload
   * still exists and can be aborted.
   */
  complete(upload: MultipartUpload, parts: readonly PartInfo[], options?: PutOptions): Promise<PutOutcome>;
  /** Frees the parts. An unknown upload is not an error. */
  abort(upload: MultipartUpload, options?: CallOptions): Promise<void>;
  /** Running uploads whose key begins with `prefix`, one page of at most 1,000. One request. */
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

/** A key of this store, or of another store of the same service and credentials. */
export type CopySource = RemoteKey | { readonly bucket: string; readonly key: string };

export interface StorePlace {
  /**
   * Two stores with equal services reach each other's objects. Opaque; contains endpoint and credentials,
   * hashed.
   */
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
  /** Unsigned, if the store returns it. */
  readonly crc32?: number;
  /** Unsigned, if the store returns it. */
  readonly crc64nvme?: bigint;
}

/** The parts of a multipart object, in order, with the checksums that the store keeps of each. */
export interface ObjectParts {
  readonly etag: string;
  readonly parts: readonly Omit<PartInfo, 'etag'>[];
}

/** A store's knowledge of an object's content besides the etag. */
export interface ObjectChecksums {
  /**
   * `whole`: of the content. `ofParts`: of the parts' checksums, so it is meaningless without their
   * boundaries.
   */
  readonly covers: 'whole' | 'ofParts';
  /** Unsigned. */
  readonly crc64nvme?: bigint;
  readonly crc32?: number;
  /** Base64; with `ofParts` followed by `-` and the number of parts. */
  readonly sha256?: string;
}

/** The description of an object. */
export interface ObjectDescription {
  readonly contentType?: string;
  /** Names in lower case. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The store's name of the class, such as `STANDARD_IA`. */
  readonly storageClass?: string;
  /** Headers that S3 keeps and returns unchanged. */
  readonly cacheControl?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The reason of an error about objects that a store was asked to remove, and still has. */
export const STILL_THERE = 'stillThere';

export interface DeleteOptions extends CallOptions {
  /**
   * Fails with `conflict` unless the object has this etag. Folders, peers and Amazon compare and remove in
   * one step. Some S3 stores ignore the condition and remove the object.
   */
  readonly ifMatch?: string;
}

export interface HeadOptions extends CallOptions {
  /** Request the checksums that the store keeps. Free on S3; some stores charge or need rights for it. */
  readonly checksums?: boolean;
  /** One part of a multipart object: `sizeBytes` is then that of the part, and `partCount` is set. */
  readonly partNumber?: number;
}

export interface CopyOptions extends CallOptions {
  /** The source must still have this etag. */
  readonly ifMatch?: string;
  readonly condition?: NonNullable<PutOptions['condition']>;
  /** Replaces the description; absent: it is copied too, except `storageClass`. */
  readonly description?: ObjectDescription;
  readonly storageClass?: string;
  /** Size of the source, if known: saves a request above 5 GiB. */
  readonly sizeBytes?: number;
}

export interface CreateUploadOptions extends CallOptions, ObjectDescription {
  /** The checksum of the parts. The store joins `crc32` and `crc64nvme` to that of the whole object. */
  readonly checksum?: ChecksumKind;
  /**
   * Size of the whole, and of each part but the last: a store of files must know them beforehand. S3 ignores
   * them.
   */
  readonly sizeBytes?: number;
  readonly partSizeBytes?: number;
}

export interface GetOptions extends CallOptions {
  /** Request the checksums that the store keeps (answered for whole objects only). */
  readonly checksums?: boolean;
  /** Not empty. Cut at the object's end; one that begins at or past it fails with `damaged`. */
  readonly range?: ByteRange;
  /** The object must still have this etag; otherwise the call fails with `conflict`. */
  readonly ifMatch?: string;
  /** For `get`: memory for its body, piece by piece; the store may also use memory of its own. */
  readonly memory?: BodyMemory;
  /**
   * For `get`: a broken body resumes where it broke, while the object is unchanged (the retry wrapper does
   * it).
   */
  readonly isResumed?: boolean;
  /** This version, and not the current one. Only for a store with `versions`. */
  readonly versionId?: string;
}

/** The caller's memory for a body. Each piece of the body in it begins where `take` said. */
export interface BodyMemory {
  /**
   * Room for the next bytes; undefined while there is none. It comes back as a piece of the body, or by
   * `giveBack`.
   */
  take(): Uint8Array | undefined;
  /** Memory that was taken and not filled. */
  giveBack(piece: Uint8Array): void;
  /** Calls back once, when there is room again. */
  onRoom(listener: () => void): void;
}

export interface ReadOptions extends GetOptions {
  readonly maxBytes: number;
  /** What the last call returned was damaged, so no cache must answer. */
  readonly isAgain?: boolean;
  /**
   * The store may write the bytes here if they fit, or use its own memory, so use the answer's `bytes`. It
   * does not touch this memory after the call has ended, not even after an error.
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
   * The store computes the checksum of the received bytes and refuses (`checksumRefused`) a mismatch.
   * `sha256`: 64 lower-case hex digits (a blob's own name); `crc32`: an unsigned 32-bit number; `crc64nvme`:
   * an unsigned 64-bit one. For `complete`: that of the whole object, if the upload was created with a
   * checksum that can be joined.
   */
  readonly checksum?:
    | { readonly sha256: string }
    | { readonly crc32: number }
    | { readonly crc64nvme: bigint };
  /**
   * Write only if there is no such object (If-None-Match: *), or only over this very object (If-Match: etag).
   */
  readonly condition?: { readonly absent: true } | { readonly etag: string };
}

export interface PutStreamOptions extends PutOptions {
  /** If known, lets the store pick part sizes. */
  readonly sizeBytes?: number;
  readonly partSizeBytes?: number;
}

/** `written: false` means that the condition did not hold and nothing changed. */
export type PutOutcome =
  | {
      readonly written: true;
      /** '' if the store returned none. */
      readonly etag: string;
      /** The checksum that the store computed of the received bytes; absent if it returned none. */
      readonly checksums?: ObjectChecksums;
    }
  | { readonly written: false };

export interface ObjectInfo extends ObjectDescription {
  readonly key: RemoteKey;
  readonly sizeBytes: number;
  /** Opaque, with its quotes removed; comparable within one store only. '' if the store returns none. */
  readonly etag: string;
  readonly modifiedMs: number;
  /** If requested and kept by the store. */
  readonly checksums?: ObjectChecksums;
  readonly partCount?: number;
  /** A sparse file, whose holes need not be sent: `files.deltas` skips them. */
  readonly isSparse?: true;
  /** The store encrypts with keys that it does not own: the etag is not an MD5 then, however it looks. */
  readonly etagIsOpaque?: true;
  /** The remote's clock at the answer (Date header), if it is sent. */
  readonly remoteTimeMs?: number;
}

export interface ObjectRead {
  /** The size of `body`: of the range if one was requested. */
  readonly sizeBytes: number;
  readonly etag: string;
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
  /** Describes the whole object, even for a range. */
  readonly info: ObjectInfo;
}

export interface ObjectBytes {
  readonly bytes: Uint8Array;
  readonly etag: string;
  /** Describes the whole object, even for a range. */
  readonly info: ObjectInfo;
}

export interface ListRequest {
  /** Only keys that begin with it. Empty: all. */
  readonly prefix: string;
  /** Only keys after this one, in byte order; it need not exist. Relative to the remote, like `prefix`. */
  readonly startAfter?: RemoteKey;
  /** Fold everything after the first `/` behind `prefix` into `folders`. */
  readonly delimiter?: '/';
  /** At most this many (1 to 1,000; default 1,000). */
  readonly limit?: number;
  /** From the previous page. Excludes `startAfter`. */
  readonly continuation?: string;
}

export interface ListPage {
  readonly objects: readonly ListedObject[];
  /** With a delimiter: prefixes that end in `/`. */
  readonly folders: readonly string[];
  /** Absent on the last page. */
  readonly continuation?: string;
  /**
   * On the last page: a sentence for each entry that the store could not read. The objects there are missing.
   */
  readonly problems?: readonly string[];
  /** On the last page, of a folder of another machine: the parts of datasets that lie there. */
  readonly parts?: readonly HeldPart[];
}

export interface VersionsRequest {
  readonly prefix: string;
  /** From the previous page. */
  readonly continuation?: VersionsMarker;
}

export interface VersionsMarker {
  readonly key: RemoteKey;
  readonly versionId?: string;
}

export interface VersionsPage {
  readonly versions: readonly ListedVersion[];
  /** Absent on the last page. */
  readonly continuation?: VersionsMarker;
}

/** A version of an object, or its deletion. */
export interface ListedVersion {
  readonly key: RemoteKey;
  /** `null` for an object from before the bucket kept versions. */
  readonly versionId: string;
  /** Whether the key has this version now. */
  readonly isLatest: boolean;
  readonly modifiedMs: number;
  /** Absent: the key was deleted. */
  readonly content?: { readonly sizeBytes: number; readonly etag: string };
}

export interface ListedObject {
  readonly key: RemoteKey;
  readonly sizeBytes: number;
  /** '' if the store returns none. */
  readonly etag: string;
  readonly modifiedMs: number;
  readonly storageClass?: string;
  /**
   * Present if the store keeps the object as a file: `modifiedMs` is then the file's own time, not that of
   * the upload.
   */
  readonly isFile?: true;
}
