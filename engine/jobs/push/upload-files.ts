/**
 * The data phase of a push. One read of each changed file feeds its hash, the chunker, and the pack or the
 * upload. Blobs that the index knows are left out, the existence query checks the rest, and each confirmed
 * object becomes a row of the index, from which a killed push resumes.
 */
import { DrayError, type ErrorRecord, openFilesLimit, toErrorRecord } from '../../api/error.ts';
import { Budget } from '../../base/budget.ts';
import { createHeapBound } from '../../base/heap-bound.ts';
import { TaskSet } from '../../base/task-set.ts';
import {
  type ReadBatch,
  type ReadRequest,
  type ReadResult,
  readFiles,
} from '../../files/read/file-reader.ts';
import { openFileSource } from '../../files/read/file-source.ts';
import { checkFileUnchanged, isFileChange } from '../../files/read/unchanged.ts';
import type { PendingTotals } from '../../index/file-table.ts';
import type { BlobHash, StoredBlob } from '../../model/entry.ts';
import type { ExistenceQuery } from '../../query/existence/existence-query.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Meter } from '../../remotes/wrappers/with-meter.ts';
import { newObject, newObjectKey } from '../../repository/collection/collection-view.ts';
import { packKey } from '../../repository/keys.ts';
import type { PackBuilder } from '../../repository/packs/pack.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { budgetedMemory } from '../../transfer/upload/budgeted-memory.ts';
import { uploadInParts } from '../../transfer/upload/multipart-upload.ts';
import { type BaseCommit, pendingScope } from '../session/base/base-commit.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { createProgress, type Progress } from '../session/progress.ts';
import { createTraffic } from '../session/traffic.ts';
import { findLostUploads } from './confirm-uploads.ts';
import { createHashFilter } from './hash-filter.ts';
import { createOpenPacks, type OpenPacks } from './open-packs.ts';
import type { PushForecast } from './push-forecast.ts';
import { sendPack } from './send-pack.ts';
import {
  type CutChunks,
  createStoredBlobs,
  type Places,
  type StoredBlobs,
  storedAs,
} from './stored-blobs.ts';

/**
 * Bytes of files in memory at once, between the disk and the network: 32 average chunks, or two of the
 * largest files that are not cut. Reading is faster than any link and fills all of it, so this is the memory
 * of a push of large files.
 */
const MEMORY_BYTES = 96 * 1024 * 1024;
/**
 * Closed packs in memory at once. The reader's own bytes are free again once they are copied into the pack.
 */
const PACK_MEMORY_BYTES = 128 * 1024 * 1024;
const OPEN_FILES_MAX = 16;

export interface UploadOptions {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly link: LinkedRepository;
  readonly query: ExistenceQuery;
  readonly limit: AdaptiveLimit;
  readonly base: BaseCommit;
  /** If given, the push reads and asks but sends nothing, and counts here what it would send. */
  readonly forecast: PushForecast | undefined;
  readonly meter: Meter;
}

export interface Uploaded {
  readonly objects: number;
  readonly bytes: number;
  readonly failed: number;
}

/** The caller confirms what was sent (`confirmUploads`) before a commit names it. */
export async function uploadFiles(options: UploadOptions): Promise<Uploaded> {
  // Objects of a killed push: those that are missing are sent again.
  if (!options.forecast) await findLostUploads(options);
  return uploadPending(options);
}

async function uploadPending(options: UploadOptions): Promise<Uploaded> {
  const totals = options.session.index.files.pendingTotals(pendingScope(options.link, options.base));
  if (totals.files === 0) return { objects: 0, bytes: 0, failed: 0 };
  return new FileUploader(options, totals).run();
}

type WholeResult = Extract<ReadResult, { kind: 'whole' }>;
type ChunkResult = Extract<ReadResult, { kind: 'chunk' }>;
type ChunkedResult = Extract<ReadResult, { kind: 'chunked' }>;

/** An object to ask about and, if absent, to send. `object`: how it is stored, once it is. */
interface Candidate {
  readonly hash: BlobHash;
  readonly sizeBytes: number;
  /** Undefined: too large for memory; read again from the file. */
  readonly bytes: Uint8Array | undefined;
  readonly path: string;
  readonly stat: WholeResult['stat'] | undefined;
  object?: StoredBlob;
}

/** The results of one batch of the reader: blobs for the pack, and objects to query and send together. */
class BatchWork {
  readonly packable: WholeResult[] = [];
  readonly candidates: Candidate[] = [];
  /** How each candidate is stored; resolves when all of them are on the store. */
  readonly sent = Promise.withResolvers<Places>();

  constructor() {
    // Not every caller awaits it; a failure reaches the caller through the task set.
    this.sent.promise.catch(() => {});
  }
}

class FileUploader {
  readonly #options: UploadOptions;
  readonly #tasks: TaskSet;
  readonly #memory = new Budget(MEMORY_BYTES);
  readonly #packMemory = new Budget(PACK_MEMORY_BYTES);
  /**
   * Bounds the large files being sent, each an open file and upload: reading never waits and runs far ahead
   * of a slow link.
   */
  readonly #openFiles = new Budget(OPEN_FILES_MAX);
  readonly #progress: Progress;
  /** Path and scanned size by request id, for requests in flight. */
  readonly #requests = new Map<number, ReadRequest>();
  /** Objects being queried or sent now; the promise resolves when they are on the store. */
  readonly #sending = new Map<BlobHash, Promise<Places>>();
  /** Blobs in a pack that is not on the store yet. */
  readonly #packing = new Set<BlobHash>();
  /** Of each file that is being cut. */
  readonly #cutChunks = new Map<number, CutChunks>();
  /** Content that changed before it was stored, by the hash that it had. */
  readonly #givenUp = new Map<BlobHash, DrayError>();
  /** The index knew no blob of the repository at the start, so a look-up for each file is skipped. */
  readonly #knewNothing: boolean;
  readonly #blobs: StoredBlobs;
  /** Hashes that this push sent or found on the store. */
  readonly #placed = createHashFilter();
  readonly #packs: OpenPacks;
  #objects = 0;
  #bytes = 0;
  #failed = 0;

  constructor(options: UploadOptions, totals: PendingTotals) {
    this.#options = options;
    this.#tasks = new TaskSet(options.session.context.signal);
    const { layout } = options.link;
    this.#knewNothing = options.link.blobs.isEmpty();
    this.#blobs = createStoredBlobs({ ...options, layout, signal: this.#tasks.signal });
    const isSealed = options.store.sealing !== undefined;
    this.#packs = createOpenPacks(layout, { contentBytes: totals.bytes, isSealed });
    const { placed } = totals;
    this.#progress = createProgress(options.session, {
      phase: options.forecast ? 'hash' : 'upload',
      totals: () => ({ filesTotal: totals.files + placed.files, bytesTotal: totals.bytes + placed.bytes }),
      traffic: createTraffic([options.meter], [options.limit]),
    });
    // The upload resumes from what an interrupted push has sent.
    if (placed.files > 0) this.#progress.keep(placed.files, placed.bytes);
  }

  async run(): Promise<Uploaded> {
    const { session, link, forecast } = this.#options;
    const heap = createHeapBound();
    try {
      const batches = readFiles(this.#pendingRequests(), {
        root: session.workspace.root,
        layout: link.layout,
        wantBytes: !forecast,
        memory: this.#memory,
        signal: this.#tasks.signal,
      });
      for await (const batch of batches) {
        this.#tasks.check();
        heap.check();
        await this.#take(batch);
      }
      for (const pack of this.#packs.rest()) await this.#closePack(pack);
    } catch (error) {
      this.#tasks.fail(error);
    }
    await this.#tasks.settle().finally(() => this.#blobs.close());
    for (const [hash, error] of this.#givenUp) this.#reportGivenUp(hash, error);
    this.#progress.end();
    return { objects: this.#objects, bytes: this.#bytes, failed: this.#failed };
  }

  /** Keyset pages: finished rows lie behind the key, so no row is returned twice. */
  *#pendingRequests(): Generator<ReadRequest> {
    const { base, link, session } = this.#options;
    const scope = pendingScope(link, base);
    let id = 0;
    for (let after = ''; ; ) {
      const page = session.index.files.pageOfPendingReads(after, scope);
      for (const pending of page) {
        const request: ReadRequest = { id: id++, path: pending.path, sizeBytes: pending.sizeBytes };
        this.#requests.set(request.id, request);
        yield request;
      }
      const last = page.at(-1);
      if (!last) return;
      after = last.path;
    }
  }

  async #take(batch: ReadBatch): Promise<void> {
    const work = new BatchWork();
    this.#options.session.index.transaction(() => {
      for (const result of batch.results) {
        if (result.kind === 'whole') this.#takeWhole(result, work);
        else if (result.kind === 'chunk') this.#takeChunk(result, work);
        else if (result.kind === 'failed') this.#takeFailure(result.id, result.error);
      }
    });
    const frames = await this.#blobs.frames(work.packable.map(({ bytes }) => bytes!));
    for (const [at, { hash, stat }] of work.packable.entries()) {
      const full = this.#packs.add(hash, frames[at]!, stat.sizeBytes);
      if (full) await this.#closePack(full);
    }
    for (const result of batch.results) if (result.kind === 'chunked') this.#takeChunked(result);
    if (work.candidates.length === 0) {
      batch.release();
      return;
    }
    this.#tasks.spawn(async () => {
      try {
        work.sent.resolve(await this.#send(work.candidates));
      } catch (error) {
        work.sent.reject(error);
        throw error;
      } finally {
        batch.release();
      }
    });
  }

  #takeWhole(result: WholeResult, work: BatchWork): void {
    const { session, link, query, forecast } = this.#options;
    const { hash, stat, bytes } = result;
    const { path } = this.#finish(result.id);
    session.index.files.setRead(path, { kind: 'file', ...stat, hash });
    if (stat.sizeBytes > 0) query.noteWanted(1);
    const isKnown = stat.sizeBytes > 0 && this.#mayBeKnown(hash) && link.blobs.has(hash);
    if (isKnown) query.noteRemovedByIndex(1);
    // Empty, already stored, or being sent: nothing to do.
    if (isKnown || stat.sizeBytes === 0 || this.#packing.has(hash) || this.#sending.has(hash)) {
      this.#progress.keep(1, stat.sizeBytes);
      return;
    }
    if (stat.sizeBytes >= link.layout.packBelow) {
      this.#sending.set(hash, work.sent.promise);
      work.candidates.push({ hash, sizeBytes: stat.sizeBytes, bytes, path, stat });
      return;
    }
    this.#packing.add(hash);
    if (forecast) {
      forecast.packed(stat.sizeBytes);
      this.#progress.add(1, stat.sizeBytes);
    } else work.packable.push(result);
  }

  /** Whether the index may know content that this push has already finished sending. */
  #mayBeKnown(hash: BlobHash): boolean {
    return !this.#knewNothing || this.#placed.mayHave(hash);
  }

  /** A chunk needs an object of its own, even if a pack has its bytes. */
  #takeChunk(result: ChunkResult, work: BatchWork): void {
    const { hash, sizeBytes, bytes } = result;
    const { path, sizeBytes: fileBytes } = this.#requests.get(result.id)!;
    this.#progress.begin({ path, sizeBytes: fileBytes });
    this.#options.query.noteWanted(1);
    const { known, waitsFor } = this.#chunksOf(result.id);
    const object = this.#mayBeKnown(hash) ? this.#options.link.blobs.objectOf(hash) : undefined;
    if (object) {
      known.set(hash, object);
      this.#options.query.noteRemovedByIndex(1);
      this.#progress.keep(0, sizeBytes, path);
      return;
    }
    let sent = this.#sending.get(hash);
    if (!sent) {
      sent = work.sent.promise;
      this.#sending.set(hash, sent);
      work.candidates.push({ hash, sizeBytes, bytes, path, stat: undefined });
    } else this.#progress.keep(0, sizeBytes, path);
    waitsFor.add(sent);
  }

  #chunksOf(id: number): CutChunks {
    const chunks = this.#cutChunks.get(id) ?? { known: new Map(), waitsFor: new Set() };
    this.#cutChunks.set(id, chunks);
    return chunks;
  }

  /**
   * Writes the file's row only after all its chunks are on the store: until then a killed push must cut it
   * again.
   */
  #takeChunked(result: ChunkedResult): void {
    const { session, link, forecast } = this.#options;
    const { path } = this.#finish(result.id);
    const { known, waitsFor } = this.#chunksOf(result.id);
    this.#cutChunks.delete(result.id);
    this.#tasks.spawn(async () => {
      const places = await Promise.all(waitsFor).finally(() => this.#progress.finish(path));
      for (const [hash, object] of places.flatMap((each) => [...each])) known.set(hash, object);
      const chunks = result.chunks.map((chunk) => ({ ...chunk, ...known.get(chunk.hash) }));
      this.#progress.add(1, 0);
      session.index.transaction(() => {
        session.index.files.setRead(path, { kind: 'file', ...result.stat, hash: result.hash });
        if (!forecast) link.blobs.add(result.hash, { in: 'chunks', chunks });
      });
    });
  }

  #takeFailure(id: number, error: ErrorRecord): void {
    const limited = openFilesLimit(error);
    if (limited) throw limited;
    const { path, sizeBytes } = this.#finish(id);
    this.#failed += 1;
    this.#progress.finish(path);
    this.#progress.add(1, sizeBytes);
    this.#options.session.context.emit({ type: 'fileFailed', path, error });
  }

  #finish(id: number): ReadRequest {
    const request = this.#requests.get(id);
    if (!request) throw new DrayError('internal', `The reader answered for an unknown request ${id}.`);
    this.#requests.delete(id);
    return request;
  }

  async #send(candidates: readonly Candidate[]): Promise<Places> {
    const { query, forecast } = this.#options;
    const present = await query.resolve(candidates.map((candidate) => candidate.hash));
    const absent = candidates.filter((candidate) => !present.has(candidate.hash));
    this.#rememberPresent(candidates, present);
    for (const candidate of candidates)
      if (present.has(candidate.hash))
        this.#progress.keep(filesOf(candidate), candidate.sizeBytes, candidate.path);
    if (forecast) {
      for (const candidate of absent) {
        forecast.object(candidate.sizeBytes);
        this.#progress.add(filesOf(candidate), candidate.sizeBytes);
      }
      return new Map();
    }
    // Wait for all, even when one fails: the reader reuses the batch's bytes afterwards.
    const outcomes = await Promise.allSettled(absent.map((candidate) => this.#sendOne(candidate)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return new Map(candidates.flatMap(({ hash, object }) => (object ? [[hash, object]] : [])));
  }

  async #sendOne(candidate: Candidate): Promise<void> {
    const { bytes, hash, path, sizeBytes, stat } = candidate;
    const key = newObjectKey(this.#options.link.view, hash);
    try {
      const send = () => (bytes ? this.#blobs.put(key, hash, bytes) : this.#putLarge(candidate));
      // A file is in transit until all of its chunks are sent.
      const storedBytes = await (stat ? this.#progress.during(candidate, send) : send());
      this.#progress.add(filesOf(candidate), bytes ? sizeBytes : 0, path);
      if (storedBytes === undefined) return;
      this.#count(1, storedBytes);
      this.#options.session.index.transaction(() => {
        this.#noteSent(key, storedBytes);
        this.#notePlaced(candidate, storedBytes);
      });
    } catch (error) {
      this.#tasks.fail(error);
      throw error;
    }
  }

  /**
   * Sends a file too large for memory in parts, if it is still the file that was hashed.
   * @returns Its size; undefined when it has changed: this push leaves it out.
   */
  async #putLarge(candidate: Candidate): Promise<number | undefined> {
    const { session, store, limit, link } = this.#options;
    const open = await this.#openFiles.acquire(1, this.#tasks.signal);
    const path = `${session.workspace.root}/${candidate.path}`;
    const checkSame = () => checkFileUnchanged(path, candidate.path, candidate.stat!);
    try {
      await using source = await openFileSource(path);
      checkSame();
      await uploadInParts({
        store,
        key: newObjectKey(link.view, candidate.hash),
        source,
        checksum: 'crc32',
        limit,
        memory: budgetedMemory(this.#memory),
        journal: session.index.repositories.uploadJournal(link.known.id),
        condition: { absent: true },
        beforeComplete: checkSame,
        signal: this.#tasks.signal,
        onProgress: (bytes) => this.#progress.add(0, bytes, candidate.path),
        onKept: (bytes) => this.#progress.keep(0, bytes, candidate.path),
      });
      return candidate.sizeBytes;
    } catch (error) {
      if (!isFileChange(error)) throw error;
      this.#givenUp.set(candidate.hash, error);
      return undefined;
    } finally {
      open.release();
    }
  }

  /** Reports every file with the content that was not stored: none of them may be recorded. */
  #reportGivenUp(hash: BlobHash, error: DrayError): void {
    const { session } = this.#options;
    const paths = session.index.files.forgetRead(hash);
    // A base commit's file whose content is being restored cannot be left out of the next commit.
    if (paths.length === 0) throw error;
    this.#failed += paths.length;
    for (const path of paths) {
      const record = { ...toErrorRecord(error), data: { ...error.data, path } };
      session.context.emit({ type: 'fileFailed', path, error: record });
    }
  }

  async #closePack(builder: PackBuilder): Promise<void> {
    const { store, limit, link, session } = this.#options;
    const { signal } = this.#tasks;
    const permit = await this.#packMemory.acquire(builder.sizeBytes, signal);
    const { count: blobs, sizeBytes: contentBytes } = builder;
    this.#tasks.spawn(async () => {
      try {
        const pack = await sendPack({ store, limit, view: link.view, signal }, builder);
        this.#count(1, pack.bytes.length);
        this.#progress.add(blobs, contentBytes);
        session.index.transaction(() => {
          this.#noteSent(packKey(pack.hash), pack.bytes.length);
          link.blobs.addPack(pack.hash, pack.blobs);
          for (const { hash } of pack.blobs) {
            this.#placed.add(hash);
            this.#packing.delete(hash);
          }
        });
      } finally {
        permit.release();
      }
    });
  }

  #rememberPresent(candidates: readonly Candidate[], present: ReadonlyMap<BlobHash, number>): void {
    if (present.size === 0) return;
    this.#options.session.index.transaction(() => {
      for (const candidate of candidates) {
        const storedBytes = present.get(candidate.hash);
        if (storedBytes !== undefined) this.#notePlaced(candidate, storedBytes);
      }
    });
  }

  #noteSent(key: string, sizeBytes: number): void {
    const { link, store } = this.#options;
    if (!store.confirmsWrites) link.blobs.noteSent(key, sizeBytes);
  }

  #notePlaced(candidate: Candidate, storedBytes: number): void {
    const { hash, sizeBytes } = candidate;
    const { blobs, view } = this.#options.link;
    candidate.object = { ...newObject(view, hash), ...storedAs(sizeBytes, storedBytes) };
    blobs.add(hash, { in: 'object', ...candidate.object });
    this.#placed.add(hash);
    this.#sending.delete(hash);
  }

  #count(objects: number, bytes: number): void {
    this.#objects += objects;
    this.#bytes += bytes;
  }
}

/** A chunk counts as no file: its file counts when all of its chunks are done. */
function filesOf({ stat }: Candidate): number {
  return stat ? 1 : 0;
}
