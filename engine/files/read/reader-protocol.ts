/**
 * The tasks of the reader's threads, and the notes beside them. Bytes are in the reader's shared memory;
 * messages name spans of it.
 *
 * A large file's blocks: the reader sends one after `large`, then one for each `wantBlock`. The thread
 * returns each in the order that it received them, filled (`chunks`) or not (`unused`). Where no bytes are
 * returned, blocks have no span and only permit the thread to continue.
 */
import type { Span } from '../../base/byte-arena.ts';
import type { Chunk } from '../../model/entry.ts';
import type { ChunkerMemory } from '../chunks/chunker-memory.ts';
import type { BatchReport } from './read-batch.ts';
import type { LargeEnd, LargeTask } from './read-large.ts';
import type { ReaderSettings } from './read-limits.ts';

/** The data that a thread starts with. */
export interface ThreadData {
  readonly settings: ReaderSettings;
  /** Undefined when no bytes are requested. */
  readonly memory: ChunkerMemory | undefined;
}

/** Paths joined by NUL: one string crosses faster than a thousand. */
export type ReaderTask =
  | { readonly kind: 'batch'; readonly paths: string; readonly span: Span | undefined }
  | { readonly kind: 'large'; readonly path: string; readonly fileClass: LargeTask['fileClass'] };

/** The results of the two kinds of tasks. */
export type ReaderAnswer = BatchReport | LargeEnd;

/** A block. */
export interface NoteToThread {
  readonly span: Span | undefined;
}

export type NoteFromThread =
  | { readonly kind: 'wantBlock' }
  | { readonly kind: 'chunks'; readonly chunks: readonly Chunk[] }
  | { readonly kind: 'unused' };

/** A separator that no path can contain. */
export const PATH_SEPARATOR = '\0';
