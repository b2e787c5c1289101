/** Where the bytes of an upload come from: a local file or an object of another store, read by ranges, as often as needed. */
import type { AdaptiveLimit } from '../limit/adaptive-limit.ts';

export interface ObjectSource {
  /** For messages: a path or a key. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Stands for the content: equal tokens, equal bytes. '' when nothing vouches for it. */
  readonly token: string;
  /** When each reading is a request: what bounds those. Absent for a local file, which costs little to read again. */
  readonly limit?: AdaptiveLimit;
  /**
   * The `into.byteLength` bytes from `start` on, usually in `into`, which must not be touched until the bytes are done with.
   * @throws DrayError `io` with `data.reason` `changedWhileRead` when the source is not what it was, `aborted`, and what reading throws.
   */
  read(start: number, into: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /** @throws DrayError `io` with `data.reason` `changedWhileRead` when the bytes that were read may be of more than one state. */
  checkUnchanged(): Promise<void>;
  close(): Promise<void>;
}

/** Memory for parts, bounded; `LeasedMemory` is one. */
export interface PartMemory {
  /** At least `bytes` bytes, of any content; waits for them. Rejects with `aborted`. */
  take(bytes: number, signal: AbortSignal): Promise<PartLease>;
}

export interface PartLease {
  readonly bytes: Uint8Array;
  /** Idempotent. */
  release(): void;
}
