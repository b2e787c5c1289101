import type { BlobHash } from '../../model/entry.ts';

/**
 * The two queries that a remote answers. Each is one request and fails with `aborted` when the signal fires.
 */
export interface ExistenceProbe {
  /** The object's size in bytes; undefined if there is none. */
  head(hash: BlobHash, signal?: AbortSignal): Promise<number | undefined>;
  /** One page of at most 1,000 hashes in ascending order. */
  list(request: HashListRequest, signal?: AbortSignal): Promise<HashPage>;
}

export interface HashListRequest {
  /** Only hashes that begin with these hex digits (0 to 64). */
  readonly prefix: string;
  /**
   * Only hashes that sort after this one. It can be shorter than a hash (12 digits); it then sorts before all
   * that begin with it.
   */
  readonly after?: string;
}

export interface HashPage {
  readonly hashes: readonly BlobHash[];
  /** The objects' sizes in bytes, in the order of the hashes. */
  readonly sizes: readonly number[];
  /** More hashes follow the last one. */
  readonly isTruncated: boolean;
}
