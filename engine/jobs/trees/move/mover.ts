/** What one pair of kinds of places has to know to bring an item across; one implementation for each pair. */
import type { TreeItem } from '../../../model/tree-item.ts';
import type { FileTouch } from '../../../remotes/file-face.ts';

export interface Mover {
  /** Brings the item's content across and puts it in its place, verified; `over` is what lies there now. */
  move(item: TreeItem, over: TreeItem | undefined): Promise<Moved>;
  /** Where small items go many to a request. */
  readonly small?: SmallMover;
  /**
   * Gives what lies at the destination, whose content is equal, the source's modification time or its mode,
   * or both.
   */
  touch(item: TreeItem, over: TreeItem, to: FileTouch): Promise<Pair>;
  /**
   * What `move` would send where that is less than the whole of it; undefined: all of it. Changes nothing.
   */
  foresee?(item: TreeItem, over: TreeItem | undefined): Promise<ForeseenDelta | undefined>;
  /** Removes items of the destination; tells of each that could not be, by its path. */
  remove(items: readonly string[], onFailed: (path: string, error: unknown) => void): Promise<void>;
  /**
   * For folders, here or at a peer: brings all files moved so far to the disk. Only then may they be
   * remembered.
   */
  sync?(): Promise<void>;
  /** Waits for work under way. Idempotent. */
  close(): Promise<void>;
}

/**
 * As `move` does, without a promise for each of many thousands, which would cost more than the rest of what
 * is done here for a file.
 */
export interface SmallMover {
  takes(item: TreeItem): boolean;
  move(small: SmallMove): void;
  /** Sends what waits for others to go with. */
  flush(): void;
}

export interface SmallMove {
  readonly item: TreeItem;
  readonly over: TreeItem | undefined;
  /** Of this item and of any others: one of the two is called, once. Neither throws. */
  readonly told: {
    moved(small: SmallMove, moved: Moved): void;
    failed(small: SmallMove, error: unknown): void;
  };
}

/** Of a block delta. */
export interface ForeseenDelta {
  readonly sentBytes: number;
  /** Calls that would carry them. */
  readonly batches: number;
  readonly segments: number;
}

/** What the two sides hold now, for the index; '' where nothing vouches. */
export interface Pair {
  readonly sourceToken: string;
  readonly destinationToken: string;
}

export interface Moved extends Pair {
  /** Bytes of content over the wire. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Copied by the store. */
  readonly inStore: boolean;
  /** Of the content as it was moved. */
  readonly sizeBytes: number;
  /** Its bytes were told as progress while they moved. */
  readonly isProgressTold?: boolean;
}

/** Notes what was moved; at a store only after a look at it there (`confirm-written.ts`). */
export interface TreeConfirmation {
  /** Notes the item as moved, at once or after the look. */
  moved(source: TreeItem, over: TreeItem | undefined, moved: Moved): void;
  /** Looks at the items that still wait. */
  settle(): Promise<void>;
}

/** Of a link or a folder: nothing of it is for the index. */
export const MOVED_SPECIAL: Moved = {
  sourceToken: '',
  destinationToken: '',
  sentBytes: 0,
  receivedBytes: 0,
  inStore: false,
  sizeBytes: 0,
};
