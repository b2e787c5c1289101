/**
 * One file or object of a plain tree: what a scan or a listing tells of it, the same for every kind of place, so that any two can be
 * compared in one pass. Items of one tree ascend strictly by `comparePaths` (byte order of the UTF-8 form).
 */
export interface TreeItem {
  /** Relative to the tree, `/` between parts. Of an object: its key below the prefix, as it is, however strange. */
  readonly path: string;
  readonly sizeBytes: number;
  /**
   * Stands for the item's content: as long as it is the same, so is the content. An object's etag; of a file, what `stat` says
   * (`fileToken`). '' when nothing vouches for it: a store without etags, a file as young as its record.
   */
  readonly token: string;
  /** Of a file whose token is '': which file it is all the same. */
  readonly inode?: number;
  /** Whole nanoseconds since the epoch. Of a file: its mtime. Of an object: only when its metadata were read. */
  readonly mtimeNs?: bigint;
  /** When the store says that it was written (`LastModified`), in ms; of a file, its mtime. */
  readonly modifiedMs: number;
  /** An object that is a file elsewhere: `modifiedMs` is its mtime, as a scan there gives it. Of `kind` 'file' it always is. */
  readonly isFile?: true;
  /** The store was asked about this very object (HEAD): what is absent here, it does not tell. */
  readonly wasAsked?: true;
  readonly kind: 'file' | 'object';
  /** Permission bits of a file or a folder, where both sides keep them. */
  readonly mode?: number;
  /** No file at all. Only between places that both know such things: a local folder and a peer. */
  readonly special?: SpecialItem;
}

/**
 * A symbolic link, which is never followed, or a folder, whose path ends in `/`. A folder that `holds` something is no file of the tree: it is
 * told of for the sake of its mode and time alone, to who asks for that. The tree's own folder is one of these, under ''.
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

/** The token of a local file. Doubles exactly as `lstat` gives them. */
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

/** When the file changed, by its token; undefined if the token is ''. */
export function changeTimeOf(token: string): number | undefined {
  const [, , changedMs] = token.split(' ');
  return changedMs === undefined ? undefined : Number(changedMs);
}

/**
 * Whether two looks at one name saw one file with one content. Its change time does not count: it also changes when another name of the
 * file (a hard link) is made or removed.
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
