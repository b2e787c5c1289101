/** An upload in parts: what is asked for, and what came of it. */
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
  /** `sizeBytes` at least 1: what has no bytes has no parts. Stays open. */
  readonly source: ObjectSource;
  readonly description?: ObjectDescription;
  readonly checksum: JoinedChecksumKind;
  /**
   * A wish: an upload that goes on keeps its size, a delta keeps that of the object it replaces, and 10,000 parts must do (or
   * parts as large as the store takes). S3 wants at least 5 MiB. Default 8 MiB, from 512 MiB on 16 MiB.
   */
  readonly partSizeBytes?: number;
  /** Of requests to `store`. */
  readonly limit: AdaptiveLimit;
  /** Bytes of parts at once. Its largest piece must hold a part (`PART_SIZE_MAX_BYTES`). */
  readonly memory: PartMemory;
  readonly journal: UploadJournal;
  readonly condition?: NonNullable<PutOptions['condition']>;
  /** Unchanged parts of it are copied inside the store. */
  readonly previous?: PreviousObject;
  /** Called when every part is sent, before the source is asked whether it is unchanged; an `io` error of either aborts the upload. */
  readonly beforeComplete?: () => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** So many bytes more are at the store; fewer than 0 when some turned out not to be. */
  readonly onProgress?: (bytes: number) => void;
  /** So many bytes were there already, from an earlier attempt. Absent: told as progress. */
  readonly onKept?: (bytes: number) => void;
}

export interface UploadedObject {
  /** `written: false` when the condition did not hold. */
  readonly outcome: PutOutcome;
  /** Of the object as it was confirmed; '' where the store tells none, or nothing was written. */
  readonly etag: string;
  readonly confirmedBy?: ConfirmedBy;
  readonly sentParts: number;
  readonly sentBytes: number;
  /** Parts that an earlier attempt had sent. */
  readonly keptParts: number;
  /** Parts that the store copied from `previous`. */
  readonly copiedParts: number;
  /** CRC64NVME of each part, in order, for the delta of the next upload. No sums with `checksum: 'crc32'`. */
  readonly blocks: { readonly blockBytes: number; readonly sums: readonly bigint[] };
  /** Of the whole, with `checksum: 'crc64nvme'`. */
  readonly crc64nvme?: bigint;
}
