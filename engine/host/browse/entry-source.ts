import type { EntryRow } from '../../api/host/browse.ts';

/** Reads a folder step by step. */
export interface EntrySource {
  /** Undefined after the last entries. After an error, the next call continues at the same position. */
  next(signal: AbortSignal): Promise<readonly EntryRow[] | undefined>;
  close(): Promise<void>;
}
