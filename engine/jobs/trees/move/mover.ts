/** Moves items for one pair of kinds of places; each pair has its own implementation. */
import type { TreeItem } from '../../../model/tree-item.ts';
import type { FileTouch } from '../../../remotes/file-calls.ts';

export interface Mover {
  /**
   * Moves the item's content and puts it in place, verified; `over` is the item that it replaces. A small
   * item may wait a moment for others that share its request.
   */
  move(item: TreeItem, over: TreeItem | undefined): Promise<Moved>;
  /** Sends the small items that wait. */
  flush?(): void;
  /**
   * Gives the destination's item, whose content is equal, the source's modification time, its mode, or both.
   */
  touch(item: TreeItem, over: TreeItem, to: FileTouch): Promise<Touched>;
  /** The bytes that `move` would send; undefined if it would send the whole item. Changes nothing. */
  foresee?(item: TreeItem, over: TreeItem | undefined): Promise<ForeseenDelta | undefined>;
  /** Removes items of the destination. Reports each failure by its path. */
  remove(items: readonly string[], onFailed: (path: string, error: unknown) => void): Promise<void>;
  /** For folders, here or at a peer: syncs all files moved so far. Only then may they be remembered. */
  sync?(): Promise<void>;
  /** Waits for running work. Idempotent. */
  close(): Promise<void>;
}

/** The forecast of a block delta. */
export interface ForeseenDelta {
  readonly sentBytes: number;
  /** Requests that would carry them. */
  readonly batches: number;
  readonly segments: number;
}

/** The tokens of both sides now, for the index; '' where there is none. */
export interface Pair {
  readonly sourceToken: string;
  readonly destinationToken: string;
}

export interface Touched extends Pair {
  /** The disk keeps no such time or mode, so the item is as it was. */
  readonly isUnchanged?: boolean;
}

export interface Moved extends Pair {
  /** Bytes of content sent over the network; default: none. */
  readonly sentBytes?: number;
  readonly receivedBytes?: number;
  /** Copied by the store itself. */
  readonly inStore?: true;
  /** Size of the content as it was moved. */
  readonly sizeBytes: number;
  /** Its bytes were already counted as progress while they moved. */
  readonly isProgressCounted?: boolean;
}

/** Notes moved items in the index; at a store only after a check (`confirm-written.ts`). */
export interface TreeConfirmation {
  /** Notes the item as moved, at once or after the check. */
  moved(source: TreeItem, over: TreeItem | undefined, moved: Moved): void;
  /** Checks the items that still wait. */
  settle(): Promise<void>;
}

/** For a link or a folder, which the index does not store. */
export const MOVED_SPECIAL: Moved = { sourceToken: '', destinationToken: '', sizeBytes: 0 };
