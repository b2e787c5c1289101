/**
 * Writes packs anew of which too much is unused. First the new pack, then, once it is stored, the relocation
 * of each old one. What is needed of an old pack then lies elsewhere, so it becomes a candidate of the round
 * that is about to begin.
 *
 * The new pack was not there before, so it is no candidate: one whose name is taken gets a salt. If another
 * round begins in between, this one does not; and if that condemns the new pack before the relocation names
 * it, the relocation counts for nothing (`relocations.ts`), and the old pack stays.
 */
import { hash as hashOf } from 'node:crypto';
import { isDamage } from '../../base/read-checked.ts';
import { TaskSet } from '../../base/task-set.ts';
import type { BlobHash, PackHash } from '../../model/entry.ts';
import type { ObjectBytes, ObjectStore } from '../../remotes/object-store.ts';
import { createCollectionView } from '../../repository/collection/collection-view.ts';
import { packKey, relocationKey } from '../../repository/keys.ts';
import { type BuiltPack, PackBuilder } from '../../repository/packs/pack.ts';
import {
  INDEX_FIXED_BYTES,
  PACK_MAX_BYTES,
  type PackedBlob,
  ROW_BYTES,
} from '../../repository/packs/pack-format.ts';
import { parsePack } from '../../repository/packs/pack-index.ts';
import { type Move, writeRelocation } from '../../repository/packs/relocation.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import type { Mark } from './mark.ts';
import type { SparsePack } from './pack-use.ts';

export interface Repacked {
  readonly packs: number;
  /** What the removal of the old packs frees, less the new ones. */
  readonly bytes: number;
  /** Of the new packs. */
  readonly writtenBytes: number;
}

/** Packs that are read before their turn, and their bytes together. */
const PACKS_AHEAD_MAX = 16;
const BYTES_AHEAD_MAX = 32 * 1024 * 1024;

interface Moving {
  readonly from: SparsePack;
  readonly sizeBytes: number;
  readonly moves: readonly Omit<Move, 'pack'>[];
}

export interface RepackOptions {
  readonly mark: Mark;
  readonly sparse: readonly SparsePack[];
  /** Of the repository's layout. */
  readonly packTarget: number;
}

/** @returns The packs that are needed no more, of which the mark knows that. */
export async function repack(
  tools: WalkTools,
  { mark, packTarget, sparse }: RepackOptions,
): Promise<readonly SparsePack[]> {
  if (sparse.length === 0) return [];
  const { signal } = tools.context;
  const view = createCollectionView(tools.store, { signal });
  await view.refresh();
  const isTaken = (pack: PackHash) => view.avoids(packKey(pack)) || mark.hasMoved(pack);
  const repacker = new Repacker(tools, isTaken);
  const wanted = sparse.filter(({ pack }) => !view.avoids(relocationKey(pack)));
  for await (const { from, read } of readPacks(tools, wanted)) {
    const { pack } = from;
    // Verify reports a damaged pack; here it stays as it is.
    if (!read || hashOf('sha256', read.bytes) !== pack) continue;
    const bytes = Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.length);
    const blobs = parsePack(bytes);
    if (typeof blobs === 'string') continue;
    const needed = blobs.filter((blob) => mark.isNeeded(pack, blob.offset));
    if (!isAllOf(from, needed)) continue;
    await repacker.add(from, bytes, needed);
    if (repacker.sizeBytes >= packTarget) await repacker.flush();
  }
  await repacker.flush();
  for (const { pack } of repacker.emptied) mark.noteEmptied(pack);
  return repacker.emptied;
}

/**
 * Whether these blobs are all that entries name of the pack. Another program may let an entry name a part of
 * a blob, or bytes of several: such a pack stays as it is.
 */
function isAllOf({ neededBytes }: SparsePack, blobs: readonly PackedBlob[]): boolean {
  const bytes = blobs.reduce((sum, { sizeBytes }) => sum + sizeBytes + ROW_BYTES, INDEX_FIXED_BYTES);
  return bytes === neededBytes;
}

/** In their order, with a few read ahead. */
async function* readPacks(
  { context, limit, store }: WalkTools,
  packs: readonly SparsePack[],
): AsyncGenerator<{ readonly from: SparsePack; readonly read: ObjectBytes | undefined }> {
  const tasks = new TaskSet(context.signal);
  const { signal } = tasks;
  const ahead: { readonly from: SparsePack; readonly reading: Promise<ObjectBytes | undefined> }[] = [];
  let next = 0;
  let aheadBytes = 0;
  try {
    for (;;) {
      for (let from = packs[next]; from && ahead.length < PACKS_AHEAD_MAX; from = packs[next]) {
        const { pack, sizeBytes } = from;
        if (ahead.length > 0 && aheadBytes + sizeBytes > BYTES_AHEAD_MAX) break;
        const call = { maxBytes: PACK_MAX_BYTES, signal };
        const read = () => store.read(packKey(pack), call).catch(absentIfDamaged);
        const reading = limit.run(read, { bytes: sizeBytes, signal });
        // Whoever takes its turn throws the failure.
        tasks.spawn(() => reading.then(ignore, ignore));
        ahead.push({ from, reading });
        aheadBytes += sizeBytes;
        next += 1;
      }
      const first = ahead.shift();
      if (!first) return;
      aheadBytes -= first.from.sizeBytes;
      yield { from: first.from, read: await first.reading };
    }
  } finally {
    tasks.end();
    await tasks.settle();
  }
}

function ignore(): void {}

/** The store of an encrypted repository finds the damage itself. */
function absentIfDamaged(error: unknown): undefined {
  if (!isDamage(error)) throw error;
}

class Repacker {
  readonly emptied: SparsePack[] = [];
  readonly #tools: WalkTools;
  readonly #isTaken: (pack: PackHash) => boolean;
  #builder = new PackBuilder();
  #blobs = new Set<BlobHash>();
  #moving: Moving[] = [];

  /** @param isTaken Of packs that may go, or have moved. */
  constructor(tools: WalkTools, isTaken: (pack: PackHash) => boolean) {
    this.#tools = tools;
    this.#isTaken = isTaken;
  }

  get sizeBytes(): number {
    return this.#builder.sizeBytes;
  }

  async add(from: SparsePack, bytes: Buffer, blobs: readonly PackedBlob[]): Promise<void> {
    // Two packs may store one blob in two ways, and a pack has each blob once.
    if (blobs.some(({ hash }) => this.#blobs.has(hash))) await this.flush();
    const moves = blobs.map(({ hash, offset, sizeBytes }) => {
      this.#blobs.add(hash);
      const to = this.#builder.add(hash, bytes.subarray(offset, offset + sizeBytes));
      return { offset, sizeBytes, to };
    });
    if (moves.length > 0) this.#moving.push({ from, sizeBytes: bytes.length, moves });
  }

  async flush(): Promise<void> {
    const moving = this.#moving;
    if (moving.length === 0) return;
    const { limit, store } = this.#tools;
    const { signal } = this.#tools.context;
    const run = <T>(task: () => Promise<T>) => limit.run(task, { bytes: 0, signal });
    const first = this.#builder.finish(this.#isTaken);
    this.#builder = new PackBuilder();
    this.#blobs = new Set();
    this.#moving = [];
    // What was listed may be a candidate of the round that is about to begin. The answer of the write does
    // not tell: one that is sent again counts as written if the same content is there.
    const { bytes, hash } = (await run(() => isThere(store, first.hash, signal))) ? salted(first) : first;
    const call = { condition: { absent: true }, checksum: { sha256: hash }, signal } as const;
    await run(() => store.put(packKey(hash), bytes, call));
    // A store may answer 200 and keep nothing.
    const stored = await run(() => store.head(packKey(hash), { signal }));
    if (stored?.sizeBytes !== bytes.length) return;
    const tasks = new TaskSet(signal);
    for (const { from, moves, sizeBytes } of moving)
      tasks.spawn(async () => {
        const relocation = {
          pack: from.pack,
          sizeBytes,
          moves: moves.map((move) => ({ ...move, pack: hash })),
        };
        // Somebody else may have written one to another pack.
        if (await run(() => writeRelocation(store, relocation, { signal: tasks.signal })))
          this.emptied.push(from);
      });
    await tasks.settle();
    tasks.end();
  }
}

/** Also if it is damaged, as the store of an encrypted repository says. */
async function isThere(store: ObjectStore, pack: PackHash, signal: AbortSignal): Promise<boolean> {
  try {
    return (await store.head(packKey(pack), { signal })) !== undefined;
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

/** The same blobs at the same offsets, under a name that no pack ever had. */
function salted({ blobs, bytes }: BuiltPack): BuiltPack {
  const builder = new PackBuilder(bytes.length);
  for (const { hash, offset, sizeBytes } of blobs)
    builder.add(hash, bytes.subarray(offset, offset + sizeBytes));
  return builder.finish(() => true);
}
