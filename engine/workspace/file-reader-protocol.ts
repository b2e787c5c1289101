/**
 * The messages between the reader and its threads. Buffers are transferred, never copied.
 *
 * A large file's blocks: the reader gives one after `large`, then one for each `wantBlock`. The thread gives each back
 * in the order that it got them, filled (`chunks`) or not (`unused`). Where no bytes are handed over, blocks carry no
 * buffer and are leave to go on.
 */
import type { ErrorRecord } from '../api/error.ts';
import type { Chunk } from '../model/entry.ts';
import type { BatchReport } from './file-reader-batch.ts';
import type { LargeEnd, LargeTask } from './file-reader-large.ts';

export type ToThread =
  /** Paths joined by NUL: one string crosses faster than a thousand. */
  | { readonly kind: 'batch'; readonly paths: string; readonly buffer: ArrayBuffer | undefined }
  | { readonly kind: 'large'; readonly path: string; readonly fileClass: LargeTask['fileClass'] }
  | { readonly kind: 'block'; readonly buffer: ArrayBuffer | undefined };

export type FromThread =
  | { readonly kind: 'batch'; readonly report: BatchReport; readonly buffer: ArrayBuffer | undefined }
  | { readonly kind: 'wantBlock' }
  | { readonly kind: 'chunks'; readonly chunks: readonly Chunk[]; readonly buffer: ArrayBuffer | undefined }
  | { readonly kind: 'unused'; readonly buffer: ArrayBuffer | undefined }
  | { readonly kind: 'end'; readonly end: LargeEnd }
  | { readonly kind: 'crashed'; readonly error: ErrorRecord };

/** The separator that no path can hold. */
export const PATH_SEPARATOR = '\0';
