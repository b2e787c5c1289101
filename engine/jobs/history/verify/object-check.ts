/**
 * Checks that a store has the objects and packs that entries name, with their sizes and, on request, their
 * bytes. Memory: one record for each object and pack.
 */
import { createHash } from 'node:crypto';
import { DrayError } from '../../../api/error.ts';
import { Budget } from '../../../base/budget.ts';
import { isDamage } from '../../../base/read-checked.ts';
import { TaskSet } from '../../../base/task-set.ts';
import { COMPRESSED_CONTENT_BYTES_MAX, contentOfObject } from '../../../compression/zstd-blob.ts';
import type { BlobHash, Chunk, Entry, FileEntry } from '../../../model/entry.ts';
import { HEADS_PER_PAGE } from '../../../query/existence/find-unseen.ts';
import type { RemoteKey } from '../../../remotes/object-store.ts';
import {
  hashFromPackKey,
  OBJECTS_PREFIX,
  objectKey,
  PACKS_PREFIX,
  packKey,
} from '../../../repository/keys.ts';
import { nameOnStore } from '../../../repository/name-on-store.ts';
import { readRelocation } from '../../../repository/packs/relocation.ts';
import { createProgress } from '../../session/progress.ts';
import { createTraffic } from '../../session/traffic.ts';
import { chooseData, type DataChoice, nameIn } from './choose-data.ts';
import { isFinding, type VerifyTools } from './findings.ts';

const OTHER_BYTES = 'does not contain the bytes that its name says';
const LIST_FROM_OBJECTS = 500;
const REPORTED_PATHS_MAX = 1000;
/** Compressed objects in memory, with their content. */
const MEMORY_BYTES = 128 * 1024 * 1024;
/** Requests that are running or waiting: as many as can ever be in flight (`--transfers`). */
const REQUESTS_BEGUN_MAX = 10_000;

/** The known state of one stored object. */
interface NamedObject {
  /** A pack's least size in bytes; the size that an entry names for an object, or its own if that differs. */
  sizeBytes: number;
  /** The size of an object's content; undefined for a pack. */
  readonly contentBytes: number | undefined;
  readonly isPack: boolean;
  /** As the store says. */
  storedBytes: number;
  fault: string | undefined;
  isMissing: boolean;
  /** A collection wrote the pack anew and removed it: these packs have its blobs. */
  movedTo: readonly RemoteKey[] | undefined;
}

/** The objects of one kind, and the counter of those that were checked. */
interface KindToCheck {
  readonly count: number;
  readonly prefix: string;
  readonly found: (objects: number) => void;
}

export class ObjectCheck {
  readonly #tools: VerifyTools;
  readonly #objects = new Map<RemoteKey, NamedObject>();
  /** Whether each blob that was read from a damaged pack is intact. */
  readonly #readBlobs = new Map<BlobHash, boolean>();
  readonly #memory = new Budget(MEMORY_BYTES);
  #readBytes = 0;
  #readObjects = 0;

  constructor(tools: VerifyTools) {
    this.#tools = tools;
  }

  get objects(): number {
    return this.#count(({ movedTo }) => !movedTo);
  }

  /** The faulty ones. */
  get faults(): ReadonlyMap<RemoteKey, Pick<NamedObject, 'isMissing'>> {
    return new Map([...this.#objects].filter(([, { fault }]) => fault !== undefined));
  }

  /** The packs whose blobs a collection moved to packs of which one is faulty. */
  get movedToFaulty(): ReadonlySet<RemoteKey> {
    const found = new Set<RemoteKey>();
    const isFaulty = (key: RemoteKey) => found.has(key) || this.#objects.get(key)?.fault !== undefined;
    // A pack may have been moved several times.
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const [key, { movedTo }] of this.#objects) if (movedTo?.some(isFaulty)) found.add(key);
    }
    return found;
  }

  /** Of objects that were read before, and are there. */
  assumeDamaged(keys: Iterable<RemoteKey>): void {
    for (const key of keys) {
      const object = this.#objects.get(key);
      if (object) object.fault ??= OTHER_BYTES;
    }
  }

  get readBytes(): number {
    return this.#readBytes;
  }

  get readObjects(): number {
    return this.#readObjects;
  }

  /** Of those that are there. */
  get storedBytes(): number {
    let bytes = 0;
    for (const object of this.#objects.values()) bytes += object.storedBytes;
    return bytes;
  }

  get missing(): number {
    return this.#count((object) => object.isMissing);
  }

  get damaged(): number {
    return this.#count((object) => object.fault !== undefined && !object.isMissing);
  }

  #count(matches: (object: NamedObject) => boolean): number {
    return [...this.#objects.values()].filter(matches).length;
  }

  /** Adds what the entries name. */
  note(entries: readonly Entry[]): void {
    for (const entry of entries) if (entry.kind === 'file') this.#noteFile(entry);
  }

  #noteFile(entry: FileEntry): void {
    for (const part of partsOf(entry)) this.#notePart(part);
  }

  #notePart({ contentBytes, endBytes, isPack, key }: Part): void {
    const known = this.#objects.get(key);
    if (!known) {
      const found = { storedBytes: 0, fault: undefined, isMissing: false, movedTo: undefined };
      this.#objects.set(key, { sizeBytes: endBytes, contentBytes, isPack, ...found });
    } else if (isPack) known.sizeBytes = Math.max(known.sizeBytes, endBytes);
    else if (known.contentBytes !== contentBytes) known.fault = 'is named with two different sizes';
  }

  /** By HEADs or by listings, whichever is cheaper. */
  async checkExistence(): Promise<void> {
    const counts = { packs: 0, objects: 0 };
    for (const { isPack } of this.#objects.values()) counts[isPack ? 'packs' : 'objects'] += 1;
    const progress = createProgress(this.#tools, {
      phase: 'query',
      totals: () => ({ filesTotal: this.#objects.size }),
      traffic: createTraffic([this.#tools.meter], []),
    });
    const found = (objects: number) => progress.add(objects, 0);
    await this.#checkKind(true, { count: counts.packs, prefix: PACKS_PREFIX, found });
    await this.#checkKind(false, { count: counts.objects, prefix: OBJECTS_PREFIX, found });
    progress.end();
  }

  async #checkKind(isPack: boolean, { count, found, prefix }: KindToCheck): Promise<void> {
    const wanted = () => [...this.#objects].filter(([, object]) => object.isPack === isPack);
    const sizes = new Map<RemoteKey, number>();
    const isListed = count > LIST_FROM_OBJECTS && (await this.#listSizes(prefix, sizes, found));
    const unseen = () =>
      wanted().filter(([key, { fault, movedTo }]) => !movedTo && !fault && !sizes.has(key));
    const headEach = (keys: readonly RemoteKey[]) =>
      this.#each(keys, async (key, signal) => {
        const info = await this.#unlessUnauthentic(key, () => this.#tools.store.head(key, { signal }));
        if (info) sizes.set(key, info.sizeBytes);
        found(1);
      });
    if (!isListed) await headEach(unseen().map(([key]) => key));
    while (isPack) {
      const targets = await this.#findMoved(unseen().map(([key]) => key));
      if (targets.length === 0) break;
      await headEach(targets.filter((key) => !sizes.has(key)));
    }
    const { sealing } = this.#tools.store;
    const otherwise: RemoteKey[] = [];
    for (const [key, object] of wanted()) {
      if (object.movedTo || object.fault !== undefined) continue;
      const sizeBytes = sizes.get(key);
      object.storedBytes = sizeBytes ?? 0;
      // A listing shows padded sizes.
      if (sealing && sizeBytes === sealing.listedBytes(object.sizeBytes)) continue;
      if (sizeBytes === undefined) {
        object.isMissing = true;
        object.fault = 'is missing';
      } else if (isPack ? sizeBytes <= object.sizeBytes : sizeBytes !== object.sizeBytes) {
        object.fault = `has ${sizeBytes} bytes, but needs ${isPack ? 'more than ' : ''}${object.sizeBytes}`;
        if (!isPack) otherwise.push(key);
      }
    }
    await this.#each(otherwise, (key, signal) => this.#acquitIfWhole(key, signal));
  }

  /** It was lost, and has been stored again by another version of zstd: then its hash is right. */
  async #acquitIfWhole(key: RemoteKey, signal: AbortSignal): Promise<void> {
    const object = this.#objects.get(key)!;
    const read = () => this.#hashOfWhole(key, object.contentBytes!, signal);
    const found = await this.#unlessUnauthentic(key, read);
    if (found?.hash !== nameIn(key)) return;
    object.sizeBytes = found.bytes;
    object.fault = undefined;
  }

  /** Notes the fault of an object of an encrypted repository that does not authenticate. */
  async #unlessUnauthentic<T>(key: RemoteKey, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof DrayError) || error.data.reason !== 'unauthentic') throw error;
      this.#objects.get(key)!.fault = 'cannot be authenticated';
      return undefined;
    }
  }

  /**
   * Of packs that are not there, those that a collection wrote anew.
   * @returns The packs that have their blobs now, to be checked.
   */
  async #findMoved(keys: readonly RemoteKey[]): Promise<readonly RemoteKey[]> {
    const found: RemoteKey[] = [];
    await this.#each(keys, async (key, signal) => {
      const read = readRelocation(this.#tools.store, hashFromPackKey(key)!, { signal });
      const relocation = await read.catch((error: unknown) => {
        if (!isFinding(error)) throw error;
        return undefined;
      });
      if (!relocation) return;
      const { moves, proof } = relocation;
      // Some of its blobs may still be found.
      if (proof === 'altered') this.#objects.get(key)!.fault = 'has moved, and its relocation is altered';
      for (const { pack, sizeBytes, to } of moves)
        this.#notePart({ key: packKey(pack), endBytes: to + sizeBytes, isPack: true });
      const movedTo = [...new Set(moves.map(({ pack }) => packKey(pack)))];
      this.#objects.get(key)!.movedTo = movedTo;
      found.push(...movedTo);
    });
    return [...new Set(found)];
  }

  /** @returns False when a page showed so few of the objects that a HEAD for each of the rest is cheaper. */
  async #listSizes(
    prefix: string,
    sizes: Map<RemoteKey, number>,
    found: KindToCheck['found'],
  ): Promise<boolean> {
    let continuation: string | undefined;
    do {
      const page = await this.#tools.store.list(
        { prefix, ...(continuation === undefined ? {} : { continuation }) },
        { signal: this.#tools.context.signal },
      );
      const known = page.objects.filter(({ key }) => this.#objects.has(key));
      for (const { key, sizeBytes } of known) sizes.set(key, sizeBytes);
      found(known.length);
      continuation = page.continuation;
      if (continuation !== undefined && known.length < HEADS_PER_PAGE) return false;
    } while (continuation !== undefined);
    return true;
  }

  /** Reads and hashes some of the objects, each one whole. */
  async readData(choice: DataChoice): Promise<void> {
    const whole = [...this.#objects]
      .filter(([, { fault, movedTo }]) => fault === undefined && !movedTo)
      .map(([key, { storedBytes }]) => ({ key, sizeBytes: storedBytes }));
    const chosen = chooseData(whole, choice, this.#tools.clock);
    const progress = createProgress(this.#tools, {
      phase: 'verify',
      totals: () => ({ filesTotal: chosen.length }),
      traffic: createTraffic([this.#tools.meter], []),
    });
    await this.#each(chosen, async (key, signal) => {
      const name = nameIn(key);
      const object = this.#objects.get(key)!;
      const { sizeBytes } = object;
      const read = async () => {
        const found = await this.#hashOf(key, object, signal);
        if (found) this.#readBytes += found.bytes;
        return found;
      };
      const checked = () => this.#unlessUnauthentic(key, read);
      let found = await progress.during({ path: key, sizeBytes }, checked);
      // Read again before the store is blamed: the bytes may have been damaged in transit.
      if (found && found.hash !== name) found = await checked();
      if (object.fault !== undefined) return;
      if (!found) {
        Object.assign(object, { isMissing: true, fault: 'is missing' });
        return;
      }
      this.#readObjects += 1;
      progress.add(1, found.bytes);
      if (found.hash !== name) object.fault = 'does not contain the bytes that its name says';
    });
    progress.end();
  }

  async #hashOf(
    key: RemoteKey,
    { contentBytes, sizeBytes }: Pick<NamedObject, 'contentBytes' | 'sizeBytes'>,
    signal: AbortSignal,
  ): Promise<HashedObject | undefined> {
    if (contentBytes !== undefined && sizeBytes < contentBytes)
      return this.#hashOfWhole(key, contentBytes, signal);
    const read = await this.#tools.store.get(key, { signal });
    if (!read) return undefined;
    // The listing of an encrypted repository may not show that.
    if (contentBytes !== undefined && read.sizeBytes < contentBytes) {
      read.body.destroy();
      return this.#hashOfWhole(key, contentBytes, signal);
    }
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of read.body) {
      hash.update(piece);
      bytes += piece.length;
    }
    return { hash: hash.digest('hex'), bytes };
  }

  /** Of an object that may be compressed. */
  async #hashOfWhole(
    key: RemoteKey,
    contentBytes: number,
    signal: AbortSignal,
  ): Promise<HashedObject | undefined> {
    const wrong = { hash: '', bytes: 0 };
    if (contentBytes > COMPRESSED_CONTENT_BYTES_MAX) return wrong;
    const permit = await this.#memory.acquire(2 * contentBytes, signal);
    try {
      const read = await this.#tools.store.read(key, { maxBytes: contentBytes, signal });
      return read && { hash: hashOf(contentOfObject(read.bytes, contentBytes)), bytes: read.bytes.length };
    } catch (error) {
      // It is larger than its content.
      if (!isDamage(error) || error.data.reason === 'unauthentic') throw error;
      return wrong;
    } finally {
      permit.release();
    }
  }

  async #each(
    keys: readonly RemoteKey[],
    work: (key: RemoteKey, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const tasks = new TaskSet(this.#tools.context.signal);
    const { signal } = tasks;
    const room = new Budget(REQUESTS_BEGUN_MAX);
    try {
      for (const key of keys) {
        const permit = await room.acquire(1, signal);
        tasks.spawn(() =>
          this.#tools.limit
            .run(() => work(key, signal), { bytes: 0, signal })
            .finally(() => permit.release()),
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
  async reportDamage(entriesAgain: () => AsyncIterable<readonly Entry[]>): Promise<number> {
    const bad = new Map([...this.#objects].filter(([, object]) => object.fault !== undefined));
    if (bad.size === 0) return 0;
    const pathsOf = new Map<RemoteKey, Set<string>>();
    for await (const entries of entriesAgain()) {
      for (const entry of entries) if (entry.kind === 'file') await this.#noteAffected(entry, bad, pathsOf);
    }
    const all = new Set<string>();
    for (const [key, object] of bad) {
      const paths = [...(pathsOf.get(key) ?? [])].sort();
      for (const path of paths) all.add(path);
      const found = `${nameOnStore(this.#tools.store, key)} ${object.fault}`;
      const detail = paths.length === 0 ? `${found}; no file is affected` : found;
      this.#tools.context.emit({
        type: 'check',
        check: object.isMissing ? 'missing' : 'damaged',
        result: 'failed',
        detail,
        paths: paths.slice(0, REPORTED_PATHS_MAX),
      });
    }
    return all.size;
  }

  async #noteAffected(
    entry: FileEntry,
    bad: ReadonlyMap<RemoteKey, NamedObject>,
    pathsOf: Map<RemoteKey, Set<string>>,
  ): Promise<void> {
    for (const part of partsOf(entry)) {
      const key = this.#badOf(part.key, bad);
      if (key === undefined) continue;
      const isWhollyGone = key === part.key && bad.get(key)!.isMissing;
      if (part.isPack && !isWhollyGone && !(await this.#isBlobBad(entry, part.key))) continue;
      const paths = pathsOf.get(key) ?? new Set();
      paths.add(entry.path);
      pathsOf.set(key, paths);
    }
  }

  /** The object itself if it is bad, or a bad pack that it moved to. */
  #badOf(key: RemoteKey, bad: ReadonlyMap<RemoteKey, NamedObject>): RemoteKey | undefined {
    if (bad.has(key)) return key;
    for (const target of this.#objects.get(key)?.movedTo ?? []) {
      const found = this.#badOf(target, bad);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Reads one blob of a damaged pack. */
  async #isBlobBad(entry: FileEntry, key: RemoteKey): Promise<boolean> {
    if (entry.location.in !== 'pack') return true;
    const known = this.#readBlobs.get(entry.blob);
    if (known !== undefined) return !known;
    const { offset, storedBytes } = entry.location;
    const maxBytes = storedBytes ?? entry.sizeBytes;
    const range = { start: offset, end: offset + maxBytes };
    const options = { range, maxBytes, signal: this.#tools.context.signal };
    const read = await this.#tools.store.read(key, options).catch((error: unknown) => {
      if (!isFinding(error)) throw error;
      return undefined;
    });
    const content = read && contentOfObject(read.bytes, entry.sizeBytes);
    const isGood = hashOf(content) === entry.blob;
    this.#readBlobs.set(entry.blob, isGood);
    return !isGood;
  }
}

interface HashedObject {
  readonly hash: string;
  /** As stored. */
  readonly bytes: number;
}

interface Part {
  readonly key: RemoteKey;
  /** An object's size; in a pack, the end of the blob. */
  readonly endBytes: number;
  readonly contentBytes?: number;
  readonly isPack: boolean;
}

function hashOf(content: Uint8Array | undefined): string {
  return content ? createHash('sha256').update(content).digest('hex') : '';
}

function* partsOf(entry: FileEntry): Generator<Part> {
  const { location } = entry;
  switch (location.in) {
    case 'nowhere':
      return;
    case 'object':
      yield objectPart({ ...location, hash: entry.blob, sizeBytes: entry.sizeBytes });
      return;
    case 'pack': {
      const { offset, pack, storedBytes = entry.sizeBytes } = location;
      yield { key: packKey(pack), endBytes: offset + storedBytes, isPack: true };
      return;
    }
    case 'chunks':
      for (const chunk of location.chunks) yield objectPart(chunk);
  }
}

function objectPart({ generation, hash, sizeBytes, storedBytes }: Chunk): Part {
  const key = objectKey(hash, generation);
  return { key, endBytes: storedBytes ?? sizeBytes, contentBytes: sizeBytes, isPack: false };
}
