/**
 * Requests and summaries of the jobs on plain trees: copy, sync, check and others. Isomorphic and JSON-safe,
 * like `jobs.ts`.
 */
import type { ErrorCode } from '../error.ts';
import type { ConnectionFlags, RequestTotals } from './jobs.ts';

/**
 * A place: a local path, a URL (`s3://...`, `file:///...`), `NAME:PREFIX` of a named remote, or `-` for
 * standard input or output. For S3, a place that ends in `/` or names a bucket is a folder. Any other may be
 * an object or a folder, and Dray looks it up.
 */
export interface PlaceRequest {
  readonly place: string;
  /** Flags for this side only (`--source-endpoint`, `--dest-profile` ...); they override the command's. */
  readonly connection?: ConnectionFlags;
}

/**
 * One rule of a filter; the first one whose pattern matches decides. The syntax is in `model/tree-filter.ts`.
 */
export interface FilterRule {
  readonly action: 'include' | 'exclude';
  readonly pattern: string;
}

/** Which files of the source count. Default: all. */
export interface TreeFilterRequest {
  /** The first matching rule decides; an unmatched item is included. An include must not end in `/`. */
  readonly rules?: readonly FilterRule[];
  /** Exactly these paths, relative to the source. They need no listing. */
  readonly filesFrom?: readonly string[];
  readonly minSizeBytes?: number;
  readonly maxSizeBytes?: number;
  /**
   * Bounds of the modification time, inclusive, in ms since the epoch. An object's time is its `mtime`
   * metadata, which needs a HEAD.
   */
  readonly newerThanMs?: number;
  readonly olderThanMs?: number;
  /** Use the upload time from the listing as an object's age. */
  readonly serverTime?: boolean;
}

/** What makes two files the same: size and time, size and checksum, or size alone. */
export type CompareMode = 'sizeAndTime' | 'checksum' | 'sizeOnly';

/** Two places, and how their files are compared. */
export interface TreePairRequest {
  readonly source: PlaceRequest;
  readonly destination: PlaceRequest;
  /** Default `sizeAndTime`. */
  readonly compare?: CompareMode;
  readonly filter?: TreeFilterRequest;
  /** Ignore what the index remembers of this pair. */
  readonly noIndex?: boolean;
}

/** A copy from a version of a repository. */
export interface ExportRequest extends Omit<CopyRequest, 'source'> {
  /** A branch, a tag, or a commit by its hash. */
  readonly ref: string;
  /** A folder or a file of the version. Default: all of it. */
  readonly path?: string;
  /** A repository's URL or the name of a remote. Default: the workspace's remote. */
  readonly from?: string;
}

/** What to copy, and how. */
export interface CopyRequest extends TreePairRequest {
  /** Only find out what would be copied. */
  readonly dryRun?: boolean;
  /** Keep items that are newer at the destination. */
  readonly update?: boolean;
  /** Send everything without looking at the destination. */
  readonly noCheckDestination?: boolean;
  /** Skip the final check that the store kept the objects. */
  readonly noConfirm?: boolean;
  /** Never change an existing file: a file that differs is reported as failed. */
  readonly immutable?: boolean;
  /**
   * A folder that receives a copy of everything overwritten or deleted. It must lie outside the destination
   * on the same store or file system.
   */
  readonly backupDirectory?: PlaceRequest;
  /** User metadata for every object written. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Of every object written, such as `STANDARD_IA`. */
  readonly storageClass?: string;
  /** For every object; default: guessed from the name, or for copies between stores the source's. */
  readonly contentType?: string;
  /** Of uploads in parts. Default: chosen by the size of the object. */
  readonly partSizeBytes?: number;
  /**
   * Copy unchanged ranges of large objects inside the store; between machines, send only the differing blocks
   * of a large file. Default true.
   */
  readonly delta?: boolean;
  /** Keep symbolic links as `NAME.rclonelink` objects; otherwise they are skipped with a warning. */
  readonly links?: boolean;
  /** Copy set-uid, set-gid and sticky bits wherever permissions are copied. */
  readonly specialModes?: boolean;
  /** Write and delete also at and below the places of all repositories, or of those of these names. */
  readonly allowRepositories?: boolean | readonly string[];
}

export type RepositoryPermission = NonNullable<CopyRequest['allowRepositories']>;

export interface SyncRequest extends CopyRequest {
  /**
   * Stop before deleting more. Default: 50 percent of the destination's files or 100 files, whichever is
   * more, and never a Dray repository.
   */
  readonly maxDelete?: { readonly files: number } | { readonly percent: number };
  /** With `maxDelete`, the names of the repositories that may be deleted. Default: all. */
  readonly deletableRepositories?: readonly string[];
}

export interface CheckTreesRequest extends TreePairRequest {
  /** Read both sides in full instead of asking the stores for checksums. */
  readonly download?: boolean;
  /**
   * Treat a local symbolic link as a file `NAME.rclonelink` that contains its target, as a copy with `links`
   * stores it.
   */
  readonly links?: boolean;
  /** Ignore files that exist only at the destination. */
  readonly oneWay?: boolean;
  /** A local file for the full JSON report; engine/jobs/trees/README.md describes its form. */
  readonly reportPath?: string;
}

/** What a copy or a commit has no form for: how many there were. */
export interface NotKeptTotals {
  readonly emptyFolders?: number;
  /** Files with several names: each name becomes a file of its own. */
  readonly hardLinks?: number;
  /** Files whose holes become zeros. */
  readonly sparseFiles?: number;
}

/** What a copy or a sync did, or in a dry run would do. */
export interface TransferSummary {
  readonly result: 'copied' | 'upToDate' | 'wouldCopy';
  readonly source: string;
  readonly destination: string;
  /** Files of the source that pass the filter. */
  readonly files: number;
  readonly bytes: number;
  /** Files written at the destination, new and changed; in a dry run, the files that would be. */
  readonly copiedFiles: number;
  readonly copiedBytes: number;
  /** The part of these that the store copied itself, without a transfer. */
  readonly copiedInStore: number;
  /** Files with equal content that only got a new modification time. */
  readonly touchedFiles: number;
  /** Folders that got a new time or mode themselves, not as a result of writing into them. */
  readonly touchedFolders: number;
  readonly deletedFiles: number;
  readonly unchangedFiles: number;
  /** Skipped by a rule: newer at the destination, a link, or an unsafe name that was reported. */
  readonly skippedFiles: number;
  readonly failed: number;
  /** What the destination does not keep of a local source; absent if there is nothing. */
  readonly notKept?: NotKeptTotals;
  /** Content bytes on the wire, both ways. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly requests: RequestTotals;
  /** In a dry run: the error that would stop the run. A warning gives the reason. */
  readonly wouldStop?: ErrorCode;
  /** In a dry run: the requests of the run itself, beyond those of planning. */
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
  /** Items compared by size alone: the store has no checksum of the content. */
  readonly uncertain: number;
  readonly failed: number;
  readonly readBytes: number;
  readonly requests: RequestTotals;
}

export interface ListPlaceRequest extends PlaceRequest {
  /** Report the time of each object's content instead of its upload, which needs a HEAD for each object. */
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
  /** Required to remove more than one object. */
  readonly recursive?: boolean;
  readonly dryRun?: boolean;
  readonly filter?: TreeFilterRequest;
  /** Remove also what repositories store. Default: none. */
  readonly allowRepositories?: RepositoryPermission;
}
export interface RemovePlaceSummary {
  /** In a dry run: the error that would stop the run. A warning gives the reason. */
  readonly wouldStop?: ErrorCode;
  readonly place: string;
  readonly removed: number;
  readonly bytes: number;
  readonly failed: number;
  readonly requests: RequestTotals;
}

export interface ReadPlaceRequest extends PlaceRequest {
  /** Only the first bytes, or bytes from an offset. */
  readonly offsetBytes?: number;
  readonly lengthBytes?: number;
}
export interface ReadPlaceSummary {
  readonly bytes: number;
  readonly requests: RequestTotals;
}

export interface UsageRequest extends PlaceRequest {
  /** How many levels of folders to report. Default 1. */
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
  /** Remove the uploads; `olderThanMs`: only those that began before this time. */
  readonly abort?: boolean;
  readonly olderThanMs?: number;
  /** Abort also those of pushes: the uploads below a repository's place. Default: none. */
  readonly allowRepositories?: RepositoryPermission;
}
export interface UploadsSummary {
  readonly place: string;
  readonly uploads: number;
  readonly aborted: number;
  readonly requests: RequestTotals;
}
