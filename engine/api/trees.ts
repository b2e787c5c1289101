/** What hosts ask of the engine for plain trees: copy, sync, check and the rest. Isomorphic and JSON-safe, like `jobs.ts`. */
import type { ErrorCode } from './error.ts';
import type { ConnectionFlags, RequestTotals } from './jobs.ts';

/**
 * A place: a local path, a URL (`s3://...`, `file:///...`), `NAME:PREFIX` of a named remote, or `-` for standard input or output.
 * For S3, a place that ends in `/` or names a bucket is a folder; any other may be an object or a folder, and is looked up.
 */
export interface PlaceRequest {
  readonly place: string;
  /** Flags of this side alone (`--source-endpoint`, `--dest-profile` ...); they win over the command's. */
  readonly connection?: ConnectionFlags;
}

/** One rule of a filter; the first one whose pattern matches decides. The syntax is in `model/tree-filter.ts`. */
export interface FilterRule {
  readonly action: 'include' | 'exclude';
  readonly pattern: string;
}

export interface TreeFilterRequest {
  /** The first that matches decides; what none matches is taken. An include must not end in `/`. */
  readonly rules?: readonly FilterRule[];
  /** These paths and no others, relative to the source. No listing is needed then. */
  readonly filesFrom?: readonly string[];
  readonly minSizeBytes?: number;
  readonly maxSizeBytes?: number;
  /**
   * Modified at or after, and at or before; ms since the epoch. An object's time is its `mtime` metadata,
   * which takes a HEAD.
   */
  readonly newerThanMs?: number;
  readonly olderThanMs?: number;
  /** Judge an object's age by the time of its upload, which the listing tells. */
  readonly serverTime?: boolean;
}

export type CompareMode = 'sizeAndTime' | 'checksum' | 'sizeOnly';

export interface TreePairRequest {
  readonly source: PlaceRequest;
  readonly destination: PlaceRequest;
  /** Default `sizeAndTime`. */
  readonly compare?: CompareMode;
  readonly filter?: TreeFilterRequest;
  /** Do not trust what the index remembers of this pair. */
  readonly noIndex?: boolean;
}

export interface CopyRequest extends TreePairRequest {
  readonly dryRun?: boolean;
  /** Leave alone what is newer at the destination. */
  readonly update?: boolean;
  /** Do not look at the destination: send everything. */
  readonly noCheckDestination?: boolean;
  /** Do not look afterwards whether the store has kept the objects. */
  readonly noConfirm?: boolean;
  /** Never change what is there: a file that differs is an error of that file. */
  readonly immutable?: boolean;
  /** Where what would be overwritten or deleted goes first: a folder on the destination's own store or file system, outside of it. */
  readonly backupDirectory?: PlaceRequest;
  /** User metadata for every object written. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly storageClass?: string;
  /** For every object; default: guessed from the name, or for copies between stores the source's. */
  readonly contentType?: string;
  readonly partSizeBytes?: number;
  /** Copy unchanged ranges of large objects inside the store; between machines, send only the blocks of a large file that differ. Default true. */
  readonly delta?: boolean;
  /** Keep symbolic links as `NAME.rclonelink` objects; without it they are left out with a warning. */
  readonly links?: boolean;
  /** Set-uid, set-gid and sticky bits travel with the other permissions, where those do. */
  readonly specialModes?: boolean;
}

export interface SyncRequest extends CopyRequest {
  /** Stop before deleting more. Default: 50 percent of the destination's files, and 100 files in any case, but no repository of Dray. */
  readonly maxDelete?: { readonly files: number } | { readonly percent: number };
}

export interface CheckTreesRequest extends TreePairRequest {
  /** Read both sides whole instead of asking the stores for their checksums. */
  readonly download?: boolean;
  /** Symbolic links of a local folder are files `NAME.rclonelink` whose content is their target, as a copy with `links` keeps them. */
  readonly links?: boolean;
  /** Only what the source has: extra files at the destination are no difference. */
  readonly oneWay?: boolean;
  /** A local file for the full report, JSON; engine/jobs/trees/README.md has its form. */
  readonly reportPath?: string;
}

export interface TransferSummary {
  readonly result: 'copied' | 'upToDate' | 'wouldCopy';
  readonly source: string;
  readonly destination: string;
  /** Files of the source that the filter let through. */
  readonly files: number;
  readonly bytes: number;
  /** Files written at the destination (in a dry run: that would be), new and changed together. */
  readonly copiedFiles: number;
  readonly copiedBytes: number;
  /** Of these, copied inside the store: no bytes travelled. */
  readonly copiedInStore: number;
  /** Only the modification time was set. */
  readonly touchedFiles: number;
  /** Folders whose own time or mode was set, and not for the sake of what was written in them. */
  readonly touchedFolders: number;
  readonly deletedFiles: number;
  readonly unchangedFiles: number;
  /** Left alone by a rule: newer at the destination, a link, an unsafe name that was told of. */
  readonly skippedFiles: number;
  readonly failed: number;
  /** Bytes over the wire that carried content, both ways. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly requests: RequestTotals;
  /** In a dry run: the run itself would stop with this error. A warning says why. */
  readonly wouldStop?: ErrorCode;
  /** In a dry run: what the run itself would take, beyond the requests that planning took. */
  readonly forecast?: RequestTotals;
}

export interface CheckTreesSummary {
  readonly source: string;
  readonly destination: string;
  readonly files: number;
  readonly same: number;
  readonly differing: number;
  readonly onlyInSource: number;
  readonly onlyInDestination: number;
  /** Could be compared by size alone: nothing on the store vouches for the content. */
  readonly uncertain: number;
  readonly failed: number;
  readonly readBytes: number;
  readonly requests: RequestTotals;
}

export interface ListPlaceRequest extends PlaceRequest {
  /** Tell the time of each object's content, not of its upload: a HEAD for each object. */
  readonly withTimes?: boolean;
  readonly recursive?: boolean;
  readonly filter?: TreeFilterRequest;
}
export interface ListPlaceSummary {
  readonly place: string;
  readonly entries: number;
  readonly bytes: number;
  /** Folders and names of a local place that could not be read. */
  readonly failed: number;
  readonly requests: RequestTotals;
}

export interface RemovePlaceRequest extends PlaceRequest {
  /** Needed to remove more than one object. */
  readonly recursive?: boolean;
  readonly dryRun?: boolean;
  readonly filter?: TreeFilterRequest;
}
export interface RemovePlaceSummary {
  /** In a dry run: the run itself would stop with this error. A warning says why. */
  readonly wouldStop?: ErrorCode;
  readonly place: string;
  readonly removed: number;
  readonly bytes: number;
  readonly failed: number;
  readonly requests: RequestTotals;
}

export interface ReadPlaceRequest extends PlaceRequest {
  /** The first bytes alone, or those from an offset. */
  readonly offsetBytes?: number;
  readonly lengthBytes?: number;
}
export interface ReadPlaceSummary {
  readonly bytes: number;
  readonly requests: RequestTotals;
}

export interface UsageRequest extends PlaceRequest {
  /** How many levels of folders are told of. Default 1. */
  readonly depth?: number;
  readonly filter?: TreeFilterRequest;
}
export interface UsageSummary {
  readonly place: string;
  readonly files: number;
  readonly bytes: number;
  readonly failed: number;
  readonly requests: RequestTotals;
}

export interface UploadsRequest extends PlaceRequest {
  /** Remove them; `olderThanMs`: only those that began before this time. */
  readonly abort?: boolean;
  readonly olderThanMs?: number;
}
export interface UploadsSummary {
  readonly place: string;
  readonly uploads: number;
  readonly aborted: number;
  readonly requests: RequestTotals;
}
