/**
 * Marks what the commits that are kept need: refs, their commits, their segments, and the keys in them.
 *
 * A mark goes on where it ended: it can be given refs again, and then reads only the commits and segments
 * that it has not read. Memory: a table of the keys, and the names of the commits and segments.
 */
import { createHeapBound } from '../../base/heap-bound.ts';
import type { BlobLocation, CommitHash, Entry, FileEntry, PackHash, SegmentHash } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { damaged } from '../../repository/document.ts';
import { commitKey, hashFromPackKey, packKey, relocationKey, segmentKey } from '../../repository/keys.ts';
import { keysOfEntry } from '../../repository/manifest/entry-keys.ts';
import { HOPS_MAX, MOVES_MAX } from '../../repository/packs/relocation.ts';
import type { AnyRef } from '../../repository/refs.ts';
import { readCommitsAhead } from '../history/verify/commits-ahead.ts';
import { segmentEntries } from '../history/verify/committed-entries.ts';
import { readOne, type WalkTools, walkCommits } from '../history/verify/find-commits.ts';
import { type CommitSegment, isFinding } from '../history/verify/findings.ts';
import { LiveKeys } from './live-keys.ts';
import { NeededPacks } from './needed-packs.ts';
import { PackUse, type SparsePack } from './pack-use.ts';
import { Relocations } from './relocations.ts';

/** Segments are read once so many are known, which bounds their list. */
const SEGMENTS_GATHERED = 256;

/** Without what a live ref needs, nothing may be removed: so an error ends the mark. */
const FINDINGS = {
  isReadable: () => true,
  report: (error: unknown) => {
    throw error;
  },
};

/** What was read. */
interface Read {
  readonly commits: Set<CommitHash>;
  /** Forgotten commits, of which only the object itself is kept. */
  readonly forgotten: Set<CommitHash>;
  readonly segments: Set<SegmentHash>;
}

export class Mark {
  readonly live = new LiveKeys();
  readonly #relocations = new Relocations();
  readonly #packs = new PackUse();
  readonly #neededPacks = new NeededPacks();
  /** Keys of packs that are in the table, and needed no more. */
  readonly #emptied = new Set<RemoteKey>();
  /** The commits at which history ends, and the keys of those that are not there. */
  readonly #ends = new Set<CommitHash>();
  readonly #missing = new Set<RemoteKey>();
  readonly #tools: WalkTools;
  readonly #heap = createHeapBound();
  #read: Read = { commits: new Set(), forgotten: new Set(), segments: new Set() };
  #toRead: CommitSegment[] = [];

  constructor(tools: WalkTools) {
    this.#tools = tools;
  }

  /** Commits that are kept. One at which history ends has nothing that could be. */
  get commits(): number {
    const { commits, forgotten } = this.#read;
    return commits.size - forgotten.size - [...this.#ends].filter((hash) => commits.has(hash)).length;
  }

  get forgotten(): number {
    return this.#read.forgotten.size;
  }

  /**
   * Marks what these refs need. A pending ref that cannot be read is left alone: its maker stores what is
   * missing again before the ref becomes live.
   * @param forgotten The same in each call. A commit that a ref names is kept all the same.
   * @param avoid The avoid lists of the round.
   * @throws `damaged`, `notFound` or `formatTooNew` if something cannot be read that a live ref needs
   */
  async add(
    refs: readonly AnyRef[],
    forgotten: ReadonlySet<CommitHash>,
    avoid: readonly string[],
  ): Promise<void> {
    await this.#relocations.load(this.#tools, avoid);
    await using ahead = readCommitsAhead(this.#tools);
    const tools = { ...this.#tools, store: ahead.store };
    const roots = refs.filter(({ state }) => state !== 'removed');
    const named = new Set(roots.map(({ commit }) => commit));
    const isForgotten = (hash: CommitHash) => forgotten.has(hash) && !named.has(hash);
    const live = roots.filter(({ state }) => state === 'live').map(({ commit }) => commit);
    await this.#walk(tools, live, isForgotten, this.#read);
    for (const { commit, state } of roots) {
      if (state !== 'pending') continue;
      const { commits, forgotten: left, segments } = this.#read;
      const read = { commits: new Set(commits), forgotten: new Set(left), segments: new Set(segments) };
      try {
        await this.#walk(tools, [commit], isForgotten, read);
        this.#read = read;
      } catch (error) {
        if (!isFinding(error)) throw error;
        this.#toRead = [];
      }
    }
  }

  async #walk(
    tools: WalkTools,
    tips: readonly CommitHash[],
    isForgotten: (hash: CommitHash) => boolean,
    read: Read,
  ): Promise<void> {
    for (const hash of tips) {
      if (!read.forgotten.delete(hash)) continue;
      const commit = await readOne(tools, hash, FINDINGS);
      if (commit) await this.#noteContent(hash, commit, read);
    }
    await walkCommits(tools, {
      tips,
      seen: read.commits,
      findings: FINDINGS,
      onCommit: async (hash, commit) => {
        this.live.add(commitKey(hash));
        if (isForgotten(hash)) read.forgotten.add(hash);
        else await this.#noteContent(hash, commit, read);
      },
      onEnd: (hash, { code }) => {
        this.#ends.add(hash);
        this.live.add(commitKey(hash));
        if (code === 'notFound') this.#missing.add(commitKey(hash));
      },
    });
    await this.#readSegments();
  }

  async #noteContent(commit: CommitHash, { manifest }: Commit, read: Read): Promise<void> {
    if (manifest.kind === 'inline') {
      this.#noteEntries(manifest.entries);
      return;
    }
    for (const segment of manifest.segments) {
      if (read.segments.has(segment.hash)) continue;
      read.segments.add(segment.hash);
      this.live.add(segmentKey(segment.hash));
      this.#toRead.push({ commit, segment });
    }
    if (this.#toRead.length >= SEGMENTS_GATHERED) await this.#readSegments();
  }

  async #readSegments(): Promise<void> {
    const segments = this.#toRead;
    this.#toRead = [];
    const options = { segments, findings: FINDINGS };
    for await (const entries of segmentEntries(this.#tools, options)) this.#noteEntries(entries);
  }

  #noteEntries(entries: readonly Entry[]): void {
    this.#heap.check();
    for (const entry of entries) {
      if (entry.kind === 'file' && entry.location.in === 'pack') this.#notePacked(entry, entry.location);
      else for (const key of keysOfEntry(entry)) this.live.add(key);
    }
  }

  /** Follows the blob through all packs that it moved to. */
  #notePacked(
    { blob, sizeBytes }: FileEntry,
    { offset, pack, storedBytes = sizeBytes }: Extract<BlobLocation, { in: 'pack' }>,
  ): void {
    const chain: PackHash[] = [];
    let at: { readonly pack: PackHash; readonly offset: number } | undefined = { pack, offset };
    for (let hops = 0; at && hops < HOPS_MAX; hops += 1) {
      chain.push(at.pack);
      const neededBytes = hops < MOVES_MAX ? storedBytes : Number.POSITIVE_INFINITY;
      if (this.live.add(blobKey(at.pack, at.offset))) this.#packs.note(at.pack, neededBytes);
      const moved = this.#relocations.find(at.pack, at.offset, blob);
      if (moved) this.live.add(relocationKey(at.pack));
      if (!moved || !this.#relocations.isSafe(at.pack)) this.#addPack(packKey(at.pack));
      at = moved;
    }
    // A circle has no last pack, so all of its packs are needed.
    for (let hops = 0; at && hops < HOPS_MAX; hops += 1) {
      this.#addPack(packKey(at.pack));
      at = this.#relocations.find(at.pack, at.offset, blob);
    }
    this.#neededPacks.note(chain);
  }

  #addPack(key: RemoteKey): void {
    this.live.add(key);
    // Somebody has named another blob of it since it was written anew.
    this.#emptied.delete(key);
  }

  /** Whether something needs what lies under the key. */
  needs(key: RemoteKey): boolean {
    return this.live.has(key) && !this.#emptied.has(key);
  }

  /** Grows with each key that `needs` did not have. */
  get size(): number {
    return this.live.size - this.#emptied.size;
  }

  /** All that is needed of this pack lies elsewhere now, as its relocation says. */
  noteEmptied(pack: PackHash): void {
    this.#emptied.add(packKey(pack));
  }

  /** Takes a key that the store has. @throws `damaged` for a lost commit that is back */
  noteThere(key: RemoteKey): void {
    if (this.#missing.has(key))
      throw damaged(
        key,
        'it was missing a moment ago, and nobody knows what it needs. Run the command again',
      );
    const pack = hashFromPackKey(key);
    if (pack !== undefined) this.#neededPacks.noteListed(pack);
  }

  /**
   * Makes sure that each blob is in a pack that the store has. No request if all of them were listed.
   * @throws `damaged`
   */
  async requirePacks(): Promise<void> {
    await this.#neededPacks.require(this.#tools);
  }

  /**
   * The packs that have what is needed of this one, which is needed no more because of them. Undefined for
   * any other pack, and for one that this collection has written anew itself.
   */
  replacementsOf(key: RemoteKey): readonly PackHash[] | undefined {
    const pack = hashFromPackKey(key);
    if (pack === undefined || this.live.has(key) || !this.hasMoved(pack)) return undefined;
    return this.live.has(relocationKey(pack)) ? this.#relocations.newPacks(pack) : undefined;
  }

  /** Whether the pack is needed no more because its blobs are in others. */
  isReplaced(key: RemoteKey): boolean {
    return this.#emptied.has(key) || this.replacementsOf(key) !== undefined;
  }

  /** The packs that have blobs now and were never replaced, as far as relocations say. */
  unmovedPacks(): readonly PackHash[] {
    return [...this.#neededPacks.lastPacks()].filter((pack) => !this.hasMoved(pack));
  }

  /** A pack that replaces this one cannot be relied on. */
  keep(key: RemoteKey): void {
    this.#addPack(key);
  }

  /** Takes the size of a pack from the listing, to find those of which little is needed. */
  noteListed(key: RemoteKey, sizeBytes: number): void {
    const pack = hashFromPackKey(key);
    if (pack === undefined || this.hasMoved(pack)) return;
    const { sealing } = this.#tools.store;
    this.#packs.noteSize(pack, sizeBytes, sealing?.listedBytes ?? ((bytes) => bytes));
  }

  /** Whether a collection has written the pack anew. */
  hasMoved(pack: PackHash): boolean {
    return this.#relocations.has(pack);
  }

  /** The listed packs that are worth writing anew, and were not yet. */
  sparsePacks(keptBytes: number): readonly SparsePack[] {
    return this.#packs.sparse(keptBytes);
  }

  /** Those of these packs that can be replaced by smaller ones. */
  listedPacks(packs: ReadonlySet<PackHash>): readonly SparsePack[] {
    return this.#packs.listed(packs);
  }

  /** Whether an entry names the blob at this offset. True also, if rarely, for one that nobody names. */
  isNeeded(pack: PackHash, offset: number): boolean {
    return this.live.has(blobKey(pack, offset));
  }
}

/** Stands for a blob of a pack in the table of keys. */
function blobKey(pack: PackHash, offset: number): RemoteKey {
  return `${packKey(pack)}#${offset}`;
}
