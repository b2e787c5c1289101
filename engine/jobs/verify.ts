/**
 * `dray verify`: whether everything that commits name is on the remote and, with `--read-data`, whether its bytes are
 * still the ones that were pushed. By default all commits that branches and tags lead back to; with a ref, that one.
 *
 * In memory: one record for each pack and object that the commits name, and one segment at a time.
 */
import { createHash } from 'node:crypto';
import { DrayError } from '../api/error.ts';
import type { JobContext, VerifyRequest, VerifySummary } from '../api/jobs.ts';
import { TaskSet } from '../base/task-set.ts';
import type { CommitHash, Entry, FileEntry } from '../model/entry.ts';
import type { ObjectStore, RemoteKey } from '../remotes/object-store.ts';
import type { Commit } from '../repository/commit.ts';
import { OBJECTS_PREFIX, objectKey, PACKS_PREFIX, packKey } from '../repository/keys.ts';
import { readEntries } from '../repository/read-entries.ts';
import { listRefs } from '../repository/refs.ts';
import { type Connection, connect } from './connection.ts';
import { walkHistory } from './log.ts';
import { createProgress } from './progress.ts';
import { resolveCommit } from './resolve-commit.ts';
import { openSession, type Session } from './session.ts';

const LIST_FROM_OBJECTS = 500;
const TOLD_PATHS_MAX = 1000;

export async function verify(context: JobContext, request: VerifyRequest): Promise<VerifySummary> {
  const session = await openSession(context, 'verify', 'shared');
  try {
    const connection = await connect(session);
    try {
      return await new Verifier(session, connection, request).run();
    } finally {
      await connection.store.close();
    }
  } finally {
    session.close();
  }
}

/** What is known of one stored object. */
interface StoredObject {
  /** What it must hold at least (a pack) or exactly (an object), in bytes. */
  sizeBytes: number;
  readonly isPack: boolean;
  fault: string | undefined;
  isMissing: boolean;
}

class Verifier {
  readonly #session: Session;
  readonly #store: ObjectStore;
  readonly #meter: Connection['meter'];
  readonly #limit: Connection['limit'];
  readonly #request: VerifyRequest;
  readonly #objects = new Map<RemoteKey, StoredObject>();
  readonly #badBlobs = new Set<string>();
  readonly #commits = new Map<CommitHash, Commit>();
  #files = 0;
  #readBytes = 0;
  #unreadable = 0;

  constructor(session: Session, connection: Connection, request: VerifyRequest) {
    this.#session = session;
    this.#store = connection.store;
    this.#meter = connection.meter;
    this.#limit = connection.limit;
    this.#request = request;
  }

  async run(): Promise<VerifySummary> {
    const { context } = this.#session;
    context.emit({ type: 'phase', phase: 'verify' });
    await this.#collectCommits();
    for (const [hash, commit] of this.#commits) await this.#collectObjects(hash, commit);
    await this.#checkExistence();
    const percent = this.#request.readDataPercent;
    if (percent !== undefined) await this.#readData(percent);
    const affected = await this.#affectedPaths();
    const all = [...this.#objects.values()];
    const missing = all.filter((object) => object.isMissing).length;
    const damaged =
      all.filter((object) => object.fault !== undefined && !object.isMissing).length + this.#unreadable;
    this.#tell(missing, damaged, percent);
    return {
      commits: this.#commits.size,
      files: this.#files,
      objects: this.#objects.size,
      readBytes: this.#readBytes,
      missing,
      damaged,
      affectedPaths: affected,
      requests: this.#meter.totals(),
    };
  }

  async #collectCommits(): Promise<void> {
    const session = this.#session;
    const { signal } = session.context;
    const { ref } = this.#request;
    if (ref !== undefined) {
      const hash = await resolveCommit(session, this.#store, ref);
      await this.#guard(`commit ${hash}`, async () => {
        for await (const [found, commit] of walkHistory(session, this.#store, [hash])) {
          this.#commits.set(found, commit);
          break;
        }
      });
      return;
    }
    const [branches, tags] = await Promise.all([
      listRefs(this.#store, 'heads', { signal }),
      listRefs(this.#store, 'tags', { signal }),
    ]);
    // One ref at a time, so that a damaged history hides only its own past.
    for (const start of [...branches, ...tags]) {
      if (this.#commits.has(start.commit)) continue;
      await this.#guard(start.name, async () => {
        for await (const [hash, commit] of walkHistory(session, this.#store, [start.commit]))
          this.#commits.set(hash, commit);
      });
    }
  }

  async #collectObjects(hash: CommitHash, commit: Commit): Promise<void> {
    await this.#guard(`commit ${hash}`, async () => {
      for await (const entries of readEntries(this.#store, commit, {
        signal: this.#session.context.signal,
      })) {
        for (const entry of entries) this.#noteEntry(entry);
      }
    });
  }

  #noteEntry(entry: Entry): void {
    if (entry.kind !== 'file') return;
    this.#files += 1;
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

  /** HEADs for a few, listings for many: the cheaper of both. */
  async #checkExistence(): Promise<void> {
    const counts = { packs: 0, objects: 0 };
    for (const { isPack } of this.#objects.values()) counts[isPack ? 'packs' : 'objects'] += 1;
    await this.#checkKind(true, counts.packs, PACKS_PREFIX);
    await this.#checkKind(false, counts.objects, OBJECTS_PREFIX);
  }

  async #checkKind(isPack: boolean, count: number, prefix: string): Promise<void> {
    const wanted = [...this.#objects].filter(([, object]) => object.isPack === isPack);
    const sizes = new Map<RemoteKey, number>();
    if (count > LIST_FROM_OBJECTS) {
      await this.#listSizes(prefix, sizes);
    } else {
      await this.#each(
        wanted.map(([key]) => key),
        async (key, signal) => {
          const info = await this.#store.head(key, { signal });
          if (info) sizes.set(key, info.sizeBytes);
        },
      );
    }
    for (const [key, object] of wanted) {
      const sizeBytes = sizes.get(key);
      if (sizeBytes === undefined) {
        object.isMissing = true;
        object.fault = 'is missing';
      } else if (isPack ? sizeBytes <= object.sizeBytes : sizeBytes !== object.sizeBytes) {
        object.fault = `holds ${sizeBytes} bytes, and ${isPack ? 'more than ' : ''}${object.sizeBytes} belong there`;
      }
    }
  }

  async #listSizes(prefix: string, sizes: Map<RemoteKey, number>): Promise<void> {
    let continuation: string | undefined;
    do {
      const page = await this.#store.list(
        { prefix, ...(continuation === undefined ? {} : { continuation }) },
        { signal: this.#session.context.signal },
      );
      for (const { key, sizeBytes } of page.objects) if (this.#objects.has(key)) sizes.set(key, sizeBytes);
      continuation = page.continuation;
    } while (continuation !== undefined);
  }

  /** A random share of the objects, each read whole and hashed. */
  async #readData(percent: number): Promise<void> {
    const { clock } = this.#session;
    const whole = [...this.#objects].filter(([, object]) => object.fault === undefined);
    const chosen = whole.filter(() => percent >= 100 || clock.random() * 100 < percent).map(([key]) => key);
    const progress = createProgress(
      this.#session,
      'verify',
      { files: chosen.length },
      () => this.#meter.totals().total,
    );
    await this.#each(chosen, async (key, signal) => {
      const read = await this.#store.get(key, { signal });
      if (!read) {
        Object.assign(this.#objects.get(key)!, { isMissing: true, fault: 'is missing' });
        return;
      }
      const hash = createHash('sha256');
      let bytes = 0;
      for await (const piece of read.body) {
        hash.update(piece);
        bytes += piece.length;
      }
      this.#readBytes += bytes;
      progress.add(1, bytes);
      const [, fanout, rest] = key.split('/');
      if (hash.digest('hex') !== `${fanout}${rest}`)
        this.#objects.get(key)!.fault = 'does not hold the bytes that its name says';
    });
    progress.end();
  }

  async #each(
    keys: readonly RemoteKey[],
    work: (key: RemoteKey, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const tasks = new TaskSet(this.#session.context.signal);
    for (const key of keys) {
      if (tasks.signal.aborted) break;
      tasks.spawn(() => this.#limit.run(() => work(key, tasks.signal), { bytes: 0, signal: tasks.signal }));
    }
    await tasks.settle();
  }

  /** Tells every path that a fault touches. In a pack that lost some bytes, only the blobs that really changed count. */
  async #affectedPaths(): Promise<number> {
    const bad = new Map([...this.#objects].filter(([, object]) => object.fault !== undefined));
    if (bad.size === 0) return 0;
    const pathsOf = new Map<RemoteKey, Set<string>>();
    for (const [, commit] of this.#commits) {
      await this.#guard('', async () => {
        for await (const entries of readEntries(this.#store, commit, {
          signal: this.#session.context.signal,
        })) {
          for (const entry of entries)
            if (entry.kind === 'file') await this.#noteAffected(entry, bad, pathsOf);
        }
      });
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

  /** Reads one blob out of a damaged pack. */
  async #isBlobBad(entry: FileEntry, key: RemoteKey): Promise<boolean> {
    if (entry.location.in !== 'pack') return true;
    if (this.#badBlobs.has(entry.blob)) return true;
    const range = { start: entry.location.offset, end: entry.location.offset + entry.sizeBytes };
    const options = { range, maxBytes: entry.sizeBytes, signal: this.#session.context.signal };
    const read = await this.#store.read(key, options).catch((error: unknown) => {
      if (error instanceof DrayError && error.code === 'aborted') throw error;
      return undefined;
    });
    const isGood = read !== undefined && createHash('sha256').update(read.bytes).digest('hex') === entry.blob;
    if (!isGood) this.#badBlobs.add(entry.blob);
    return !isGood;
  }

  /** A commit or segment that cannot be read is a finding, not the end. */
  async #guard(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const isFinding = error instanceof DrayError && (error.code === 'damaged' || error.code === 'notFound');
      if (!isFinding) throw error;
      if (what === '') return;
      this.#unreadable += 1;
      this.#session.context.emit({
        type: 'check',
        check: 'damaged',
        result: 'failed',
        detail: `${what}: ${error.message}`,
      });
    }
  }

  #tell(missing: number, damaged: number, percent: number | undefined): void {
    if (missing + damaged > 0) return;
    const how =
      percent === undefined ? 'existence and sizes' : `existence and sizes, ${percent} % of the objects read`;
    const detail = `${this.#commits.size} commits, ${this.#objects.size} objects: ${how}`;
    this.#session.context.emit({ type: 'check', check: 'repository', result: 'ok', detail });
  }
}

interface Part {
  readonly key: RemoteKey;
  /** An object's size; how far into a pack the blob reaches. */
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
