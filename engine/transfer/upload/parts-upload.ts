/** The request and the result of an upload in parts. */
import type {
  ObjectDescription,
  ObjectStore,
  PutOptions,
  PutOutcome,
  RemoteKey,
} from '../../remotes/object-store.ts';
import type { JoinedChecksumKind } from '../compare/part-sums.ts';
import type { PreviousObject } from '../delta/store-delta.ts';
import type { AdaptiveLimit } from '../limit/adaptive-limit.ts';
import type { ConfirmedBy } from './confirm-object.ts';
import type { ObjectSource, PartMemory } from './object-source.ts';
import type { UploadJournal } from './upload-journal.ts';

export interface PartsUpload {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** `sizeBytes` is at least 1: an empty object has no parts. Stays open. */
  readonly source: ObjectSource;
  readonly description?: ObjectDescription;
  readonly checksum: JoinedChecksumKind;
  /**
   * A preference: a resumed upload keeps its size, a delta keeps that of the object it replaces, and 10,000
   * parts must suffice (or parts as large as the store accepts). S3 needs at least 5 MiB. Default 8 MiB, from
   * 512 MiB on 16 MiB.
   */
  readonly partSizeBytes?: number;
  /** Limits requests to `store`. */
  readonly limit: AdaptiveLimit;
  /** Bounds the bytes of parts in memory. Its largest span must hold a part (`PART_SIZE_MAX_BYTES`). */
  readonly memory: PartMemory;
  readonly journal: UploadJournal;
  readonly condition?: NonNullable<PutOptions['condition']>;
  /** Its unchanged parts are copied inside the store. */
  readonly previous?: PreviousObject;
  /**
   * Called when every part is sent, before the source is checked for changes; an `io` error of either aborts
   * the upload.
   */
  readonly beforeComplete?: () => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Reports how many more bytes are at the store; negative when some turned out to be wrong. */
  readonly onProgress?: (bytes: number) => void;
  /** Reports bytes that an earlier attempt had sent. Absent: they are reported as progress. */
  readonly onKept?: (bytes: number) => void;
}

export interface UploadedObject {
  /** `written: false` when the condition did not hold. */
  readonly outcome: PutOutcome;
  /** The etag of the confirmed object; '' when the store returns none, or nothing was written. */
  readonly etag: string;
  readonly confirmedBy?: ConfirmedBy;
  readonly sentParts: number;
  readonly sentBytes: number;
  /** Parts that an earlier attempt had sent. */
  readonly keptParts: number;
  /** Parts that the store copied from `previous`. */
  readonly copiedParts: number;
  /** CRC64NVME of each part, in order, for the delta of the next upload. Empty with `checksum: 'crc32'`. */
  readonly blocks: { readonly blockBytes: number; readonly sums: readonly bigint[] };
  /** The sum of the whole content, with `checksum: 'crc64nvme'`. */
  readonly crc64nvme?: bigint;
}
