/**
 * Writes a commit's files into the workspace: packs by merged ranges, objects whole, chunks in parallel. Each
 * blob is verified against its hash before its file appears under its name. A written file becomes a row of
 * the index after it is synced (`written-rows.ts`).
 */
import { DrayError, type ErrorRecord, openFilesLimit, toErrorRecord } from '../../api/error.ts';
import { Budget } from '../../base/budget.ts';
import { createLeasedMemory, type LeasedMemory } from '../../base/leased-memory.ts';
import { isDamage, readChecked } from '../../base/read-checked.ts';
import { TaskSet } from '../../base/task-set.ts';
import { COMPRESSED_CONTENT_BYTES_MAX } from '../../compression/zstd-blob.ts';
import type {
  PackedFile,
  TreeWriter,
  WriteResult,
  WrittenStat,
} from '../../files/write/tree-writer-types.ts';
import type { CommitHash, FileEntry, PackHash } from '../../model/entry.ts';
import type { ObjectStore, ReadOptions, RemoteKey } from '../../remotes/object-store.ts';
import { packKey } from '../../repository/keys.ts';
import { type PackRead, planPackReads, storedBytesOf } from '../../repository/packs/pack-reads.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { forgottenCommit, isForgotten } from '../retention/forgotten.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import type { Progress } from '../session/progress.ts';
import { damagedObject, wrongBytes } from './damaged-object.ts';
import { type LocalChunks, openLocalChunks } from './local-chunks.ts';
import {
  type ContentPart,
  keyOfContent,
  type Piece,
  type ReadPiece,
  sizesOf,
  storedPieces,
  writeLocalPiece,
  writePiece,
} from './stored-pieces.ts';
import type { LeavingOut } from './unheld-entries.ts';
import { createWrittenRows, type WrittenRows } from './written-rows.ts';

const MIB = 1024 * 1024;
/** Bytes in memory between the network and the disk. */
const MEMORY_BYTES = 96 * MIB;
/** Reading this many unwanted bytes of a pack costs less than another request. */
const PACK_GAP_BYTES = 256 * 1024;
/** Ranges of this size keep several connections and both writers busy on one pack. */
const PACK_RANGE_BYTES = 8 * MIB;
/** Objects up to this size are read whole; larger ones stream to the disk, in parallel ranges. */
const WHOLE_BYTES = 32 * MIB;

export interface DownloadOptions {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly link: LinkedRepository;
  /** The files are this commit's. */
  readonly commit: CommitHash;
  readonly writer: TreeWriter;
  readonly limit: AdaptiveLimit;
  readonly progress: Progress;
  readonly leavingOut?: LeavingOut | undefined;
  readonly asEdits?: boolean | undefined;
  /** Asked right before a file is written. False keeps the local file and reports a conflict. */
  readonly mayReplace: (path: string) => boolean;
  /** Called after `mayReplace` for one or more files, and before the first of them is replaced. */
  readonly beforeReplacing: () => Promise<void>;
}

export interface Downloaded {
  readonly bytes: number;
  /** Number of files. */
  readonly written: number;
  readonly failed: number;
}

type PackedEntry = FileEntry & Pick<PackedFile, 'offset' | 'storedBytes'>;

/**
 * @param windows Batches of entries in any order; files of one pack are fetched together within one batch.
 */
export async function downloadFiles(
  options: DownloadOptions,
  windows: AsyncIterable<readonly FileEntry[]> | Iterable<readonly FileEntry[]>,
): Promise<Downloaded> {
  const downloader = new FileDownloader(options);
  return downloader.run(windows);
}

class FileDownloader {
  readonly #options: DownloadOptions;
  readonly #tasks: TaskSet;
  readonly #memory: LeasedMemory;
  /** Bounds the large files being written: each holds an open temporary file. */
  readonly #openFiles = new Budget(16);
  readonly #rows: WrittenRows;
  #isForgotten: Promise<boolean> | undefined;
  #bytes = 0;
  #failed = 0;

  constructor(options: DownloadOptions) {
    this.#options = options;
    this.#tasks = new TaskSet(options.session.context.signal);
    const { link } = options;
    this.#rows = createWrittenRows({ ...options, onFailure: (error) => this.#tasks.fail(error) });
    const { packBelow, chunkSize } = link.layout;
    const storedBytes = Math.max(COMPRESSED_CONTENT_BYTES_MAX, PACK_RANGE_BYTES, packBelow, chunkSize.max);
    this.#memory = createLeasedMemory({
      budget: new Budget(MEMORY_BYTES),
      largestBytes: this.#memoryOf({ storedBytes, contentBytes: COMPRESSED_CONTENT_BYTES_MAX }),
      open: (lengthBytes) => ({ buffer: new SharedArrayBuffer(lengthBytes), start: 0 }),
    });
  }

  async run(
    windows: AsyncIterable<readonly FileEntry[]> | Iterable<readonly FileEntry[]>,
  ): Promise<Downloaded> {
    try {
      for await (const entries of windows) {
        this.#tasks.check();
        await this.#takeWindow(entries);
      }
    } catch (error) {
      this.#tasks.fail(error);
    }
    try {
      await this.#tasks.settle();
    } finally {
      await this.#rows.finish();
    }
    return { bytes: this.#bytes, written: this.#rows.count(), failed: this.#failed };
  }

  async #takeWindow(entries: readonly FileEntry[]): Promise<void> {
    const packs = new Map<PackHash, PackedEntry[]>();
    const empty: FileEntry[] = [];
    for (const entry of entries) {
      const { location } = entry;
      switch (location.in) {
        case 'nowhere':
          empty.push(entry);
          break;
        case 'pack': {
          const { offset, storedBytes } = location;
          const item = { ...entry, offset, ...(storedBytes === undefined ? {} : { storedBytes }) };
          const items = packs.get(location.pack);
          if (items) items.push(item);
          else packs.set(location.pack, [item]);
          break;
        }
        case 'object':
          await (location.storedBytes !== undefined || entry.sizeBytes <= WHOLE_BYTES
            ? this.#takeWhole(entry, location.storedBytes)
            : this.#takeLarge(entry));
          break;
        case 'chunks':
          await this.#takeLarge(entry);
          break;
      }
    }
    if (empty.length > 0)
      await this.#writeMany(
        new Uint8Array(0),
        empty.map((entry) => ({ ...entry, offset: 0 })),
        true,
      );
    for (const [pack, items] of packs) await this.#takePack(pack, items);
  }

  async #takePack(pack: PackHash, items: readonly PackedEntry[]): Promise<void> {
    const limits = { gapBytesMax: PACK_GAP_BYTES, rangeBytesMax: PACK_RANGE_BYTES };
    for (const read of planPackReads(items, limits)) {
      const range = { start: read.start, end: read.end };
      await this.#spawnRead(
        { key: packKey(pack), range, storedBytes: read.end - read.start },
        (bytes, entries, isAgain) => this.#writePacked(pack, bytes, { ...read, items: entries }, isAgain),
        read.items,
      );
    }
  }

  /** A truncated pack costs only the files whose bytes are gone. */
  async #writePacked(
    pack: PackHash,
    bytes: Uint8Array,
    read: PackRead<PackedEntry>,
    isAgain: boolean,
  ): Promise<readonly PackedEntry[]> {
    const items = read.items.map((item) => ({ ...item, offset: item.offset - read.start }));
    const isThere = (item: PackedEntry) => item.offset + storedBytesOf(item) <= bytes.length;
    const cut = read.items.filter((_, at) => !isThere(items[at]!));
    const wrong = await this.#writeMany(bytes, items.filter(isThere), isAgain);
    if (!isAgain) {
      const wrongPaths = new Set(wrong.map(({ path }) => path));
      return [...cut, ...read.items.filter(({ path }) => wrongPaths.has(path))];
    }
    for (const item of cut) {
      const what = `ends at byte ${read.start + bytes.length}, but needs more`;
      this.#fail(item, toErrorRecord(damagedObject(packKey(pack), what)));
    }
    return [];
  }

  /** Its length says whether the object is compressed: it may be stored otherwise than the entry says. */
  async #takeWhole(entry: FileEntry, frameBytes?: number): Promise<void> {
    const { sizeBytes } = entry;
    await this.#spawnRead(
      { key: keyOfContent(entry), ...sizesOf(sizeBytes, frameBytes) },
      async (bytes, _, isAgain) => {
        const stored = bytes.length < sizeBytes ? { storedBytes: bytes.length } : {};
        return this.#writeMany(bytes, [{ ...entry, offset: 0, ...stored }], isAgain);
      },
      [entry],
    );
  }

  /**
   * Waits for memory, then reads and uses the bytes in the background. A missing or damaged object fails only
   * its own files. Damaged bytes are read a second time before their files fail.
   * @param use Resolves to the entries whose bytes were wrong. The second time it fails them.
   */
  async #spawnRead<E extends FileEntry>(
    part: ContentPart,
    use: (bytes: Uint8Array, entries: readonly E[], isAgain: boolean) => Promise<readonly E[]>,
    entries: readonly E[],
  ): Promise<void> {
    const memory = await this.#memory.take(this.#memoryOf(part), this.#tasks.signal);
    this.#tasks.spawn(async () => {
      try {
        const read = () => this.#read(part, memory.bytes);
        const wrong = await use(await read(), entries, false);
        if (wrong.length > 0) await use(await read(), wrong, true);
      } catch (error) {
        if (!(error instanceof DrayError) || error.code !== 'damaged') throw error;
        for (const entry of entries) this.#fail(entry, toErrorRecord(error));
      } finally {
        memory.release();
      }
    });
  }

  /** For the read, sealed as it may be, and for content that is compressed. */
  #memoryOf({ contentBytes = 0, storedBytes }: Omit<ContentPart, 'key'>): number {
    const readBytes = Math.max(contentBytes, storedBytes);
    const { sealing } = this.#options.store;
    return (sealing?.readBytesMax(readBytes) ?? readBytes) + Math.min(contentBytes, storedBytes);
  }

  /** The answer may be shorter than requested; the caller decides which files that fails. */
  async #read(part: ContentPart, into: Uint8Array): Promise<Uint8Array> {
    const { key, range } = part;
    const read = await this.#request(part, (options) =>
      this.#options.store.read(key, { ...options, ...(range ? { range } : {}), into }),
    );
    this.#bytes += read.bytes.length;
    return read.bytes;
  }

  /** A sealed chunk is left as it is: the thread that writes it opens it. */
  async #readPiece(piece: Piece, into: Uint8Array): Promise<ReadPiece> {
    const { sealing } = this.#options.store;
    if (!sealing || piece.hash === undefined) {
      const bytes = await this.#read(piece, into);
      return { bytes, sizeBytes: bytes.length };
    }
    const read = await this.#request(piece, (options) =>
      sealing.readUnopened(piece.key, { ...options, into }),
    );
    const { object, sizeBytes, stored } = read;
    this.#bytes += sizeBytes;
    return { bytes: stored, sizeBytes, sealed: { object, sizeBytes } };
  }

  async #request<Found>(
    { contentBytes, key, storedBytes }: ContentPart,
    read: (options: Pick<ReadOptions, 'maxBytes' | 'signal'>) => Promise<Found | undefined>,
  ): Promise<Found> {
    const { signal } = this.#tasks;
    const found = await this.#options.limit.run(
      () => read({ maxBytes: contentBytes ?? storedBytes, signal }),
      { bytes: storedBytes, signal },
    );
    if (!found) throw await this.#missing(key);
    return found;
  }

  /** Fails one file, or everything if the commit was forgotten meanwhile, which is asked once. */
  async #missing(key: RemoteKey): Promise<DrayError> {
    const { commit, store } = this.#options;
    this.#isForgotten ??= isForgotten(store, commit, { signal: this.#tasks.signal }).catch(() => false);
    if (await this.#isForgotten) return forgottenCommit(commit);
    return damagedObject(key, 'is missing on the remote');
  }

  /** @returns The entries whose bytes were wrong; the second time none, because these have failed. */
  async #writeMany<E extends PackedFile & FileEntry>(
    bytes: Uint8Array,
    items: readonly E[],
    isAgain: boolean,
  ): Promise<readonly E[]> {
    const wanted = items.filter((item) => this.#mayReplace(item));
    if (wanted.length === 0) return [];
    await this.#options.beforeReplacing();
    const results = await this.#options.writer.writeMany(bytes, wanted);
    return this.#record(wanted, results, isAgain);
  }

  #record<E extends FileEntry>(
    entries: readonly E[],
    results: readonly WriteResult[],
    isAgain: boolean,
  ): readonly E[] {
    const wrong: E[] = [];
    results.forEach((result, at) => {
      const entry = entries[at]!;
      if (!('error' in result)) this.#note(entry, result.stat);
      else if (result.error.code === 'damaged' && !isAgain) wrong.push(entry);
      else this.#fail(entry, result.error);
    });
    return wrong;
  }

  #note(entry: FileEntry, stat: WrittenStat): void {
    this.#rows.add(entry, stat);
    this.#options.progress.add(1, entry.sizeBytes);
  }

  #fail(entry: FileEntry, error: ErrorRecord): void {
    if (error.code === 'aborted') return;
    if (this.#options.leavingOut?.takes(entry, error)) {
      this.#options.progress.add(1, entry.sizeBytes);
      return;
    }
    const limited = openFilesLimit(error);
    if (limited) {
      this.#tasks.fail(limited);
      return;
    }
    if (error.code === 'damaged') this.#forget(entry);
    this.#failed += 1;
    this.#options.progress.add(1, entry.sizeBytes);
    this.#options.session.context.emit({
      type: 'fileFailed',
      path: entry.path,
      error: named(entry, error),
    });
    if (error.code === 'diskFull')
      this.#tasks.fail(new DrayError('diskFull', error.message, { data: error.data }));
  }

  /** Removes from the index what is missing or damaged on the remote. */
  #forget({ blob, location }: FileEntry): void {
    const { blobs } = this.#options.link;
    blobs.remove(blob);
    if (location.in === 'chunks') for (const chunk of location.chunks) blobs.remove(chunk.hash);
  }

  #mayReplace(entry: FileEntry): boolean {
    try {
      if (this.#options.mayReplace(entry.path)) return true;
    } catch (error) {
      this.#fail(entry, toErrorRecord(error));
      return false;
    }
    const message = `${entry.path} changed here during the pull; it was left as it is. Pull again.`;
    this.#fail(entry, { code: 'conflict', message, retry: 'no', data: { path: entry.path } });
    return false;
  }

  /** Writes one file in pieces: chunk by chunk, or a large object by ranges. */
  async #takeLarge(entry: FileEntry): Promise<void> {
    const open = await this.#openFiles.acquire(1, this.#tasks.signal);
    const { link, session } = this.#options;
    // Opened first: the older version may be put aside when it may be replaced.
    const local = await openLocalChunks(session, link, entry);
    if (!this.#mayReplace(entry)) {
      await local?.close();
      return open.release();
    }
    this.#tasks.spawn(async () => {
      try {
        const fetched = this.#options.progress.during(entry, () => this.#fetchLarge(entry, { local }));
        await fetched.catch((error: unknown) => {
          if (!isDamage(error) || entry.location.in !== 'object') throw error;
          // It may be stored as a frame, which its length shows once it is read whole.
          if (entry.sizeBytes <= COMPRESSED_CONTENT_BYTES_MAX) return this.#takeWhole(entry);
          // A range has no hash of its own, so the whole object is fetched a second time.
          if (error.data.key !== undefined) throw error;
          return this.#fetchLarge(entry, { isAgain: true });
        });
      } catch (error) {
        if (!(error instanceof DrayError) || !FILE_ERRORS.has(error.code)) throw error;
        this.#fail(entry, toErrorRecord(error));
      } finally {
        await local?.close();
        open.release();
      }
    });
  }

  async #fetchLarge(
    entry: FileEntry,
    { isAgain = false, local }: { readonly isAgain?: boolean; readonly local?: LocalChunks | undefined },
  ): Promise<void> {
    const file = await this.#options.writer.openLarge(entry);
    // Pieces stop when one of them or the whole download fails. The file is discarded after all have stopped.
    const pieces = new TaskSet(this.#tasks.signal);
    try {
      for (const piece of storedPieces(entry)) {
        pieces.check();
        const memory = await this.#memory.take(this.#memoryOf(piece), pieces.signal);
        pieces.spawn(async () => {
          try {
            if (!(await writeLocalPiece(file, piece, { local, memory: memory.bytes })))
              await readChecked(
                () => this.#readPiece(piece, memory.bytes),
                (read) => writePiece(file, piece, read),
              );
            const { contentBytes = piece.storedBytes } = piece;
            if (!isAgain) this.#options.progress.add(0, contentBytes, entry.path);
          } finally {
            memory.release();
          }
        });
      }
    } catch (error) {
      pieces.fail(error);
    }
    try {
      await pieces.settle();
      // Checked again: the download may have taken hours.
      if (!this.#mayReplace(entry)) return;
      await this.#options.beforeReplacing();
      const stat = await file.commit({ verifyContent: entry.location.in === 'object' });
      this.#rows.add(entry, stat);
      this.#options.progress.add(1, 0);
    } finally {
      await file.discard();
      pieces.end();
    }
  }
}

/** Errors that fail one file and let the others continue. */
const FILE_ERRORS = new Set(['damaged', 'unsafePath', 'conflict', 'io', 'diskFull']);

/**
 * Adds the file's path to the error and, when its bytes do not match its hash, the object that they came
 * from.
 */
function named(entry: FileEntry, error: ErrorRecord): ErrorRecord {
  const { path } = entry;
  const isUnplaced = error.code === 'damaged' && error.data.key === undefined;
  const known = isUnplaced ? toErrorRecord(wrongBytes(keyOfContent(entry))) : error;
  const data = { ...known.data, path };
  return known.message.includes(path)
    ? { ...known, data }
    : { ...known, data, message: `${path}: ${known.message}` };
}
