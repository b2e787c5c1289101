/**
 * Modes and times of folders: they arrive as they are at the source.
 *
 * Each write in a folder changes its time, and a mode may forbid to write in it. So while the trees are walked it is only noted which folders
 * have to be set: those that are new or differ, and those in which something is written or removed. They are set when all else is done, what lies in
 * a folder before the folder itself. A run that is killed before leaves times that differ, which the next one sees.
 *
 * Only folders of the source are noted; those that the destination alone has stay as they are. Where both ends tell of folders in their listings,
 * the source's begins with the tree's own, under '': one that does not is of a machine that knows nothing of this, and nothing is set.
 */
import { formatPlural } from '../api/numbers.ts';
import { checkAborted } from '../base/abort.ts';
import type { SpillList } from '../index/tree-spill.ts';
import { modeToSet } from '../model/special-modes.ts';
import { isHoldingFolder, type TreeItem } from '../model/tree-item.ts';
import { createFolderEnds, type FolderEnds } from './folder-ends.ts';
import { createFolderNotes, type FolderNotes } from './folder-notes.ts';
import { createFoldersMet, type FolderMet, type FoldersMet } from './folders-met.ts';
import { failItem, type TreeRun, tellChange } from './tree-run.ts';

export interface TreeFolders {
  beginBatch(): void;
  /** A folder of the source, before what is in it. */
  enter(source: TreeItem, destination: TreeItem | undefined): void;
  /** One that the destination alone has. */
  enterExtra(extra: TreeItem): void;
  /** Something of the source that the filter lets through lies here. */
  keepAbove(path: string): void;
  /** As `FoldersMet.holderOf`. */
  holderOf(path: string): FolderMet | undefined;
  /** Something is about to be written in it. To be waited for where it returns a promise: then the folder is shut and has to be opened. */
  beforeWrite(holder: FolderMet): Promise<void> | undefined;
  /** This item of the destination is to be removed in the end. */
  willRemove(path: string): void;
  /** Opens folders that forbid what is about to be removed. */
  beforeRemovals(): Promise<void>;
  /** When all else is done. A dry run tells what would be set. */
  settle(): Promise<void>;
}

export interface TreeFoldersOptions {
  /** The destination's own folder was not there before this run. */
  readonly isRootNew: boolean;
  readonly refuse: (item: TreeItem) => unknown;
}

/** Two steps of a double that counts milliseconds now: what the same time may differ by in two scans. */
const SCANNED_STEP_MS = 0.0005;
/** What the owner needs to write and to remove. */
const OPEN_BITS = 0o300;
/** What a shut folder gets meanwhile. */
const OWNER_BITS = 0o700;
/** Set on what is everybody's, as the system's temporary folder is. */
const STICKY = 0o1000;
const OPENED_AT_ONCE = 500;

/** Undefined where folders are none of the run's business. */
export function createTreeFolders(run: TreeRun, options: TreeFoldersOptions): TreeFolders | undefined {
  if (!run.source.folders || !run.destination.folders) return undefined;
  return new Folders(run, options);
}

class Folders implements TreeFolders {
  readonly #run: TreeRun;
  readonly #options: TreeFoldersOptions;
  readonly #ends: FolderEnds;
  readonly #notes: FolderNotes;
  readonly #met: FoldersMet = createFoldersMet();
  #shut: SpillList | undefined;
  #shutPaths: string[] = [];

  constructor(run: TreeRun, options: TreeFoldersOptions) {
    this.#run = run;
    this.#options = options;
    this.#ends = createFolderEnds(run);
    this.#notes = createFolderNotes(() => run.knowledge.index.spilledPaths());
  }

  beginBatch(): void {
    this.#met.beginBatch();
  }

  enter(source: TreeItem, destination: TreeItem | undefined): void {
    const isRoot = source.path === '';
    if (!isRoot && (!this.#met.root || this.#options.refuse(source))) return;
    const there = isRoot && this.#options.isRootNew ? undefined : destination;
    const isTheirs = isRoot && this.#isRootTheirs(there);
    const folder = this.#met.meet({ path: source.path, source, destination: there, isTheirs });
    if (this.#run.filter.isOpen || !isHoldingFolder(source)) this.#keep(folder);
  }

  enterExtra(extra: TreeItem): void {
    const sides = { source: undefined, destination: extra };
    if (this.#met.root) this.#met.meet({ path: extra.path, ...sides, isTheirs: false });
  }

  keepAbove(path: string): void {
    const holder = this.holderOf(path);
    if (holder && !holder.isKept) this.#keep(holder);
  }

  holderOf(path: string): FolderMet | undefined {
    return this.#met.holderOf(path);
  }

  beforeWrite(holder: FolderMet): Promise<void> | undefined {
    this.#change(holder);
    // Where what is unfinished lies meanwhile, in a folder of its own.
    if (this.#run.destination.kind === 'local') this.#change(this.#met.root!);
    if (this.#run.request.dryRun) return undefined;
    let there: FolderMet | undefined = holder;
    while (there && !there.destination) there = there.above;
    if (!there || !this.#isShut(there)) return undefined;
    const { mode } = there.destination!;
    there.opened ??= this.#ends.open(there.path, mode! | OWNER_BITS);
    return there.opened;
  }

  willRemove(path: string): void {
    // What is empty then goes as well, and with it the time of the folder above.
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
      // What could not be opened is told of by what cannot be removed from it.
      await Promise.allSettled(folders.map(({ mode, path }) => this.#ends.open(path, mode)));
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
        for (const { isTold, path } of rows) if (isTold) this.#tell(path);
        continue;
      }
      const failed = await this.#ends.set(rows.map(({ path }) => path));
      for (const { isTold, path } of rows) {
        const error = failed.get(path);
        if (error?.data.errno === 'EPERM') theirs += 1;
        // A file or a link lies in its place, which was told of with what could not be written below it.
        else if (error?.code === 'conflict' || error?.code === 'unsafePath') continue;
        else if (error) failItem(this.#run, nameOf(path), error);
        else if (isTold) this.#tell(path);
      }
    }
    if (theirs === 0) return;
    const message = `${formatPlural(theirs, 'folder')} at ${this.#run.destination.text} cannot be given modes and times, as somebody else owns what is there.`;
    context.emit({ type: 'warning', warning: 'foldersOfOthers', message });
  }

  /** Files of the destination were met and its own folder was not: it is a machine that tells only of empty folders. */
  #isOlder(): boolean {
    return !this.#met.root!.destination && !this.#options.isRootNew && this.#run.counts.destinationFiles > 0;
  }

  #isRootTheirs(there: TreeItem | undefined): boolean {
    const { destination, request } = this.#run;
    if (destination.kind === 'remote') return destination.store.files!.folders.isRootTheirs;
    // What was not looked at may be anybody's.
    if (request.noCheckDestination && !this.#options.isRootNew) return true;
    return ((there?.mode ?? 0) & STICKY) !== 0;
  }

  /** It and all above it travel; what is known of them by now is noted. */
  #keep(folder: FolderMet): void {
    for (let at: FolderMet | undefined = folder; at && !at.isKept; at = at.above) {
      at.isKept = true;
      if (!at.source) continue;
      if (!at.destination || this.#differs(at.source, at.destination)) this.#note(at);
      if (!at.destination && at.above) this.#change(at.above);
    }
  }

  #change(folder: FolderMet): void {
    if (folder.isChanged) return;
    folder.isChanged = true;
    this.#note(folder);
  }

  /** `--update` is about files and changes nothing here. Where times are not compared, only the mode counts. */
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

  /** A folder whose content changes is reported by these changes, and by itself only if its mode differs as well. */
  #note({ destination, isChanged, isTheirs, path, source }: FolderMet): void {
    if (isTheirs || !source) return;
    // What was there must never change.
    if (this.#run.request.immutable && destination) return;
    const isTold =
      destination !== undefined &&
      (isChanged ? this.#hasOtherMode(source, destination) : this.#differs(source, destination));
    this.#notes.add(path, isTold);
  }

  #isShut({ destination, isTheirs }: FolderMet): boolean {
    const mode = destination?.mode;
    if (mode === undefined || isTheirs || this.#run.request.immutable) return false;
    return (mode & OPEN_BITS) !== OPEN_BITS;
  }

  #spillShut(): void {
    this.#shut ??= this.#run.knowledge.index.spill();
    this.#shut.push(this.#shutPaths);
    this.#shutPaths = [];
  }

  #tell(path: string): void {
    const { counts } = this.#run;
    counts.touchedFolders += 1;
    const special = { kind: 'folder' } as const;
    tellChange(this.#run, 'time', {
      path: nameOf(path),
      kind: 'file',
      sizeBytes: 0,
      token: '',
      modifiedMs: 0,
      special,
    });
  }
}

/** For people. */
function nameOf(path: string): string {
  return path === '' ? './' : path;
}
