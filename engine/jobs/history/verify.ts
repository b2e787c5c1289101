/**
 * `dray verify`: checks that the remote has everything that commits name and, with `--read-data`, that its
 * bytes are still those that were pushed. By default it checks all commits that branches and tags lead to;
 * with a ref, that one.
 *
 * Memory: one record for each pack, object and segment that the commits name, and the entries of one segment.
 */
import { createHash } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import type { JobContext, VerifyRequest, VerifySummary } from '../../api/jobs.ts';
import { formatPlural } from '../../api/numbers.ts';
import { Budget } from '../../base/budget.ts';
import { TaskSet } from '../../base/task-set.ts';
import type { BlobHash, CommitHash, Entry, FileEntry, SegmentHash } from '../../model/entry.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { type Commit, readCommit } from '../../repository/commit.ts';
import { readDescriptor } from '../../repository/descriptor.ts';
import { OBJECTS_PREFIX, objectKey, PACKS_PREFIX, packKey } from '../../repository/keys.ts';
import type { SegmentRef } from '../../repository/manifest/manifest.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { listRefNames, readRef } from '../../repository/refs.ts';
import { notARepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { createProgress } from '../session/progress.ts';
import { resolveCommit } from '../session/resolve-commit.ts';
import { createTraffic } from '../session/traffic.ts';

const LIST_FROM_OBJECTS = 500;
const TOLD_PATHS_MAX = 1000;
/** Requests that are running or waiting: as many as can ever be in flight (`--transfers`). */
const REQUESTS_BEGUN_MAX = 10_000;

export async function verify(context: JobContext, request: VerifyRequest): Promise<VerifySummary> {
  const session = await openSession(context, 'verify', 'shared');
  try {
    const remote = await openSessionRemote(session);
    try {
      return await new Verifier(session, remote, request).run();
    } finally {
      await remote.store.close();
    }
  } finally {
    session.close();
  }
}

/** The known state of one stored object. */
interface StoredObject {
  /** The size in bytes: a minimum for a pack, exact for an object. */
  sizeBytes: number;
  readonly isPack: boolean;
  fault: string | undefined;
  isMissing: boolean;
}

interface CommitSegment {
  readonly segment: SegmentRef;
  readonly commit: CommitHash;
}

/** The objects of one kind, and the counter of those that were checked. */
interface KindToCheck {
  readonly count: number;
  readonly prefix: string;
  readonly found: (objects: number) => void;
}

class Verifier {
  readonly #session: Session;
  readonly #store: ObjectStore;
  readonly #meter: OpenedRemote['meter'];
  readonly #limit: OpenedRemote['limit'];
  readonly #request: VerifyRequest;
  readonly #objects = new Map<RemoteKey, StoredObject>();
  /** Whether each blob that was read from a damaged pack is intact. */
  readonly #readBlobs = new Map<BlobHash, boolean>();
  readonly #unreadableSegments = new Set<SegmentHash>();
  #unlistedFiles = 0;
  #commits = 0;
  #files = 0;
  /** Commits that contain their entries themselves. */
  readonly #inlineCommits: CommitHash[] = [];
  /** Each segment once, with one of the commits that name it. */
  readonly #segments = new Map<SegmentHash, CommitSegment>();
  #readBytes = 0;
  #unreadable = 0;

  constructor(session: Session, remote: OpenedRemote, request: VerifyRequest) {
    this.#session = session;
    this.#store = remote.store;
    this.#meter = remote.meter;
    this.#limit = remote.limit;
    this.#request = request;
  }

  async run(): Promise<VerifySummary> {
    const { context } = this.#session;
    context.emit({ type: 'phase', phase: 'verify' });
    await this.#collectCommits();
    for await (const entries of this.#segmentEntries()) for (const entry of entries) this.#noteEntry(entry);
    await this.#checkExistence();
    const percent = this.#request.readDataPercent;
    if (percent !== undefined) await this.#readData(percent);
    const affected = await this.#affectedPaths();
    const all = [...this.#objects.values()];
    const missing = all.filter((object) => object.isMissing).length;
    const damaged =
      all.filter((object) => object.fault !== undefined && !object.isMissing).length + this.#unreadable;
    this.#emitTotals(missing, damaged, percent);
    return {
      commits: this.#commits,
      files: this.#files,
      objects: this.#objects.size,
      readBytes: this.#readBytes,
      missing,
      damaged,
      affectedPaths: affected + this.#unlistedFiles,
      requests: this.#meter.totals(),
    };
  }

  /** Reads from the store: the index's cache would hide that a commit is gone. */
  async #collectCommits(): Promise<void> {
    const { ref } = this.#request;
    if (ref !== undefined) {
      const hash = await resolveCommit(this.#session, this.#store, ref);
      await this.#collectCommit(hash);
      return;
    }
    const seen = new Set<CommitHash>(await this.#refCommits());
    // Commit by commit, so that a damaged one hides only its own past.
    for (let level = [...seen]; level.length > 0; ) {
      const parents = await Promise.all(level.map((hash) => this.#collectCommit(hash)));
      level = [...new Set(parents.flat())].filter((hash) => !seen.has(hash));
      for (const hash of level) seen.add(hash);
    }
  }

  /** Returns the commit's parents; none when it cannot be read. */
  async #collectCommit(hash: CommitHash): Promise<readonly CommitHash[]> {
    const { signal } = this.#session.context;
    try {
      const commit = await this.#limit.run(() => readCommit(this.#store, hash, { signal }), {
        bytes: 0,
        signal,
      });
      this.#noteCommit(hash, commit);
      return commit.parents;
    } catch (error) {
      this.#reportUnreadable(error);
      return [];
    }
  }

  #noteCommit(hash: CommitHash, { manifest, totals }: Commit): void {
    this.#commits += 1;
    this.#files += totals.files;
    if (manifest.kind === 'inline') {
      this.#inlineCommits.push(hash);
      for (const entry of manifest.entries) this.#noteEntry(entry);
      return;
    }
    for (const segment of manifest.segments)
      if (!this.#segments.has(segment.hash)) this.#segments.set(segment.hash, { segment, commit: hash });
  }

  /** The commits that branches and tags name. */
  async #refCommits(): Promise<readonly CommitHash[]> {
    const { signal } = this.#session.context;
    const [branches, tags] = await Promise.all([
      listRefNames(this.#store, 'heads', { signal }),
      listRefNames(this.#store, 'tags', { signal }),
    ]);
    const names = [...branches, ...tags];
    if (names.length === 0) await this.#checkRepository();
    const refs = names.map(async (name) => {
      try {
        const ref = await this.#limit.run(() => readRef(this.#store, name, { signal }), { bytes: 0, signal });
        return ref ? [ref.commit] : [];
      } catch (error) {
        this.#reportUnreadable(error);
        return [];
      }
    });
    return (await Promise.all(refs)).flat();
  }

  /** A repository without refs has nothing to verify; the descriptor shows that there is one. One request. */
  async #checkRepository(): Promise<void> {
    const { context, config, remoteName } = this.#session;
    if (await readDescriptor(this.#store, { signal: context.signal })) return;
    throw notARepository(this.#store, { isUnmet: config.remotes[remoteName]?.repository === undefined });
  }

  /** Reads the entries of all commits again: a long history does not fit into memory. */
  async *#entries(): AsyncGenerator<readonly Entry[]> {
    const { signal } = this.#session.context;
    for (const hash of this.#inlineCommits) {
      const { manifest } = await readCommit(this.#store, hash, { signal });
      if (manifest.kind === 'inline') yield manifest.entries;
    }
    yield* this.#segmentEntries();
  }

  /** Yields a segment once, however many commits share it. Reports one that cannot be read. */
  async *#segmentEntries(): AsyncGenerator<readonly Entry[]> {
    const { signal } = this.#session.context;
    let left = [...this.#segments.values()].filter(
      ({ segment }) => !this.#unreadableSegments.has(segment.hash),
    );
    while (left.length > 0) {
      let done = 0;
      const segments = left.map(({ segment }) => segment);
      try {
        // One batch for each segment, in their order.
        for await (const entries of readEntries(
          this.#store,
          { manifest: { kind: 'segments', segments } },
          { signal },
        )) {
          done += 1;
          yield entries;
        }
      } catch (error) {
        this.#reportUnreadable(error, left[done]!);
      }
      left = left.slice(done + 1);
    }
  }

  #noteEntry(entry: Entry): void {
    if (entry.kind !== 'file') return;
    for (const part of partsOf(entry)) {
      const known = this.#objects.get(part.key);
      if (!known) {
        this.#objects.set(part.key, {
          sizeBytes: part.endBytes,
          isPack: part.isPack,
          fault: undefined,
          isMissing: false,
        });
      } else if (part.isPack) known.sizeBytes = Math.max(known.sizeBytes, part.endBytes);
      else if (known.sizeBytes !== part.endBytes) known.fault = 'is named with two different sizes';
    }
  }

  /** By HEADs or by listings, whichever is cheaper. */
  async #checkExistence(): Promise<void> {
    const counts = { packs: 0, objects: 0 };
    for (const { isPack } of this.#objects.values()) counts[isPack ? 'packs' : 'objects'] += 1;
    const progress = createProgress(this.#session, {
      phase: 'query',
      totals: () => ({ filesTotal: this.#objects.size }),
      traffic: createTraffic([this.#meter], []),
    });
    const found = (objects: number) => progress.add(objects, 0);
    await this.#checkKind(true, { count: counts.packs, prefix: PACKS_PREFIX, found });
    await this.#checkKind(false, { count: counts.objects, prefix: OBJECTS_PREFIX, found });
    progress.end();
  }

  async #checkKind(isPack: boolean, { count, found, prefix }: KindToCheck): Promise<void> {
    const wanted = [...this.#objects].filter(([, object]) => object.isPack === isPack);
    const sizes = new Map<RemoteKey, number>();
    if (count > LIST_FROM_OBJECTS) {
      await this.#listSizes(prefix, sizes, found);
    } else {
      await this.#each(
        wanted.map(([key]) => key),
        async (key, signal) => {
          const info = await this.#store.head(key, { signal });
          if (info) sizes.set(key, info.sizeBytes);
          found(1);
        },
      );
    }
    for (const [key, object] of wanted) {
      const sizeBytes = sizes.get(key);
      if (sizeBytes === undefined) {
        object.isMissing = true;
        object.fault = 'is missing';
      } else if (isPack ? sizeBytes <= object.sizeBytes : sizeBytes !== object.sizeBytes) {
        object.fault = `has ${sizeBytes} bytes, but needs ${isPack ? 'more than ' : ''}${object.sizeBytes}`;
      }
    }
  }

  async #listSizes(
    prefix: string,
    sizes: Map<RemoteKey, number>,
    found: KindToCheck['found'],
  ): Promise<void> {
    let continuation: string | undefined;
    do {
      const page = await this.#store.list(
        { prefix, ...(continuation === undefined ? {} : { continuation }) },
        { signal: this.#session.context.signal },
      );
      const known = page.objects.filter(({ key }) => this.#objects.has(key));
      for (const { key, sizeBytes } of known) sizes.set(key, sizeBytes);
      found(known.length);
      continuation = page.continuation;
    } while (continuation !== undefined);
  }

  /** Reads and hashes a random share of the objects, each one whole. */
  async #readData(percent: number): Promise<void> {
    const { clock } = this.#session;
    const whole = [...this.#objects].filter(([, object]) => object.fault === undefined);
    const chosen = whole.filter(() => percent >= 100 || clock.random() * 100 < percent).map(([key]) => key);
    const progress = createProgress(this.#session, {
      phase: 'verify',
      totals: () => ({ filesTotal: chosen.length }),
      traffic: createTraffic([this.#meter], []),
    });
    await this.#each(chosen, async (key, signal) => {
      const [, fanout, rest] = key.split('/');
      const read = async () => {
        const found = await this.#hashOf(key, signal);
        if (found) this.#readBytes += found.bytes;
        return found;
      };
      const { sizeBytes } = this.#objects.get(key)!;
      let found = await progress.during({ path: key, sizeBytes }, read);
      // Read again before the store is blamed: the bytes may have been damaged in transit.
      if (found && found.hash !== `${fanout}${rest}`) found = await read();
      if (!found) {
        Object.assign(this.#objects.get(key)!, { isMissing: true, fault: 'is missing' });
        return;
      }
      progress.add(1, found.bytes);
      if (found.hash !== `${fanout}${rest}`)
        this.#objects.get(key)!.fault = 'does not contain the bytes that its name says';
    });
    progress.end();
  }

  async #hashOf(
    key: RemoteKey,
    signal: AbortSignal,
  ): Promise<{ readonly hash: string; readonly bytes: number } | undefined> {
    const read = await this.#store.get(key, { signal });
    if (!read) return undefined;
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of read.body) {
      hash.update(piece);
      bytes += piece.length;
    }
    return { hash: hash.digest('hex'), bytes };
  }

  async #each(
    keys: readonly RemoteKey[],
    work: (key: RemoteKey, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const tasks = new TaskSet(this.#session.context.signal);
    const { signal } = tasks;
    const room = new Budget(REQUESTS_BEGUN_MAX);
    try {
      for (const key of keys) {
        const permit = await room.acquire(1, signal);
        tasks.spawn(() =>
          this.#limit.run(() => work(key, signal), { bytes: 0, signal }).finally(() => permit.release()),
        );
      }
    } catch (error) {
      tasks.fail(error);
    }
    await tasks.settle();
  }

  /**
   * Reports every path that a fault affects. In a pack that lost some bytes, only the blobs that changed
   * count.
   */
  async #affectedPaths(): Promise<number> {
    const bad = new Map([...this.#objects].filter(([, object]) => object.fault !== undefined));
    if (bad.size === 0) return 0;
    const pathsOf = new Map<RemoteKey, Set<string>>();
    for await (const entries of this.#entries()) {
      for (const entry of entries) if (entry.kind === 'file') await this.#noteAffected(entry, bad, pathsOf);
    }
    const all = new Set<string>();
    for (const [key, object] of bad) {
      const paths = [...(pathsOf.get(key) ?? [])].sort();
      for (const path of paths) all.add(path);
      const detail =
        paths.length === 0 ? `${key} ${object.fault}; no file is affected` : `${key} ${object.fault}`;
      this.#session.context.emit({
        type: 'check',
        check: object.isMissing ? 'missing' : 'damaged',
        result: 'failed',
        detail,
        paths: paths.slice(0, TOLD_PATHS_MAX),
      });
    }
    return all.size;
  }

  async #noteAffected(
    entry: FileEntry,
    bad: ReadonlyMap<RemoteKey, StoredObject>,
    pathsOf: Map<RemoteKey, Set<string>>,
  ): Promise<void> {
    for (const { key } of partsOf(entry)) {
      const object = bad.get(key);
      if (!object) continue;
      if (object.isPack && !object.isMissing && !(await this.#isBlobBad(entry, key))) continue;
      const paths = pathsOf.get(key) ?? new Set();
      paths.add(entry.path);
      pathsOf.set(key, paths);
    }
  }

  /** Reads one blob of a damaged pack. */
  async #isBlobBad(entry: FileEntry, key: RemoteKey): Promise<boolean> {
    if (entry.location.in !== 'pack') return true;
    const known = this.#readBlobs.get(entry.blob);
    if (known !== undefined) return !known;
    const range = { start: entry.location.offset, end: entry.location.offset + entry.sizeBytes };
    const options = { range, maxBytes: entry.sizeBytes, signal: this.#session.context.signal };
    const read = await this.#store.read(key, options).catch((error: unknown) => {
      if (!isFinding(error)) throw error;
      return undefined;
    });
    const isGood = read !== undefined && createHash('sha256').update(read.bytes).digest('hex') === entry.blob;
    this.#readBlobs.set(entry.blob, isGood);
    return !isGood;
  }

  /** Reports a ref, commit or segment that cannot be read as a finding. @throws any other error */
  #reportUnreadable(error: unknown, place?: CommitSegment): void {
    if (!isFinding(error)) throw error;
    this.#unreadable += 1;
    let detail = error.message;
    if (place) {
      const { hash, first, last, files } = place.segment;
      this.#unreadableSegments.add(hash);
      this.#unlistedFiles += files;
      detail += ` It lists ${files} files of commit ${place.commit}, from ${first} to ${last}.`;
    }
    this.#session.context.emit({ type: 'check', check: 'damaged', result: 'failed', detail });
  }

  #emitTotals(missing: number, damaged: number, percent: number | undefined): void {
    if (missing + damaged > 0) return;
    const how =
      percent === undefined ? 'existence and sizes' : `existence and sizes, ${percent} % of the objects read`;
    const held = `${formatPlural(this.#commits, 'commit')}, ${formatPlural(this.#objects.size, 'object')}`;
    const detail = `${held}: ${how}`;
    this.#session.context.emit({ type: 'check', check: 'repository', result: 'ok', detail });
  }
}

function isFinding(error: unknown): error is DrayError {
  return error instanceof DrayError && (error.code === 'damaged' || error.code === 'notFound');
}

interface Part {
  readonly key: RemoteKey;
  /** An object's size; in a pack, the end of the blob. */
  readonly endBytes: number;
  readonly isPack: boolean;
}

function* partsOf(entry: FileEntry): Generator<Part> {
  const { location } = entry;
  switch (location.in) {
    case 'nowhere':
      return;
    case 'object':
      yield { key: objectKey(entry.blob), endBytes: entry.sizeBytes, isPack: false };
      return;
    case 'pack':
      yield { key: packKey(location.pack), endBytes: location.offset + entry.sizeBytes, isPack: true };
      return;
    case 'chunks':
      for (const chunk of location.chunks)
        yield { key: objectKey(chunk.hash), endBytes: chunk.sizeBytes, isPack: false };
  }
}
