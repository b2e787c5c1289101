/**
 * Writes packs anew of which less than half is needed. First the new pack, then, once it is stored, the
 * relocation of each old one. The old pack stays: a later round finds that nothing needs it any more.
 *
 * It needs no part in a round. If a round begins in between and condemns the new pack before the relocation
 * names it, the relocation counts for nothing (`relocations.ts`), and the old pack stays.
 */
import { hash as hashOf } from 'node:crypto';
import { checkAborted } from '../../base/abort.ts';
import type { BlobHash, PackHash } from '../../model/entry.ts';
import { createCollectionView } from '../../repository/collection/collection-view.ts';
import { packKey, relocationKey } from '../../repository/keys.ts';
import { PackBuilder } from '../../repository/packs/pack.ts';
import { PACK_MAX_BYTES, type PackedBlob } from '../../repository/packs/pack-format.ts';
import { parsePack } from '../../repository/packs/pack-index.ts';
import { type Move, writeRelocation } from '../../repository/packs/relocation.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import type { Mark } from './mark.ts';

export interface Repacked {
  readonly packs: number;
  /** What the removal of the old packs will free, less the new ones. */
  readonly bytes: number;
}

interface Moving {
  readonly pack: PackHash;
  readonly sizeBytes: number;
  readonly moves: readonly Omit<Move, 'pack'>[];
}

/** @param packTarget Of the repository's layout. */
export async function repack(tools: WalkTools, mark: Mark, packTarget: number): Promise<Repacked> {
  const sparse = mark.sparsePacks;
  if (sparse.length === 0) return { packs: 0, bytes: 0 };
  const { signal } = tools.context;
  const view = createCollectionView(tools.store, { signal });
  await view.refresh();
  const moving = new Set(sparse.map(({ pack }) => pack));
  const isTaken = (pack: PackHash) => view.avoids(packKey(pack)) || moving.has(pack) || mark.hasMoved(pack);
  const repacker = new Repacker(tools, isTaken);
  for (const { pack } of sparse) {
    if (view.avoids(relocationKey(pack))) continue;
    const read = await tools.store.read(packKey(pack), { maxBytes: PACK_MAX_BYTES, signal });
    // Verify reports a damaged pack; here it stays as it is.
    if (!read || hashOf('sha256', read.bytes) !== pack) continue;
    const bytes = Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.length);
    const blobs = parsePack(bytes);
    if (typeof blobs === 'string') continue;
    await repacker.add(
      pack,
      bytes,
      blobs.filter((blob) => mark.isNeeded(pack, blob.offset)),
    );
    if (repacker.sizeBytes >= packTarget) await repacker.flush();
  }
  await repacker.flush();
  return repacker.done;
}

class Repacker {
  readonly #tools: WalkTools;
  readonly #isTaken: (pack: PackHash) => boolean;
  #builder = new PackBuilder();
  #blobs = new Set<BlobHash>();
  #moving: Moving[] = [];
  #done = { packs: 0, bytes: 0 };

  /** @param isTaken Of packs that may go: those of a collection, and those that move themselves. */
  constructor(tools: WalkTools, isTaken: (pack: PackHash) => boolean) {
    this.#tools = tools;
    this.#isTaken = isTaken;
  }

  get sizeBytes(): number {
    return this.#builder.sizeBytes;
  }

  get done(): Repacked {
    return this.#done;
  }

  async add(pack: PackHash, bytes: Buffer, blobs: readonly PackedBlob[]): Promise<void> {
    // Two packs may store one blob in two ways, and a pack has each blob once.
    if (blobs.some(({ hash }) => this.#blobs.has(hash))) await this.flush();
    const moves = blobs.map(({ hash, offset, sizeBytes }) => {
      this.#blobs.add(hash);
      const to = this.#builder.add(hash, bytes.subarray(offset, offset + sizeBytes));
      return { offset, sizeBytes, to };
    });
    if (moves.length > 0) this.#moving.push({ pack, sizeBytes: bytes.length, moves });
  }

  async flush(): Promise<void> {
    const moving = this.#moving;
    if (moving.length === 0) return;
    const { limit, store } = this.#tools;
    const { signal } = this.#tools.context;
    const run = <T>(task: () => Promise<T>) => limit.run(task, { bytes: 0, signal });
    const { bytes, hash } = this.#builder.finish(this.#isTaken);
    this.#builder = new PackBuilder();
    this.#blobs = new Set();
    this.#moving = [];
    const key = packKey(hash);
    await run(() =>
      store.put(key, bytes, { condition: { absent: true }, checksum: { sha256: hash }, signal }),
    );
    // A store may answer 200 and keep nothing.
    const stored = await run(() => store.head(key, { signal }));
    if (stored?.sizeBytes !== bytes.length) return;
    for (const { moves, pack, sizeBytes } of moving) {
      checkAborted(signal);
      const relocation = { pack, sizeBytes, moves: moves.map((move) => ({ ...move, pack: hash })) };
      await run(() => writeRelocation(store, relocation, { signal }));
      this.#done = { packs: this.#done.packs + 1, bytes: this.#done.bytes + sizeBytes };
    }
    this.#done = { ...this.#done, bytes: this.#done.bytes - bytes.length };
  }
}
