/**
 * Gives folders at the destination the modes and times of the source.
 *
 * Each write in a folder changes its time, and its mode may forbid writing. So the walk only notes which
 * folders to set: new ones, those that differ, and those in which something is written or removed. They are
 * set at the end, each folder after everything in it. A run that is killed before leaves times that differ,
 * and the next run sets them.
 *
 * Folders that only the destination has stay as they are. A source that knows folders lists the root first,
 * under ''. Without that row the source is an older peer, and no folder is set.
 */
import { formatPlural } from '../../../api/text/numbers.ts';
import { checkAborted } from '../../../base/abort.ts';
import type { SpillList } from '../../../index/tree-spill.ts';
import { modeToSet } from '../../../model/special-modes.ts';
import { isHoldingFolder, type TreeItem } from '../../../model/tree-item.ts';
import { failItem, reportChange, type TreeRun } from '../copy-run.ts';
import { createFolderNotes, type FolderNotes } from './folder-notes.ts';
import { createFolderSetter, type FolderSetter } from './folder-setter.ts';
import { createWalkedFolders, type WalkedFolder, type WalkedFolders } from './open-folders.ts';

export interface TreeFolders {
  beginBatch(): void;
  /** Notes a folder of the source. Call it before its content. */
  enter(source: TreeItem, destination: TreeItem | undefined): void;
  /** Notes a folder that only the destination has. */
  enterExtra(extra: TreeItem): void;
  /** Marks the folders above an item that passes the filter, so that they are copied. */
  keepAbove(path: string): void;
  /** As `WalkedFolders.holderOf`. */
  holderOf(path: string): WalkedFolder | undefined;
  /**
   * Call before a write in the folder. Wait for the promise, if any: it opens a folder whose mode forbids
   * writing.
   */
  beforeWrite(holder: WalkedFolder): Promise<void> | undefined;
  /** This item of the destination will be removed at the end. */
  willRemove(path: string): void;
  /** Opens the folders whose mode forbids the removals noted so far. */
  beforeRemovals(): Promise<void>;
  /** Sets the folders when all else is done. A dry run reports what it would set. */
  settle(): Promise<void>;
}

export interface TreeFoldersOptions {
  /** The destination's own folder was not there before this run. */
  readonly isRootNew: boolean;
  readonly refuse: (item: TreeItem) => unknown;
}

/**
 * Two scans may give the same time this far apart: two steps of a double that counts milliseconds since 1970.
 */
const SCANNED_STEP_MS = 0.0005;
/** The owner needs these bits to write and to remove. */
const OPEN_BITS = 0o300;
/** The bits of a closed folder while the run works in it. */
const OWNER_BITS = 0o700;
/** Set on folders in which everybody may write, such as `/tmp`. */
const STICKY = 0o1000;
const OPENED_AT_ONCE = 500;

/** Undefined when one side knows no folders. */
export function createTreeFolders(run: TreeRun, options: TreeFoldersOptions): TreeFolders | undefined {
  if (!run.source.folders || !run.destination.folders) return undefined;
  return new Folders(run, options);
}

class Folders implements TreeFolders {
  readonly #run: TreeRun;
  readonly #options: TreeFoldersOptions;
  readonly #setter: FolderSetter;
  readonly #notes: FolderNotes;
  readonly #met: WalkedFolders = createWalkedFolders();
  #shut: SpillList | undefined;
  #shutPaths: string[] = [];

  constructor(run: TreeRun, options: TreeFoldersOptions) {
    this.#run = run;
    this.#options = options;
    this.#setter = createFolderSetter(run);
    this.#notes = createFolderNotes(() => run.knowledge.index.spilledPaths());
  }

  beginBatch(): void {
    this.#met.beginBatch();
  }

  enter(source: TreeItem, destination: TreeItem | undefined): void {
    const isRoot = source.path === '';
    if (!isRoot && (!this.#met.root || this.#options.refuse(source))) return;
    const there = isRoot && this.#options.isRootNew ? undefined : destination;
    const isForeign = isRoot && this.#isRootTheirs(there);
    const folder = this.#met.meet({ path: source.path, source, destination: there, isForeign });
    if (this.#run.filter.isOpen || !isHoldingFolder(source)) this.#keep(folder);
  }

  enterExtra(extra: TreeItem): void {
    const sides = { source: undefined, destination: extra };
    if (this.#met.root) this.#met.meet({ path: extra.path, ...sides, isForeign: false });
  }

  keepAbove(path: string): void {
    const holder = this.holderOf(path);
    if (holder && !holder.isKept) this.#keep(holder);
  }

  holderOf(path: string): WalkedFolder | undefined {
    return this.#met.holderOf(path);
  }

  beforeWrite(holder: WalkedFolder): Promise<void> | undefined {
    this.#change(holder);
    // The folder of unfinished files comes and goes in the root, which changes the root's time.
    if (this.#run.destination.kind === 'local') this.#change(this.#met.root!);
    if (this.#run.request.dryRun) return undefined;
    let there: WalkedFolder | undefined = holder;
    while (there && !there.destination) there = there.above;
    if (!there || !this.#isShut(there)) return undefined;
    const { mode } = there.destination!;
    there.opened ??= this.#setter.open(there.path, mode! | OWNER_BITS);
    return there.opened;
  }

  willRemove(path: string): void {
    // A folder that becomes empty is removed as well, which changes its parent's time.
    for (let at = this.holderOf(path); at; at = at.above) {
      if (at.source && !at.isKept) this.#keep(at);
      this.#change(at);
      if (at.isToBeOpened || at.opened || !this.#isShut(at)) continue;
      at.isToBeOpened = true;
      this.#shutPaths.push(JSON.stringify({ path: at.path, mode: at.destination!.mode! | OWNER_BITS }));
      if (this.#shutPaths.length >= OPENED_AT_ONCE) this.#spillShut();
    }
  }

  async beforeRemovals(): Promise<void> {
    if (this.#shut === undefined && this.#shutPaths.length === 0) return;
    this.#spillShut();
    for (const page of this.#shut!.pages()) {
      const folders = page.map((text) => JSON.parse(text) as { path: string; mode: number });
      // If one cannot be opened, the failed removals in it report that.
      await Promise.allSettled(folders.map(({ mode, path }) => this.#setter.open(path, mode)));
    }
  }

  async settle(): Promise<void> {
    if (!this.#met.root || this.#isOlder()) return;
    const { context, forecast, request, tasks } = this.#run;
    let theirs = 0;
    for (const rows of this.#notes.descending()) {
      checkAborted(tasks.signal);
      if (request.dryRun) {
        forecast?.setsFolders(rows.length);
        for (const { isReported, path } of rows) if (isReported) this.#report(path);
        continue;
      }
      const failed = await this.#setter.set(rows.map(({ path }) => path));
      for (const { isReported, path } of rows) {
        const error = failed.get(path);
        if (error === 'unchanged') continue;
        if (error?.data.errno === 'EPERM') theirs += 1;
        // A file or a link is in its place, which the failed writes below it have reported.
        else if (error?.code === 'conflict' || error?.code === 'unsafePath') continue;
        else if (error) failItem(this.#run, nameOf(path), error);
        else if (isReported) this.#report(path);
      }
    }
    if (theirs === 0) return;
    const message = `${formatPlural(theirs, 'folder')} at ${this.#run.destination.text} cannot be given modes and times, because another user owns what is there.`;
    context.emit({ type: 'warning', warning: 'foldersOfOthers', message });
  }

  /** The destination listed files but not its own folder: it is a peer that lists only empty folders. */
  #isOlder(): boolean {
    return !this.#met.root!.destination && !this.#options.isRootNew && this.#run.counts.destinationFiles > 0;
  }

  #isRootTheirs(there: TreeItem | undefined): boolean {
    const { destination, request } = this.#run;
    if (destination.kind === 'remote') return destination.store.files!.folders.isRootTheirs;
    // A destination that was not listed may belong to anybody.
    if (request.noCheckDestination && !this.#options.isRootNew) return true;
    return ((there?.mode ?? 0) & STICKY) !== 0;
  }

  /** The folder and its parents are copied; their noted state is written down. */
  #keep(folder: WalkedFolder): void {
    for (let at: WalkedFolder | undefined = folder; at && !at.isKept; at = at.above) {
      at.isKept = true;
      if (!at.source) continue;
      if (!at.destination || this.#differs(at.source, at.destination)) this.#note(at);
      if (!at.destination && at.above) this.#change(at.above);
    }
  }

  #change(folder: WalkedFolder): void {
    if (folder.isChanged) return;
    folder.isChanged = true;
    this.#note(folder);
  }

  /** `--update` compares files and has no effect here. When times are not compared, only the mode counts. */
  #differs(source: TreeItem, destination: TreeItem): boolean {
    const { compare = 'sizeAndTime' } = this.#run.request;
    if (this.#hasOtherMode(source, destination)) return true;
    return (
      compare === 'sizeAndTime' && Math.abs(source.modifiedMs - destination.modifiedMs) > SCANNED_STEP_MS
    );
  }

  #hasOtherMode(source: TreeItem, destination: TreeItem): boolean {
    return modeToSet(source, destination, this.#run.request) !== undefined;
  }

  /**
   * A folder with changed content is reported by these changes, and by itself only if its mode differs as
   * well.
   */
  #note({ destination, isChanged, isForeign, path, source }: WalkedFolder): void {
    if (isForeign || !source) return;
    // Existing items must never change.
    if (this.#run.request.immutable && destination) return;
    const isReported =
      destination !== undefined &&
      (isChanged ? this.#hasOtherMode(source, destination) : this.#differs(source, destination));
    this.#notes.add(path, isReported);
  }

  #isShut({ destination, isForeign }: WalkedFolder): boolean {
    const mode = destination?.mode;
    if (mode === undefined || isForeign || this.#run.request.immutable) return false;
    return (mode & OPEN_BITS) !== OPEN_BITS;
  }

  #spillShut(): void {
    this.#shut ??= this.#run.knowledge.index.spill();
    this.#shut.push(this.#shutPaths);
    this.#shutPaths = [];
  }

  #report(path: string): void {
    const { counts } = this.#run;
    counts.touchedFolders += 1;
    const special = { kind: 'folder' } as const;
    reportChange(this.#run, 'time', {
      path: nameOf(path),
      kind: 'file',
      sizeBytes: 0,
      token: '',
      modifiedMs: 0,
      special,
    });
  }
}

/** For messages. */
function nameOf(path: string): string {
  return path === '' ? './' : path;
}
