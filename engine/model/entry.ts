/**
 * The entries of a commit, which make up a dataset. Pure data; engine/repository/FORMAT.md describes the
 * stored form.
 */

declare const brand: unique symbol;
/**
 * SHA-256 in 64 lower-case hex digits; of a chunked file, the SHA-256 of its chunks' digests (32 bytes each)
 * in order.
 */
export type BlobHash = string & { readonly [brand]: 'BlobHash' };
export type PackHash = string & { readonly [brand]: 'PackHash' };
export type SegmentHash = string & { readonly [brand]: 'SegmentHash' };
export type CommitHash = string & { readonly [brand]: 'CommitHash' };

export type Entry = FileEntry | LinkEntry | FolderEntry;

export interface FileEntry {
  readonly kind: 'file';
  /** UTF-8, relative, `/` between parts. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Nanoseconds since the epoch. */
  readonly mtimeNs: bigint;
  readonly executable: boolean;
  readonly blob: BlobHash;
  readonly location: BlobLocation;
}

export interface LinkEntry {
  readonly kind: 'link';
  readonly path: string;
  /** The target text of the link; never followed. */
  readonly target: string;
}

/** An empty folder. Its path ends in `/`, so that plain byte order of paths is the order of the manifest. */
export interface FolderEntry {
  readonly kind: 'folder';
  readonly path: string;
}

/** Where a blob's bytes are in the repository. */
export type BlobLocation =
  /** An empty file is not stored. */
  | { readonly in: 'nowhere' }
  /** `objects/ab/…` under its own hash. */
  | ({ readonly in: 'object' } & StoredBlob)
  /** Inside a pack at `offset`; the length is the file's size, or `storedBytes` if it is compressed. */
  | { readonly in: 'pack'; readonly pack: PackHash; readonly offset: number; readonly storedBytes?: number }
  /** One object for each chunk, in order; their sizes add up to the file's. */
  | { readonly in: 'chunks'; readonly chunks: readonly Chunk[] };

export interface Chunk extends StoredBlob {
  readonly hash: BlobHash;
  readonly sizeBytes: number;
}

/** How an object of its own is stored. */
export interface StoredBlob {
  /** Its size on the store, smaller than its content's: it is one zstd frame. Absent: stored as it is. */
  readonly storedBytes?: number;
  /**
   * A key of a later generation, because a collection condemned the earlier ones. Absent: the first, 0. A
   * condemned key is never written again, so that a late DELETE cannot remove new content.
   */
  readonly generation?: number;
}

/** SHA-256 of the empty string. */
export const EMPTY_BLOB = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' as BlobHash;

/**
 * Compares paths by the bytes of their UTF-8 form: the order of S3 listings and of SQLite's BINARY collation.
 */
export function comparePaths(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    // UTF-16 sorts surrogates (U+10000 and up) below U+E000 to U+FFFF; UTF-8 sorts them above.
    const aSurrogate = a >= 0xd800 && a <= 0xdfff;
    const bSurrogate = b >= 0xd800 && b <= 0xdfff;
    if (aSurrogate !== bSurrogate) return aSurrogate ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}
