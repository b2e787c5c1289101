/**
 * The source of an upload: a local file or an object of another store, read by ranges, as often as needed.
 */
import type { AdaptiveLimit } from '../limit/adaptive-limit.ts';

export interface ObjectSource extends AsyncDisposable {
  /** For messages: a path or a key. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Identifies the content: equal tokens, equal bytes. '' when nothing identifies it. */
  readonly token: string;
  /** The limit for reads that are requests. Absent for a local file, which is cheap to read again. */
  readonly limit?: AdaptiveLimit;
  /**
   * The `into.byteLength` bytes from `start` on, usually in `into`, which must not be accessed until the
   * bytes are no longer used.
   * @throws DrayError `io` with `data.reason` `changedWhileRead` when the source has changed, `aborted`, and
   * read errors.
   */
  read(start: number, into: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /**
   * @throws DrayError `io` with `data.reason` `changedWhileRead` when the bytes read may be of more than one
   * state.
   */
  checkUnchanged(): Promise<void>;
}

/** Memory for parts, bounded; `LeasedMemory` is one. */
export interface PartMemory {
  /** Waits for at least `bytes` bytes with arbitrary content. Rejects with `aborted`. */
  take(bytes: number, signal: AbortSignal): Promise<PartLease>;
}

export interface PartLease {
  readonly bytes: Uint8Array;
  /** Idempotent. */
  release(): void;
}
