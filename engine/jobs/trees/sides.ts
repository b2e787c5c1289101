/** The two ends of a copy: a local folder or a prefix of a store, each with what the work on it needs. */
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';

export type TreeSide = LocalSide | RemoteSide;

export interface LocalSide {
  readonly kind: 'local';
  /** Absolute. The tree is this folder. */
  readonly root: string;
  /** For messages. */
  readonly text: string;
  /** Links and empty folders are items too, because the other side can store them. */
  readonly special?: true;
  /** Folders are listed for their modes and times, which both sides keep. */
  readonly folders?: true;
  /** The item's path below the root. It differs from its own path when one file is copied to another name. */
  readonly pathOf: (path: string) => string;
}

export interface RemoteSide {
  readonly kind: 'remote';
  /** Rooted at the tree. */
  readonly store: ObjectStore;
  readonly limit: AdaptiveLimit;
  readonly text: string;
  /** Links and empty folders are items too, because the other side can store them. */
  readonly special?: true;
  /** Folders are listed for their modes and times, which both sides keep. */
  readonly folders?: true;
  /** The item's key in the store. */
  readonly pathOf: (path: string) => string;
}

/** Neither a local folder nor one of a peer. */
export function isObjectStore(side: TreeSide): boolean {
  return side.kind === 'remote' && side.store.files === undefined;
}
