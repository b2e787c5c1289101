/**
 * One file or object of a plain tree, as a scan or a listing shows it. All kinds of places share this form,
 * so that any two can be compared in one pass. Items of one tree ascend strictly by `comparePaths` (byte
 * order of the UTF-8 form).
 */
export interface TreeItem {
  /** Relative to the tree, `/` between parts. For an object: its key below the prefix, unchanged. */
  readonly path: string;
  readonly sizeBytes: number;
  /**
   * Identifies the item's content: while it stays the same, so does the content. An object's etag, or a
   * file's `fileToken`. '' when nothing identifies the content: a store without etags, or a file as young as
   * its record.
   */
  readonly token: string;
  /** For a file whose token is '': identifies the file. */
  readonly inode?: number;
  /** Whole nanoseconds since the epoch: a file's mtime; an object's only when its metadata was read. */
  readonly mtimeNs?: bigint;
  /** The upload time from the store (`LastModified`), in ms; for a file, its mtime. */
  readonly modifiedMs: number;
  /**
   * The object is a file on another machine: `modifiedMs` is its mtime from a scan there. Always true for
   * `kind` 'file'.
   */
  readonly isFile?: true;
  /** A HEAD has read this object's facts, so the store does not have the fields that are absent here. */
  readonly wasAsked?: true;
  readonly kind: 'file' | 'object';
  /** Permission bits of a file or a folder, where both sides keep them. */
  readonly mode?: number;
  /** Not a regular file. Only between a local folder and a peer, which both know such items. */
  readonly special?: SpecialItem;
}

/**
 * A symbolic link, which is never followed, or a folder, whose path ends in `/`. A folder that `holds`
 * something is not an item of the tree: it is listed for its mode and time, only on request. The tree's own
 * folder is one of these, under ''.
 */
export type SpecialItem =
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly holds?: true };

export function isHoldingFolder({ special }: Pick<TreeItem, 'special'>): boolean {
  return special?.kind === 'folder' && special.holds === true;
}

export function isSameSpecial(left: SpecialItem | undefined, right: SpecialItem | undefined): boolean {
  if (left?.kind === 'link') return right?.kind === 'link' && left.target === right.target;
  return left?.kind === right?.kind;
}

/** The token of a local file, from the doubles that `lstat` gives. */
export function fileToken(
  stat: {
    readonly sizeBytes: number;
    readonly mtimeMs: number;
    readonly ctimeMs: number;
    readonly inode: number;
  },
  between = ' ',
): string {
  return `${stat.sizeBytes}${between}${stat.mtimeMs}${between}${stat.ctimeMs}${between}${stat.inode}`;
}

/** The change time in a file's token; undefined for ''. */
export function changeTimeOf(token: string): number | undefined {
  const [, , changedMs] = token.split(' ');
  return changedMs === undefined ? undefined : Number(changedMs);
}

/**
 * Whether two items of one name are the same file with the same content. Ignores the change time, which also
 * changes when a hard link to the file is created or removed.
 */
export function isSameFile(
  left: Pick<TreeItem, 'inode' | 'modifiedMs' | 'sizeBytes' | 'token'>,
  right: Pick<TreeItem, 'inode' | 'modifiedMs' | 'sizeBytes' | 'token'>,
): boolean {
  if (left.sizeBytes !== right.sizeBytes || left.modifiedMs !== right.modifiedMs) return false;
  const [one, other] = [inodeOf(left), inodeOf(right)];
  return one === undefined || other === undefined || one === other;
}

function inodeOf({ inode, token }: Pick<TreeItem, 'inode' | 'token'>): string | undefined {
  return token === '' ? inode?.toString() : token.split(' ').at(-1);
}
