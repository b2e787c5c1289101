/** Reads a local folder as a tree of items; `scan.ts` walks it. Links are never followed. */
import { isUtf8 } from 'node:buffer';
import { readlinkSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { advised } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { FILE_MODE_BITS, folderItem, itemOf, knownMode, LINK_SUFFIX, targetNotUtf8 } from './local-place.ts';
import { type ScannedEntry, type ScanProblem, scanWorkspace } from './scan.ts';

/** An item that was left out, and why. */
export interface LeftOut {
  readonly path: string;
  /**
   * `linkName`: with `links`, a file with the name of a link's object, which would be taken for that link
   * everywhere.
   */
  readonly problem: ScanProblem['problem'] | 'link' | 'linkName';
  readonly message: string;
  /** The last sentence of the message, if it applies to the command line only. */
  readonly advice?: string;
}

/**
 * Not every destination keeps it: a further name of a file (each name becomes a file), holes (zeros on a
 * store), an empty folder.
 */
export type NotKept = 'hardLink' | 'holes' | 'emptyFolder';

export interface LocalTreeOptions {
  readonly root: string;
  /** Whether to enter a folder; its path ends in `/`. */
  readonly enter?: (folder: string) => boolean;
  readonly includes?: (item: TreeItem) => boolean;
  /** Also return links, under their names with `LINK_SUFFIX`; their size is that of their target. */
  readonly links?: boolean;
  /** Return links and empty folders as such (`TreeItem.special`), and the modes of files. */
  readonly special?: boolean;
  /** Also return modes, and a row for each entered folder, whatever `includes` says of it. */
  readonly folders?: boolean;
  readonly nowMs: number;
  /** Names read before a batch is returned. */
  readonly batchSize?: number;
  readonly signal: AbortSignal;
  readonly onProblem: (problem: LeftOut) => void;
  /** Gets what no place keeps, of the items that are included. */
  readonly onNotKept?: ((loss: NotKept) => void) | undefined;
  /** Gets each folder passed that has a `.dray`, '' or ending in `/`. */
  readonly onWorkspace?: ((folder: string) => void) | undefined;
}

/**
 * In order. Folders are items only on request. The event loop runs between batches.
 * @throws `notFound` when the root is not a folder, `io` when it cannot be read, `aborted`.
 */
export async function* scanLocalTree(options: LocalTreeOptions): AsyncGenerator<readonly TreeItem[]> {
  const { batchSize, enter, folders = false, links = false, onProblem, onWorkspace, root, signal } = options;
  const scan = scanWorkspace({
    root,
    ignore: false,
    isPlain: true,
    folders,
    ...(enter ? { enter } : {}),
    ...(batchSize === undefined ? {} : { batchSize }),
  });
  const order = links ? linksInOrder() : undefined;
  for (const { entries, problems, workspaces } of scan) {
    checkAborted(signal);
    for (const folder of workspaces) onWorkspace?.(folder);
    for (const problem of problems) onProblem(problem);
    const items: TreeItem[] = [];
    for (const entry of entries) takeEntry(entry, options, order, items);
    if (items.length > 0) yield items;
    await breathe();
  }
  const last = order?.takeAll() ?? [];
  if (last.length > 0) yield last;
}

function takeEntry(
  entry: ScannedEntry,
  options: LocalTreeOptions,
  order: LinkOrder | undefined,
  items: TreeItem[],
): void {
  const { folders = false, includes, nowMs, onProblem, special = false } = options;
  const { kind, path } = entry;
  // Excluded items advance the links too: they come after them.
  order?.takeBefore(path, items);
  if (entry.holds) {
    items.push(folderItem(entry));
    return;
  }
  if (special && kind !== 'file') {
    takeSpecial(entry, options, items);
    return;
  }
  if (kind === 'folder') {
    if (options.onNotKept && includes?.(folderItem(entry)) !== false) options.onNotKept('emptyFolder');
    return;
  }
  const plain = itemOf(kind === 'link' && order ? path + LINK_SUFFIX : path, entry, nowMs);
  const mode = special ? entry.mode : entry.mode & FILE_MODE_BITS;
  const item = kind === 'file' && (special || folders) ? { ...plain, ...knownMode(mode) } : plain;
  if (includes && !includes(item)) return;
  if (entry.hasOtherNames) options.onNotKept?.('hardLink');
  if (entry.isSparse) options.onNotKept?.('holes');
  if (kind === 'file') {
    if (order && path.endsWith(LINK_SUFFIX)) reportLinkName(path, onProblem);
    else items.push(item);
  } else if (order) order.add(item);
  else {
    const message = `${path} is a symbolic link and was skipped.`;
    onProblem({ path, problem: 'link', ...advised(message, 'Keep links with --links.') });
  }
}

/** An empty folder, or a link whose target is valid text. */
function takeSpecial(
  entry: ScannedEntry,
  { includes, onProblem, root }: LocalTreeOptions,
  items: TreeItem[],
): void {
  const { kind, mtimeMs, path } = entry;
  const target = kind === 'link' ? targetOf(`${root}/${path}`) : undefined;
  if (kind === 'link' && !target) return;
  const item: TreeItem = target
    ? {
        path,
        kind: 'file',
        sizeBytes: 0,
        token: '',
        modifiedMs: mtimeMs,
        special: { kind: 'link', target: target.toString('utf8') },
      }
    : folderItem(entry);
  if (includes && !includes(item)) return;
  if (!target || isUtf8(target)) items.push(item);
  else onProblem({ path, problem: 'notUtf8', message: targetNotUtf8(path) });
}

/** Undefined when the link is gone. */
function targetOf(link: string): Buffer | undefined {
  try {
    return readlinkSync(link, 'buffer');
  } catch {
    return undefined;
  }
}

interface LinkOrder {
  add(item: TreeItem): void;
  /** Moves the links that sort before the path to `into`. */
  takeBefore(path: string, into: TreeItem[]): void;
  takeAll(): readonly TreeItem[];
}

/**
 * With its suffix a link may sort after siblings that its own name sorts before. It waits for its turn,
 * usually until the next name: more links wait only if each name begins with the previous one.
 */
function linksInOrder(): LinkOrder {
  /** The next one is last. */
  const waiting: TreeItem[] = [];
  return {
    add(item) {
      let at = waiting.length;
      while (at > 0 && comparePaths(waiting[at - 1]!.path, item.path) < 0) at -= 1;
      waiting.splice(at, 0, item);
    },
    takeBefore(path, into) {
      for (let next = waiting.at(-1); next && comparePaths(next.path, path) < 0; next = waiting.at(-1)) {
        waiting.pop();
        into.push(next);
      }
    },
    takeAll: () => waiting.reverse(),
  };
}

function reportLinkName(path: string, onProblem: LocalTreeOptions['onProblem']): void {
  const message =
    `${path} is a file whose name has the form of a link's object, so it would be read as a link. ` +
    'It was left out; rename it.';
  onProblem({ path, problem: 'linkName', message });
}
